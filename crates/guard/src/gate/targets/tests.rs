use super::*;

/// What a command changes: `w` writes, `r` replaces, `f` fills, `n:NAME` within.
fn changes(line: &str) -> Vec<String> {
    let script = Script::parse(line).unwrap();
    let one = |target: Target| {
        let change = match target.change {
            Change::Sets => "s".to_owned(),
            Change::Writes => "w".to_owned(),
            Change::Replaces => "r".to_owned(),
            Change::Fills => "f".to_owned(),
            Change::Within(name) => format!("n:{name}"),
        };
        let folder = target.directory.filter(|folder| !folder.is_empty());
        let folder = folder.map(|folder| format!("{folder}: ")).unwrap_or_default();
        format!("{change} {folder}{}", target.word.text)
    };
    find(&script, line).into_iter().map(one).collect()
}

/// Commands, each with its changes.
const COMMANDS: &[(&str, &[&str])] = &[
    ("rm -rf a b", &["r a", "r b"]),
    ("shred -n 3 a", &["r a"]),
    ("gio trash a", &["r a"]),
    ("rename a b", &["r a", "r b"]),
    ("umount a", &["r a"]),
    ("mv a b", &["r a", "r b/a", "r b"]),
    ("mv a b/", &["r a", "r b/a"]),
    ("mv -t d a b", &["r a", "r b", "r d/a", "r d/b"]),
    ("cp a b", &["w b/a", "w b"]),
    ("cp -r a b", &["r b/a", "r b"]),
    ("cp -r a/. b", &["f b", "r b"]),
    ("cp a/* b/", &["f b/"]),
    ("cp --target-dir=d a", &["w d/a"]),
    ("ln -sfn a b", &["w a", "r b/a", "r b"]),
    ("ln -s /x/a", &["w /x/a", "r ./a"]),
    ("link a b", &["w a"]),
    ("cp -l a b", &["w b/a", "w b", "w a"]),
    ("ditto a b", &["r b/a", "r b"]),
    ("mount --bind a b", &["r b"]),
    ("install -m 644 a b", &["w b/a", "w b"]),
    ("install -d a b", &["w a", "w b"]),
    ("rsync -a a/ b/", &["f b/"]),
    ("rsync -a a host:/b", &[]),
    ("rsync --remove-source-files a b/", &["r b/a", "r a"]),
    ("scp host:/a b", &["w b/a", "w b"]),
    ("rclone sync a b", &["f b"]),
    ("touch -d now a", &["w a"]),
    ("mkdir -p a", &["w a"]),
    ("mktemp a.XXXXXX", &["w a.XXXXXX"]),
    ("flock -w 1 a sleep 9", &["w a"]),
    ("lockfile a", &["w a"]),
    ("tee -a a", &["w a"]),
    ("x | sponge a", &["w a"]),
    ("truncate -s0 a", &["w a"]),
    ("fallocate -l 1 a", &["w a"]),
    ("dd if=a of=b", &["w b"]),
    ("sort -o a b", &["w a"]),
    ("sort --out=a b", &["w a"]),
    ("sort -uoa b", &["w a"]),
    ("uniq a b", &["w b"]),
    ("split -b 1 a b", &["w b*"]),
    ("csplit -f a b 1", &["r a"]),
    ("tree -o a", &["w a"]),
    ("script a", &["w a"]),
    ("iconv -f x -t y -o a b", &["w a"]),
    ("openssl rand -out a 8", &["w a"]),
    ("sed -i s/x/y/ a", &["w s/x/y/", "w a"]),
    ("sed -n 's/x/y/w a' b", &["w a"]),
    ("sed 'w a' b", &["w a"]),
    ("perl -pi -e x a", &["w a"]),
    ("gawk -i inplace x a", &["w x", "w a"]),
    ("vim -c wq a", &["w a"]),
    ("vim -c 'w b' a", &["w a", "w b"]),
    ("ed a <<< 'w b'", &["w a", "w b"]),
    ("patch a", &["w a"]),
    ("patch -d a -p1", &["f a"]),
    ("yq -i x a", &["w x", "w a"]),
    ("dos2unix a", &["w a"]),
    ("gofmt -w a", &["w a"]),
    ("prettier --write a", &["w a"]),
    ("sqlite3 a 'delete from t'", &["w a"]),
    ("chmod 000 a", &["r a"]),
    ("chmod u-w a", &["r a"]),
    ("chmod 777 a", &["r a"]),
    ("chmod 755 a", &["w a"]),
    ("chmod +x a", &["w a"]),
    ("chown x a", &["r a"]),
    ("setfacl -m u:x:r a", &["r a"]),
    ("curl -sSLo a https://h/x", &["w a"]),
    ("curl -O https://h/x", &["w ./x"]),
    ("curl --output-dir d -O https://h/x", &["w d/x"]),
    ("wget -O a https://h/x", &["w a"]),
    ("wget -P d https://h/x", &["w d/x"]),
    ("wget -r -P d https://h/", &["f d"]),
    ("aria2c -d d https://h/x", &["f d"]),
    ("http -o a https://h", &["w a"]),
    ("claude mcp add x", &["w ~/.claude.json"]),
    ("codex mcp add x", &["w ~/.codex/config.toml"]),
    ("gemini mcp add x", &["w ~/.gemini/settings.json"]),
    ("git rm a", &["r a"]),
    ("git mv a b", &["r a", "r b"]),
    ("git -C d checkout x", &["f d: x", "f d: ."]),
    ("git checkout x", &["f x"]),
    ("git clone x a", &["r a"]),
    ("git config core.hooksPath a", &["w .git/config"]),
    ("git config --get core.hooksPath", &[]),
    ("tar xf a -C b", &["f b"]),
    ("tar -xzf a", &["f ."]),
    ("tar czf a b", &["w a"]),
    ("tar -c b --remove-files -f a", &["w a", "r b"]),
    ("tar tf a", &[]),
    ("unzip a -d b", &["f b"]),
    ("unzip -l a", &[]),
    ("7z x a -ob", &["f b"]),
    ("dpkg -x a b", &["f b"]),
    ("cpio -i -D b", &["f b"]),
    ("gunzip a", &["r a"]),
    ("zip a b", &["w a"]),
    ("zip -m a b", &["w a", "r b"]),
    ("find a -name b -exec rm {} +", &["n:b a"]),
    ("find a -delete", &["r a"]),
    ("find a -name b -delete", &["n:b a"]),
    ("ls a | xargs rm", &["r a"]),
    ("ls a | xargs -I{} rm a/{}", &["r a/*", "r a"]),
    ("echo x > a", &["w a"]),
    ("echo 'export FOO=1' >> a", &["s a"]),
    ("echo 'export FOO=1' > a", &["w a"]),
    ("echo 'use flake' > .envrc", &["s .envrc"]),
    ("echo \"export FOO=$(x)\" >> a", &["w a"]),
    ("cd d && echo x >> a", &["w d: a"]),
    ("D=a; rm -rf $D", &["r a"]),
    ("awk '{print > \"a/b\"}' c", &["r print", "r a/b"]),
    ("awk '{print}' c", &[]),
    ("ssh host rm a", &[]),
    ("cat a", &[]),
    ("apply_patch '*** Begin Patch\n*** Update File: a\n*** Delete File: b'", &["w a", "r b"]),
    ("patch -p1 <<'E'\n--- a/x\n+++ b/x\t2026\n+y\nE", &["w x"]),
    ("cat <<'E' | apply_patch\n*** Add File: x\n+y\nE", &["w x"]),
];

#[test]
fn every_program_shows_its_targets() {
    let mut wrong = Vec::new();
    for (line, expected) in COMMANDS {
        let found = changes(line);
        if found != *expected {
            wrong.push(format!("{line}\n    {found:?}\n    {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_has_a_case() {
    let cases = include_str!("tests.rs");
    for program in PROGRAMS {
        let named = |name: &&str| {
            cases.contains(&format!("(\"{name} ")) || cases.contains(&format!("| {name} "))
        };
        assert!(program.names.iter().any(named), "{:?}", program.names);
    }
}
