//! Writes to files that control the agent, and spellings of paths and commands meant to evade
//! rules.

use serde_json::{Value, json};

use crate::stage::Stage;

/// Paths that a call may not change without asking.
const PLACES: [&str; 16] = [
    "counterfoil.toml",
    "sub/counterfoil.toml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".vscode/tasks.json",
    ".envrc",
    ".git/hooks/pre-commit",
    ".git/config",
    "HOME/.bashrc",
    "HOME/.zshrc",
    "HOME/.profile",
    "HOME/.config/counterfoil/counterfoil.toml",
];

/// Ways for a command to write to a path.
const WAYS: [&str; 8] = [
    "echo x > PLACE",
    "echo x >> PLACE",
    "cp x PLACE",
    "mv x PLACE",
    "rm -f PLACE",
    "sed -i s/a/b/ PLACE",
    "cat x | tee PLACE",
    "bash -c 'echo x > PLACE'",
];

/// A policy that denies each of the calls below.
const RULES: &str = r#"
[[tools.permissions.rules]]
tool = "Bash"
pattern = "git push*"
action = "deny"
[[tools.permissions.rules]]
tool = "Bash"
pattern = "rm -rf build*"
action = "deny"
[tools.policy]
enabled = true
default_effect = "allow"
[[tools.policy.rules]]
effect = "deny"
tool = "*"
paths = ["**/.env", "~/.ssh/**"]
"#;

const SPELLED: [&str; 22] = [
    "git push",
    "git -C . push",
    "git --no-pager push",
    "git -c a=b push",
    "/usr/bin/git push",
    "g\"i\"t pu'sh'",
    "\\git push",
    "cd sub && git push",
    "env git push",
    "true && git push origin main",
    "rm -fr build",
    "rm -r -f build",
    "rm -rf build/x",
    "cat .env",
    "cat .e\"\"nv",
    "cat .e*",
    "cat .{env,x}",
    "cd sub; cat .env",
    "cat ~/.ssh/id",
    "cat $HOME/.ssh/id",
    "cd ~ && cat .ssh/id",
    "cat AT_HOME/.ssh/id",
];

#[test]
fn what_decides_is_not_written_in_any_spelling() {
    let mut stage = Stage::new();
    let home = stage.home().display().to_string();
    let own = stage.write("places.toml", RULES);
    for place in PLACES {
        let place = place.replace("HOME", &home);
        one(&mut stage, &[], "Write", &json!({ "file_path": place, "content": "x" }));
        for way in WAYS {
            one(&mut stage, &[], "Bash", &json!({ "command": way.replace("PLACE", &place) }));
        }
    }
    for command in SPELLED {
        let command = command.replace("AT_HOME/", &format!("{home}/"));
        one(&mut stage, &["--config", &own], "Bash", &json!({ "command": command }));
    }
    stage.end();
}

/// Makes a call as an agent; it is held if it is denied or asked about.
fn one(stage: &mut Stage, more: &[&str], tool: &str, input: &Value) {
    let ran = stage.hook(more, tool, input);
    let held = ran.out.contains("\"deny\"") || ran.out.contains("\"ask\"");
    stage.tried(input.to_string(), held, || ran.shown());
}
