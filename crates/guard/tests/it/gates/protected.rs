//! Places that control the agent, and commands that affect them or the folders that contain them.

use std::path::PathBuf;

use counterfoil_guard::{Gates, GuardOptions, Verdict};
use serde_json::{Value, json};

use super::{Situation, call, shell, verdict_of};

/// The gates, with a state folder that no pattern names.
fn gates() -> Gates {
    let mut settings = GuardOptions::default().resolve().unwrap();
    settings.protected = settings.protected.and_folders([PathBuf::from("/srv/records/state")]);
    settings.gates().build()
}

fn asks(gates: &Gates, call: &counterfoil_guard::Admitted) -> bool {
    matches!(verdict_of(gates, "protected", call, &Situation::default()), Verdict::Ask(_))
}

#[track_caller]
fn check(commands: &[&str], expected: bool) {
    let gates = gates();
    let wrong: Vec<&&str> =
        commands.iter().filter(|command| asks(&gates, &shell(command)) != expected).collect();
    assert!(wrong.is_empty(), "expected {expected}: {wrong:#?}");
}

#[test]
fn what_changes_a_folder_that_holds_a_protected_place_needs_approval() {
    check(
        &[
            // Removed, moved, made inaccessible.
            "rm -rf ~/.claude",
            "rm -rf /home/dev/.claude",
            "rm -r .codex .gemini",
            "rm -rf ~/.config/counterfoil",
            "rm -rf ~/.local/state",
            "rm -rf ~/.local/st*te/counter*",
            "rm -rf ~",
            "rm -rf .git",
            "mv .git elsewhere",
            "mv ~/.claude/ /tmp/x",
            "cd ~ && mv .claude .c2",
            "(cd ~; rm -r .claude)",
            "pushd ~/.claude && rm settings.json",
            "bash -c 'cd; mv .claude x'",
            "rename ~/.claude x",
            "git mv .claude x",
            "git rm -r .claude",
            "rmdir ~/.config/counterfoil",
            "chmod 000 ~/.claude",
            "chmod -R 777 ~/.claude",
            "chown nobody ~/.claude",
            "setfacl -m u:x:rwx ~/.claude",
            "mount --bind /tmp/x ~/.claude",
            "D=~/.claude; rm -rf \"$D\"",
            // Replaced, covered by a link, filled.
            "ln -sfn /tmp/evil ~/.claude",
            "ln -s /tmp/evil .git/hooks",
            "cp -r evil ~/.claude",
            "cp -rT evil ~/.claude",
            "cp -r evil/. ~/.claude",
            "cp evil/* .git/hooks/",
            "cp settings.json ~/.claude",
            "cp -t ~/.claude settings.json",
            "cp --target-directory=.git/hooks pre-commit",
            "mv settings.json ~/.claude/",
            "mv -t ~/.claude settings.json",
            "mv evil ~/.claude",
            "install -m 644 settings.json ~/.claude",
            "ln -s /x/settings.json ~/.claude/",
            "cd ~/.claude && ln -s /x/settings.json",
            "rsync -a evil/ ~/.claude/",
            "rsync -a --delete empty/ .git/hooks/",
            "tar xf e.tar -C .git/hooks",
            "tar -xzf e.tgz --directory ~/.claude",
            "unzip e.zip -d ~/.claude",
            "7z x e.7z -o$HOME/.claude",
            "cd ~/.claude && tar xf /tmp/e.tar",
            "git clone /tmp/x .git/hooks",
            "git -C ~/.claude checkout x",
            "tar c ~/.claude --remove-files -f /dev/null",
            // The state folder in use, and the folders above it.
            "rm -rf /srv/records/state",
            "mv /srv/records /srv/old",
            "rm -rf /srv/records/s*",
            "truncate -s0 /srv/records/state/ledger.db",
            "sqlite3 /srv/records/state/ledger.db 'delete from events'",
            "rm -rf $COUNTERFOIL_STATE",
            "rm -rf \"${COUNTERFOIL_STATE}/hooks\"",
            // Our own binary.
            "ln -sf /bin/true /usr/local/bin/counterfoil",
            "cp /bin/true ~/.local/bin/counterfoil",
        ],
        true,
    );
}

#[test]
fn every_way_to_write_a_protected_file_needs_approval() {
    check(
        &[
            "sort -o ~/.claude/settings.json e",
            "sort e --output=.mcp.json",
            "uniq e .mcp.json",
            "awk 'BEGIN{print \"{}\" > \"/home/dev/.claude/settings.json\"}'",
            "awk '{print >> \".mcp.json\"}' e",
            "sed -n 'w .mcp.json' e",
            "sed 's/a/b/w .mcp.json' e",
            "sed -i.bak s/a/b/ .mcp.json",
            "perl -pi -e s/a/b/ .mcp.json",
            "ed ~/.claude/settings.json < script",
            "ed e <<'EOF'\nw .mcp.json\nq\nEOF",
            "vim -c wq .mcp.json",
            "vim -es -c 'w! .mcp.json' -c q e",
            "jq '.hooks={}' .mcp.json | sponge .mcp.json",
            "split -b 1 e ~/.claude/settings",
            "dd of=$HOME/.claude/settings.json if=e",
            "curl -sSLo .mcp.json https://example.org/x",
            "cd .vscode && curl -O https://example.org/tasks.json",
            "wget -P .vscode https://example.org/tasks.json",
            "patch .mcp.json < e",
            "find ~/.claude -name settings.json -exec rm {} +",
            "find . -name .envrc -delete",
            "find ~/.claude -delete",
            "find ~/.claude -type f -exec sed -i s/a/b/ {} ;",
            "find . -fprint .mcp.json",
            "ls ~/.claude | xargs -I{} rm ~/.claude/{}",
            "find ~/.claude -name 'settings*' | xargs rm",
            "python3 -c \"open('/home/dev/.claude/settings.json','w')\"",
            "python3 -c \"import os; os.rename('/home/dev/.claude','/tmp/x')\"",
            "python3 -c \"import os; os.remove(os.path.expanduser('~/.bashrc'))\"",
            "python3 -c \"from pathlib import Path; (Path.home() / '.claude/settings.json').write_text('{}')\"",
            "python3 - <<'EOF'\np = '.mcp.json'\nopen(p, 'w').write('{}')\nEOF",
            "node -e \"require('fs').renameSync(process.env.HOME+'/.claude','/tmp/x')\"",
            "node -e \"require('fs').writeFileSync('.mcp.json','{}')\"",
            "perl -e 'unlink \"$ENV{HOME}/.claude/settings.json\"'",
            "perl -e 'open(F, \">\", \".mcp.json\")'",
            "ruby -e 'File.write(\".mcp.json\", \"{}\")'",
            "php -r 'file_put_contents(\".mcp.json\", \"{}\");'",
            concat!("echo x >> /ro", "ot/.bashrc"),
            "echo 'alias counterfoil=true' >> ~/.bashrc",
            "echo 'export PATH=/tmp/x' >> ~/.zshrc",
            "echo 'export FOO=1' > ~/.bashrc",
            "mv $(which counterfoil) /tmp/z",
            "rm \"$(command -v counterfoil)\"",
            "echo x >> /var/lib/jenkins/.ssh/authorized_keys",
            "echo x >> /mnt/c/Users/ada/.gitconfig",
            "echo x >> /tmp/home/.ssh/authorized_keys",
            "claude mcp add x -- evil",
            "git config --global core.hooksPath /tmp/x",
        ],
        true,
    );
}

#[test]
fn ordinary_work_needs_no_approval() {
    check(
        &[
            "ls ~/.claude",
            "cat ~/.claude/settings.json .mcp.json",
            "cp ~/.claude/settings.json /tmp/copy.json",
            "cp CLAUDE.md ~/.claude/",
            "mkdir -p ~/.claude/skills/x",
            "tar czf backup.tgz ~/.claude .git",
            "rm -rf dist build .next node_modules",
            "mv old.log tmp/",
            "cp -r template/* ./",
            "tar xzf release.tar.gz",
            "tar xzf release.tar.gz -C /tmp/rel",
            "unzip a.zip -d out",
            "rsync -av dist/ staging:/var/www/app/",
            "rsync -a src/ out/",
            "git checkout main",
            "git checkout -- src/a.ts",
            "git clone https://example.org/x.git x",
            "git stash && git pull && git stash pop",
            "chmod 755 ~",
            "echo 'export NODE_ENV=test' >> ~/.bashrc",
            "echo 'use flake' > .envrc",
            "chmod 700 ~/.ssh",
            "chmod +x scripts/run.sh",
            "chmod -R u+w .",
            "find . -name '*.pyc' -exec rm {} +",
            "find . -type f -name '*.log' -delete",
            "find . -name node_modules -prune -o -name '*.ts' -print | xargs grep -l useEffect",
            "git ls-files | xargs sed -i s/a/b/",
            "vim -c ':wq' x.txt",
            "sed -n 's/a/b/p' .mcp.json",
            "awk '{print $1}' .mcp.json",
            "awk '$3 > 5' counterfoil.toml",
            "sort counterfoil.toml",
            "uniq .envrc",
            "python3 -c \"import json; print(json.load(open('.mcp.json')))\"",
            "python3 -c \"import json; d=json.load(open('a.json')); json.dump(d, open('b.json','w'))\"",
            "node -e \"console.log(require('./.vscode/settings.json'))\"",
            "claude --version",
            "ssh staging 'rm -rf ~/.cache/app'",
            "curl -O https://example.org/x.tar.gz",
            "gunzip data.json.gz",
        ],
        false,
    );
}

#[test]
fn tools_that_take_whole_folders_need_approval() {
    let gates = gates();
    for (tool, arguments, expected) in [
        (
            "mcp__fs__move_file",
            json!({ "source": "/home/dev/.claude", "destination": "/tmp/x" }),
            true,
        ),
        ("mcp__fs__delete", json!({ "path": ".git" }), true),
        ("mcp__fs__removeDirectory", json!({ "path": "~/.config" }), true),
        ("mcp__zip__extract", json!({ "to": ".git/hooks" }), true),
        ("mcp__fs__write_file", json!({ "path": "/srv/records/state/audit.jsonl" }), true),
        ("mcp__fs__list_directory", json!({ "path": "/home/dev/.claude" }), false),
        ("mcp__fs__move_file", json!({ "source": "a", "destination": "b" }), false),
        ("mcp__git__commit", json!({ "repo": "/project", "message": "x" }), false),
    ] as [(&str, Value, bool); 8]
    {
        assert_eq!(asks(&gates, &call(tool, arguments.clone())), expected, "{tool} {arguments}");
    }
}
