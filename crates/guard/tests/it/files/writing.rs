//! Writing and editing: completely or not at all, and recorded.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use counterfoil_model::SideEffect;

use super::*;

fn mode(room: &Room, name: &str) -> u32 {
    fs::metadata(room.path(name)).unwrap().mode() & 0o777
}

/// Leftover temporary files.
fn leftovers(room: &Room) -> Vec<String> {
    fs::read_dir(room.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("tmp"))
        .collect()
}

#[test]
fn writes_are_recorded_and_keep_the_mode() {
    let room = Room::new(&[("old", "before"), ("script", "#!/bin/sh\n")]);
    fs::set_permissions(room.path("script"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(room.path("old"), fs::Permissions::from_mode(0o600)).unwrap();
    let cases = [
        ("new", "text", "created `new` (4 bytes)\n", vec!["new"]),
        ("old", "", "replaced `old` (0 bytes)\n", vec!["old"]),
        ("script", "x", "replaced `script` (1 byte)\n", vec!["script"]),
        (
            "deep/er/file",
            "ünï\u{0}\r\n",
            "created `deep/er/file` (8 bytes)\n",
            vec!["deep", "deep/er", "deep/er/file"],
        ),
    ];
    for (path, content, text, wrote) in cases {
        let output = room.call("write_file", json!({"path": path, "content": content}));
        let expected: Vec<SideEffect> =
            wrote.into_iter().map(|name| SideEffect::Wrote(room.path(name))).collect();
        assert_eq!((output.text.as_str(), output.side_effects), (text, expected));
        assert_eq!(fs::read_to_string(room.path(path)).unwrap(), content);
    }
    assert_eq!((mode(&room, "script"), mode(&room, "old")), (0o750, 0o600));
    assert_eq!(mode(&room, "new") & 0o111, 0);
    assert_eq!(leftovers(&room), Vec::<String>::new());
}

#[test]
fn what_may_not_be_written_stays_as_it_is() {
    let files = [
        ("folder/x", "x"),
        ("fixed", "x"),
        (".env", "KEY"),
        (".git/hooks/pre-commit", "hook"),
        ("counterfoil.toml", "x"),
        ("sub/counterfoil.toml", "x"),
    ];
    let room = Room::new(&files);
    fs::set_permissions(room.path("fixed"), fs::Permissions::from_mode(0o444)).unwrap();
    symlink("nowhere", room.path("dangling")).unwrap();
    symlink("../outside", room.path("out")).unwrap();
    let cases = [
        ("folder", PermanentFailure, "`folder` is a directory"),
        (".", PermanentFailure, "`.` is a directory"),
        ("fixed", PermanentFailure, "`fixed` is write-protected"),
        ("folder/x/y", PermanentFailure, "part of the path `folder/x/y` is not a directory"),
        (
            ".env",
            PolicyBlocked,
            "access to `.env` is not allowed: it matches `tools.file.deny_read`",
        ),
        (
            "new/.env",
            PolicyBlocked,
            "access to `new/.env` is not allowed: it matches `tools.file.deny_read`",
        ),
        (
            ".git/hooks/pre-commit",
            PolicyBlocked,
            "access to `.git/hooks/pre-commit` is not allowed: it matches `tools.file.deny_write`",
        ),
        (
            "counterfoil.toml",
            PolicyBlocked,
            "access to `counterfoil.toml` is not allowed: it matches `tools.file.deny_write`",
        ),
        (
            "sub/counterfoil.toml",
            PolicyBlocked,
            "access to `sub/counterfoil.toml` is not allowed: it matches `tools.file.deny_write`",
        ),
        (
            "dangling",
            PermanentFailure,
            "`dangling` cannot be used: it is, or is reached through, a broken link",
        ),
        (
            "dangling/x",
            PermanentFailure,
            "`dangling/x` cannot be used: it is, or is reached through, a broken link",
        ),
        ("../new", PolicyBlocked, "`../new` is outside the workspace"),
    ];
    for (path, category, message) in cases {
        let refused = room.refused("write_file", json!({"path": path, "content": "changed"}));
        assert_eq!(refused, (category, message.to_owned()));
    }
    assert!(room.refused("write_file", json!({"path": "out", "content": "x"})).1.contains("out"));
    assert!(!room.outside("outside").exists() && !room.path("new").exists());
    for (name, text) in files {
        assert_eq!(fs::read_to_string(room.path(name)).unwrap(), text, "{name}");
    }
    assert_eq!(leftovers(&room), Vec::<String>::new());
}

/// Writing through a link changes its target and keeps the link.
#[test]
fn writing_through_a_link_within_the_workspace_keeps_the_link() {
    let room = Room::new(&[("real/x", "before")]);
    symlink("real/x", room.path("link")).unwrap();
    let output = room.call("write_file", json!({"path": "link", "content": "after"}));
    assert_eq!(output.side_effects, [SideEffect::Wrote(room.path("real/x"))]);
    assert!(room.path("link").is_symlink());
    assert_eq!(fs::read_to_string(room.path("real/x")).unwrap(), "after");
}

#[test]
fn edits_are_exact_and_unambiguous() {
    let room = Room::new(&[]);
    let cases: [(&str, &str, &str, bool, &str, &str); 6] = [
        ("one two", "two", "three", false, "one three", "edited `f` in 1 place\n"),
        ("a a a", "a", "bb", true, "bb bb bb", "edited `f` in 3 places\n"),
        ("x\r\ny\r\n", "x\r\ny", "z", false, "z\r\n", "edited `f` in 1 place\n"),
        ("keep gone", " gone", "", false, "keep", "edited `f` in 1 place\n"),
        ("aaa", "aa", "b", false, "ba", "edited `f` in 1 place\n"),
        ("日本語", "本", "x", false, "日x語", "edited `f` in 1 place\n"),
    ];
    for (before, old, new, all, after, text) in cases {
        fs::write(room.path("f"), before).unwrap();
        let arguments = json!({"path": "f", "old": old, "new": new, "all": all});
        let output = room.call("edit_file", arguments);
        assert_eq!(output.text, text);
        assert_eq!(output.side_effects, [SideEffect::Wrote(room.path("f"))]);
        assert_eq!(fs::read_to_string(room.path("f")).unwrap(), after);
    }
    // Bytes that are not text are preserved.
    fs::write(room.path("f"), b"\xff\0old\xfe").unwrap();
    room.call("edit_file", json!({"path": "f", "old": "old", "new": "new"}));
    assert_eq!(fs::read(room.path("f")).unwrap(), b"\xff\0new\xfe");
}

#[test]
fn an_edit_that_does_not_fit_says_why() {
    let room = Room::new(&[]);
    let many = "x\n".repeat(12);
    let exactly = "`old` is not in `f`: read the file and copy the text exactly";
    let cases: [(&str, &str, &str); 9] = [
        (
            "a\nb\na\n",
            "a",
            "`old` occurs 2 times in `f` (lines 1, 3): add more of the surrounding text to \
             `old`, or set `all`",
        ),
        (
            &many,
            "x",
            "`old` occurs 12 times in `f` (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …): add more of \
             the surrounding text to `old`, or set `all`",
        ),
        ("abc", "abd", exactly),
        ("", "abd", exactly),
        ("a\r\nb\r\n", "a\nb", "`old` is not in `f`: the lines of the file end in CR LF"),
        ("a\nb\n", "a\r\nb", "`old` is not in `f`: the lines of the file end in LF"),
        (
            "z\n\tif x {\n\t\ty\n",
            "if x {\n    y",
            "`old` is not in `f`, but the text from line 2 differs from it only in whitespace: \
             copy it exactly",
        ),
        ("a", "", "`old` is empty; use `write_file` to write a whole file"),
        ("a", "new", "`old` and `new` are the same"),
    ];
    for (before, old, expected) in cases {
        fs::write(room.path("f"), before).unwrap();
        let refused = room.refused("edit_file", json!({"path": "f", "old": old, "new": "new"}));
        assert_eq!(refused, (InvalidParameters, expected.to_owned()));
        assert_eq!(fs::read_to_string(room.path("f")).unwrap(), before);
    }
    let refused = room.refused("edit_file", json!({"path": "g", "old": "a", "new": "b"}));
    assert_eq!(refused, (PermanentFailure, "`g` does not exist".to_owned()));
    fs::File::create(room.path("huge")).unwrap().set_len(17 * 1024 * 1024).unwrap();
    let refused = room.refused("edit_file", json!({"path": "huge", "old": "a", "new": "b"}));
    assert_eq!(refused.1, "`huge` is longer than 16777216 bytes");
}

/// An edit requires read permission: otherwise the content could be found out by trying texts.
#[test]
fn edits_need_to_read() {
    let options = FileOptions { allow_read: vec!["open/**".to_owned()], ..FileOptions::default() };
    let room = Room::with(options, &[("closed/f", "a"), ("open/f", "a")]);
    let arguments = |path: &str| json!({"path": path, "old": "a", "new": "b"});
    assert_eq!(room.refused("edit_file", arguments("closed/f")).0, PolicyBlocked);
    assert_eq!(room.text("edit_file", arguments("open/f")), "edited `open/f` in 1 place\n");
    assert_eq!(
        room.text("write_file", json!({"path": "closed/f", "content": "c"})),
        "replaced `closed/f` (1 byte)\n"
    );
}

/// A concurrent reader sees the old or the new content, never a part.
#[test]
fn writes_are_atomic() {
    let room = Room::new(&[]);
    let texts = ["a".repeat(200_000), "b".repeat(300_000)];
    fs::write(room.path("f"), &texts[0]).unwrap();
    let path = room.path("f");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = [0_u32; 2];
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let text = fs::read_to_string(&path).unwrap();
                let which = texts.iter().position(|whole| *whole == text);
                seen[which.unwrap_or_else(|| panic!("a part: {} bytes", text.len()))] += 1;
            }
            seen
        });
        for n in 0..100 {
            room.call("write_file", json!({"path": "f", "content": texts[n % 2]}));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(reader.join().unwrap().iter().sum::<u32>() > 0);
    });
    assert_eq!(leftovers(&room), Vec::<String>::new());
}

/// A dropped call writes nothing afterwards.
#[test]
fn a_call_that_is_given_up_writes_nothing_afterwards() {
    let room = Room::new(&[]);
    let files: &dyn ErasedToolExecutor = &room.files;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut written = 0;
    for n in 0..200 {
        let name = format!("f{n}");
        let scene = room.stage.scene();
        let arguments = json!({"path": name, "content": "x".repeat(10_000)});
        runtime.block_on(async {
            let running = files.execute_tool_call(permit("write_file", arguments), &scene);
            let soon = std::time::Duration::from_micros(n * 5);
            let _ = tokio::time::timeout(soon, running).await;
        });
        let at_once = room.path(&name).exists();
        // Waits for all work that is under way.
        let (done, ended) = std::sync::mpsc::channel();
        runtime.spawn_blocking(move || done.send(()).unwrap());
        ended.recv().unwrap();
        written += u32::from(at_once);
        assert!(at_once || !room.path(&name).exists(), "{name} came afterwards");
    }
    println!("{written} of 200 were written before they were given up");
}
