//! Listing, finding and searching.

use std::os::unix::fs::symlink;

use super::*;

fn room() -> Room {
    let room = Room::new(&[
        (".gitignore", "target/\n*.log\n!keep.log\n"),
        ("src/main.rs", "fn main() {\n\tprintln!(\"hello\");\n}\n"),
        ("src/lib.rs", "pub fn hello() {}\n"),
        ("src/.gitignore", "generated.rs\n"),
        ("src/generated.rs", "hello\n"),
        ("generated.rs", "hello\n"),
        ("target/debug/out.rs", "hello\n"),
        ("a.log", "hello\n"),
        ("keep.log", "hello\n"),
        (".env", "hello\n"),
        ("secrets/x.rs", "hello\n"),
        (".git/HEAD", "hello\n"),
        (".hidden/y.rs", "Hello\n"),
    ]);
    fs::write(room.path("binary.rs"), b"hello\0hello\n").unwrap();
    symlink("..", room.path("src/up")).unwrap();
    symlink("/etc", room.path("etc")).unwrap();
    room
}

#[test]
fn directories_are_listed() {
    let room = room();
    insta::assert_snapshot!(room.text("list_directory", json!({"path": "."})), @r"
    .git/
    .gitignore  (24 bytes)
    .hidden/
    a.log  (6 bytes)
    binary.rs  (12 bytes)
    etc -> /etc
    generated.rs  (6 bytes)
    keep.log  (6 bytes)
    src/
    target/
    [left out, access not allowed: 2]
    ");
    insta::assert_snapshot!(room.text("list_directory", json!({"path": "src"})), @r"
    .gitignore  (13 bytes)
    generated.rs  (6 bytes)
    lib.rs  (18 bytes)
    main.rs  (34 bytes)
    up -> ..
    ");
    fs::create_dir(room.path("empty")).unwrap();
    assert_eq!(room.text("list_directory", json!({"path": "empty"})), "[the directory is empty]\n");
    assert_eq!(
        room.refused("list_directory", json!({"path": "keep.log"})),
        (PermanentFailure, "`keep.log` is not a directory".to_owned())
    );
    for n in 0..1_010 {
        fs::write(room.path("empty").join(format!("f{n:04}")), "").unwrap();
    }
    let output = room.call("list_directory", json!({"path": "empty"}));
    assert!(output.truncated);
    assert!(output.text.ends_with("[10 more not shown; use find_files to search by name]\n"));
}

#[test]
fn names_that_would_forge_lines_are_shown_as_they_are() {
    let room = Room::new(&[("a\n[2 more", "x"), ("\u{1b}[2J", "")]);
    use std::os::unix::ffi::OsStrExt as _;
    fs::write(room.path("").join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    insta::assert_snapshot!(room.text("list_directory", json!({"path": "."})), @r"
    \u{1b}[2J  (0 bytes)
    a\u{a}[2 more  (1 byte)
    caf�  (1 byte)
    ");
    insta::assert_snapshot!(room.text("grep", json!({"pattern": "x"})), @r"
    a\u{a}[2 more:1:x
    caf�:1:x
    ");
}

#[test]
fn files_are_found_by_name() {
    let room = room();
    let cases: [(Value, &[&str]); 7] = [
        (
            json!({"pattern": "*.rs"}),
            &[
                ".hidden/y.rs",
                "binary.rs",
                "generated.rs",
                "src/lib.rs",
                "src/main.rs",
                "[left out, access not allowed: 2]",
            ],
        ),
        (
            json!({"pattern": "src/*.rs"}),
            &["src/lib.rs", "src/main.rs", "[left out, access not allowed: 2]"],
        ),
        (json!({"pattern": "*.rs", "path": "src"}), &["src/lib.rs", "src/main.rs"]),
        (json!({"pattern": "./main.*", "path": "src"}), &["src/main.rs"]),
        (json!({"pattern": "*", "path": "target"}), &["target/debug/out.rs"]),
        (json!({"pattern": "up", "path": "src"}), &["src/up"]),
        (json!({"pattern": "nothing", "path": "src"}), &["[no files found]"]),
    ];
    for (arguments, expected) in cases {
        let text = room.text("find_files", arguments.clone());
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{arguments}");
    }
    for (pattern, expected) in [
        ("a[", "`pattern` is not a valid glob: unclosed character class; missing ']'"),
        ("/etc/*", "`pattern` is relative to `path`: it must not start with `/` or contain `..`"),
        ("../*", "`pattern` is relative to `path`: it must not start with `/` or contain `..`"),
    ] {
        assert_eq!(
            room.refused("find_files", json!({ "pattern": pattern })),
            (InvalidParameters, expected.to_owned())
        );
    }
}

#[test]
fn lines_are_found_by_expression() {
    let room = room();
    insta::assert_snapshot!(room.text("grep", json!({"pattern": "hello"})), @r#"
    generated.rs:1:hello
    keep.log:1:hello
    src/lib.rs:1:pub fn hello() {}
    src/main.rs:2:	println!("hello");
    [left out, access not allowed: 2]
    [files not searched to the end, because they are not text: 1]
    "#);
    let cases: [(Value, &[&str]); 6] = [
        (json!({"pattern": "(?i)hello", "path": ".hidden"}), &[".hidden/y.rs:1:Hello"]),
        (
            json!({"pattern": "^pub fn", "glob": "*.rs", "path": "src"}),
            &["src/lib.rs:1:pub fn hello() {}"],
        ),
        (
            json!({"pattern": "hello", "path": "src/main.rs"}),
            &["src/main.rs:2:\tprintln!(\"hello\");"],
        ),
        (json!({"pattern": "nothing", "path": "src"}), &["[no line matches in 3 files]"]),
        (json!({"pattern": "hello", "path": "a.log"}), &["a.log:1:hello"]),
        (
            json!({"pattern": "hello", "glob": "*.toml", "path": "src"}),
            &["[no line matches in 0 files]"],
        ),
    ];
    for (arguments, expected) in cases {
        let text = room.text("grep", arguments.clone());
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{arguments}");
    }
    for pattern in ["(", "a{1000000000}", "(?=x)"] {
        let (category, message) = room.refused("grep", json!({ "pattern": pattern }));
        assert_eq!(category, InvalidParameters, "{message}");
        assert!(message.starts_with("`pattern` is not a valid regular expression: "), "{message}");
    }
}

#[test]
fn searching_is_bounded() {
    let lines = "hit\n".repeat(3_000);
    let room = Room::new(&[("many", &lines)]);
    fs::write(room.path("long"), format!("{}hit\n", "x".repeat(9 * 1024 * 1024))).unwrap();
    fs::write(room.path("wide"), format!("hit{}\n", "é".repeat(600))).unwrap();
    let output = room.call("grep", json!({"pattern": "hit", "path": "many"}));
    assert!(output.truncated);
    assert_eq!(output.text.lines().count(), 1_001);
    assert!(output.text.ends_with("[more than 1000 lines match; narrow the search]\n"));
    let text = room.text("grep", json!({"pattern": "hit", "path": "long"}));
    assert!(text.contains("[files that are unreadable or have overlong lines: 1]"), "{text}");
    let text = room.text("grep", json!({"pattern": "hit", "path": "wide"}));
    assert_eq!(text, format!("wide:1:hit{}…\n", "é".repeat(497)));
    let deep: String = "d/".repeat(200);
    fs::create_dir_all(room.path(&deep)).unwrap();
    fs::write(room.path(&format!("{deep}x")), "deep").unwrap();
    let text = room.text("grep", json!({"pattern": "deep", "path": "d"}));
    assert!(text.contains("[left out, could not be read: 1"), "{text}");
}
