//! Which paths may be used: deny beats allow, on the real path.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn deny_before_allow_on_canonical_paths() {
    let list = |patterns: &[&str]| patterns.iter().map(|text| (*text).to_owned()).collect();
    let options = FileOptions {
        allow_read: list(&["**/*.env", "**/.env", "src/**", "secrets/**", "link/**"]),
        ..FileOptions::default()
    };
    let room = Room::with(
        options,
        &[
            (".env", "KEY=1"),
            ("a/.env", "KEY=2"),
            ("a/prod.env", "fine"),
            ("secrets/key", "k"),
            ("a/secrets/deep/key", "k"),
            ("src/main.rs", "fine"),
            ("src/.git/config", "g"),
            ("other.rs", "o"),
        ],
    );
    symlink("../.env", room.path("src/harmless.rs")).unwrap();
    symlink("../secrets", room.path("src/folder")).unwrap();
    symlink("../other.rs", room.path("src/other.rs")).unwrap();
    symlink("a/prod.env", room.path("prod.env")).unwrap();
    let denied = "it matches `tools.file.deny_read`";
    let not_allowed = "is not in `tools.file.allow_read`";
    let cases = [
        // Both lists name it, so it is denied.
        (".env", denied),
        ("a/.env", denied),
        ("a/../.env", denied),
        ("./a/./.env", denied),
        (".ENV", denied),
        ("secrets/key", denied),
        ("secrets", denied),
        ("a/secrets/deep/key", denied),
        ("a/secrets/missing", denied),
        ("src/.git/config", denied),
        // The link's name is allowed, but its target is denied.
        ("src/harmless.rs", denied),
        ("src/folder/key", denied),
        // The link's name is allowed, but its target is not.
        ("src/other.rs", not_allowed),
        ("other.rs", not_allowed),
        ("missing.rs", not_allowed),
        ("a/prod.env", ""),
        ("prod.env", ""),
        ("src/main.rs", ""),
    ];
    for (path, expected) in cases {
        for path in [path.to_owned(), room.path(path).to_str().unwrap().to_owned()] {
            let arguments = json!({ "path": path });
            if expected.is_empty() {
                assert_eq!(room.text("read_file", arguments), "fine", "{path}");
                continue;
            }
            let (category, message) = room.refused("read_file", arguments);
            assert_eq!(category, PolicyBlocked, "{path}: {message}");
            assert!(message.ends_with(expected), "{path}: {message}");
        }
    }
}

#[test]
fn nothing_is_denied_or_everything_is_allowed_when_the_lists_are_empty() {
    let options = FileOptions { deny_read: Vec::new(), ..FileOptions::default() };
    let room = Room::with(options, &[(".env", "KEY=1"), ("secrets/x", "s")]);
    assert_eq!(room.text("read_file", json!({"path": ".env"})), "KEY=1");
    assert_eq!(room.text("read_file", json!({"path": "secrets/x"})), "s");
}

#[test]
fn what_lies_outside_is_refused_whatever_it_is_called() {
    let room = Room::new(&[("a/b", "x")]);
    let secret = room.outside("secret");
    fs::write(&secret, "outside").unwrap();
    fs::create_dir(room.outside("workshop")).unwrap();
    fs::write(room.outside("workshop/x"), "outside").unwrap();
    for (link, target) in [
        ("absolute", secret.to_str().unwrap()),
        ("relative", "../secret"),
        ("up", ".."),
        ("root", "/"),
        ("magic", "/proc/self/root"),
        ("cwd", "/proc/self/cwd"),
    ] {
        symlink(target, room.path(link)).unwrap();
    }
    symlink("absolute", room.path("twice")).unwrap();
    let paths = [
        "/etc/passwd",
        "../secret",
        "a/../../secret",
        "./../secret",
        "../workshop/x",
        "a/b/../../../secret",
        "absolute",
        "relative",
        "twice",
        "up/secret",
        "up/work/../secret",
        "root/etc/passwd",
        "magic/etc/passwd",
        "cwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/dev/stdin",
        "~",
        "~/.ssh/id_ed25519",
        "..",
        "/",
    ];
    for path in paths {
        for tool in ["read_file", "write_file", "edit_file", "list_directory", "grep", "find_files"]
        {
            let arguments = json!({
                "path": path, "content": "x", "old": "a", "new": "b", "pattern": "*"
            });
            let arguments = match tool {
                "grep" => json!({"path": path, "pattern": "x"}),
                _ => arguments,
            };
            let (category, message) = room.refused(tool, arguments);
            assert_eq!(category, PolicyBlocked, "{tool} {path}: {message}");
        }
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "outside");
}

/// If only some files may be read, a search walks through directories and sees only those files.
#[test]
fn searches_meet_only_what_may_be_read() {
    let options = FileOptions { allow_read: vec!["src/**".to_owned()], ..FileOptions::default() };
    let room = Room::with(options, &[("src/a", "x"), ("src/.env", "x"), ("b", "x"), ("c/d", "x")]);
    assert_eq!(
        room.text("grep", json!({"pattern": "x"})),
        "src/a:1:x\n[left out, access not allowed: 3]\n"
    );
    assert_eq!(
        room.text("find_files", json!({"pattern": "*"})),
        "src/a\n[left out, access not allowed: 3]\n"
    );
    assert_eq!(
        room.text("list_directory", json!({"path": "."})),
        "c/\nsrc/\n[left out, access not allowed: 1]\n"
    );
    assert_eq!(room.refused("grep", json!({"path": "b", "pattern": "x"})).0, PolicyBlocked);
    assert_eq!(room.text("grep", json!({"path": "src/a", "pattern": "x"})), "src/a:1:x\n");
}

/// Writing outside the workspace requires agreement or a trusted turn.
#[test]
fn writing_beside_the_workspace_needs_agreement() {
    let beside = tempfile::tempdir().unwrap();
    let path = beside.path().canonicalize().unwrap().join("x").to_str().unwrap().to_owned();
    let options =
        FileOptions { directories: vec![beside.path().to_owned()], ..FileOptions::default() };
    let mut room = Room::with(options, &[]);
    let arguments = json!({"path": path, "content": "x"});
    assert_eq!(room.refused("write_file", arguments.clone()).0, PolicyBlocked);
    assert!(!beside.path().join("x").exists());
    let files: &dyn ErasedToolExecutor = &room.files;
    let permit = approved("write_file", arguments.clone());
    let output = wait(files.execute_tool_call_confirmed(permit, &room.stage.scene()));
    assert!(output.unwrap().unwrap().text.starts_with("created"));
    room.stage.trust = TrustLevel::Trusted;
    assert!(room.text("write_file", arguments).starts_with("replaced"));
}

/// Two links within the workspace, and a second root next to it.
#[test]
fn links_within_and_folders_beside_the_workspace_can_be_used() {
    let beside = tempfile::tempdir().unwrap();
    let beside = beside.path().canonicalize().unwrap();
    fs::write(beside.join("x"), "beside").unwrap();
    fs::write(beside.join(".env"), "KEY").unwrap();
    let options = FileOptions { directories: vec![beside.clone()], ..FileOptions::default() };
    let room = Room::with(options, &[("a/b", "inside")]);
    symlink("a", room.path("relative")).unwrap();
    symlink(room.path("a/b"), room.path("absolute")).unwrap();
    symlink(beside.join("x"), room.path("out")).unwrap();
    for (path, expected) in [
        ("relative/b", "inside"),
        ("absolute", "inside"),
        ("out", "beside"),
        (beside.join("x").to_str().unwrap(), "beside"),
    ] {
        assert_eq!(room.text("read_file", json!({"path": path})), expected, "{path}");
    }
    let denied = beside.join(".env");
    assert_eq!(
        room.refused("read_file", json!({"path": denied.to_str().unwrap()})).0,
        PolicyBlocked
    );
    let listed = room.text("grep", json!({"path": beside.to_str().unwrap(), "pattern": "b"}));
    assert_eq!(
        listed,
        format!("{}:1:beside\n[left out, access not allowed: 1]\n", beside.join("x").display())
    );
}

#[test]
fn the_guards_own_records_are_out_of_reach() {
    let mut room = Room::new(&[("state/keys/key", "secret"), ("a", "x")]);
    room.files = room.files.clone().protecting(room.path("state"));
    symlink("state", room.path("link")).unwrap();
    for path in ["state/keys/key", "link/keys/key", "state/new", "state"] {
        for tool in ["read_file", "write_file", "list_directory"] {
            let (category, message) =
                room.refused(tool, json!({"path": path, "content": "forged"}));
            assert_eq!(category, PolicyBlocked);
            assert!(message.ends_with("Counterfoil keeps its own records there"), "{message}");
        }
    }
    let found = room.text("grep", json!({"pattern": "secret|x"}));
    assert_eq!(found, "a:1:x\n[left out, access not allowed: 1]\n");
}
