//! The file executor: what it returns, what it refuses, and what it records.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the tests create the files they check")]

mod paths;
mod races;
mod searching;
mod writing;

use std::fs;
use std::path::PathBuf;

use counterfoil_guard::{
    ErasedToolExecutor, FileExecutor, FileOptions, FileOptionsError, ToolError, ToolOutput,
    TrustLevel,
};
use counterfoil_model::ToolErrorCategory::{
    self, InvalidParameters, PermanentFailure, PolicyBlocked,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::{Stage, approved, call, permit, wait};

/// A workspace with files, in a folder that must not be touched.
pub(crate) struct Room {
    folder: TempDir,
    stage: Stage,
    files: FileExecutor,
}

impl Room {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with(FileOptions::default(), files)
    }

    fn with(options: FileOptions, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&workspace).unwrap();
        for (name, text) in files {
            let path = workspace.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let stage = Stage::at(&workspace);
        let files = FileExecutor::new(options.resolve().unwrap());
        Self { folder, stage, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.stage.workspace.join(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn try_call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let files: &dyn ErasedToolExecutor = &self.files;
        let scene = self.stage.scene();
        wait(files.execute_tool_call(permit(tool, arguments), &scene)).map(Option::unwrap)
    }

    #[track_caller]
    fn call(&self, tool: &str, arguments: Value) -> ToolOutput {
        self.try_call(tool, arguments).unwrap()
    }

    #[track_caller]
    fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).text
    }

    /// The message and the category with which a call is refused.
    #[track_caller]
    fn refused(&self, tool: &str, arguments: Value) -> (ToolErrorCategory, String) {
        let error = self.try_call(tool, arguments).unwrap_err();
        (error.category(), error.to_string())
    }
}

#[test]
fn lines_are_read_and_cuts_are_reported() {
    let ten: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    let room = Room::new(&[("ten", &ten), ("empty", ""), ("open", "a\nb"), ("one", "x\n")]);
    let cases: [(Value, &str); 9] = [
        (json!({"path": "ten"}), &ten),
        (
            json!({"path": "ten", "limit": 2}),
            "line 1\nline 2\n[lines 1 to 2 of 10; continue with offset 3]\n",
        ),
        (
            json!({"path": "ten", "offset": 4, "limit": 1}),
            "line 4\n[lines 4 to 4 of 10; continue with offset 5]\n",
        ),
        (json!({"path": "ten", "offset": 10}), "line 10\n"),
        (json!({"path": "ten", "offset": 9, "limit": 2}), "line 9\nline 10\n"),
        (json!({"path": "empty"}), "[the file is empty]\n"),
        (json!({"path": "open"}), "a\nb"),
        (json!({"path": "open", "offset": 2, "limit": 5}), "b"),
        (json!({"path": "./ten/../one"}), "x\n"),
    ];
    for (arguments, expected) in cases {
        let output = room.call("read_file", arguments.clone());
        assert_eq!((output.text.as_str(), output.truncated), (expected, false), "{arguments}");
        assert!(output.side_effects.is_empty());
    }
    for (arguments, expected) in [
        (json!({"path": "ten", "offset": 11}), "`ten` has 10 lines, but `offset` is 11"),
        (json!({"path": "one", "offset": 2}), "`one` has 1 line, but `offset` is 2"),
        (json!({"path": "empty", "offset": 2}), "`empty` has no lines, but `offset` is 2"),
        (json!({"path": "ten", "offset": 0}), "`offset` must be a whole number of at least 1"),
        (json!({"path": "ten", "limit": -1}), "`limit` must be a whole number of at least 1"),
        (json!({"path": "ten", "limit": "2"}), "`limit` must be a whole number of at least 1"),
        (json!({"path": ""}), "`path` is not a valid path"),
        (json!({"path": "a\u{0}b"}), "`path` is not a valid path"),
        (json!({"path": 3}), "`path` must be a string"),
        (json!({}), "`path` is missing"),
    ] {
        assert_eq!(room.refused("read_file", arguments), (InvalidParameters, expected.to_owned()));
    }
}

#[test]
fn long_files_and_long_lines_are_cut_where_reading_can_go_on() {
    let options = FileOptions { max_output_chars: 500, ..FileOptions::default() };
    let many: String = (1..=1_000).map(|n| format!("line {n:04}\n")).collect();
    let (long, wide) = ("x".repeat(2_000_000), "ä".repeat(600));
    let lines = format!("first\n{long}\nlast\n");
    let files = [("many", many.as_str()), ("long", &long), ("lines", &lines), ("wide", &wide)];
    let room = Room::with(options, &files);

    let output = room.call("read_file", json!({"path": "many"}));
    assert!(output.truncated);
    assert!(output.text.ends_with("line 0050\n[lines 1 to 50 of 1000; continue with offset 51]\n"));
    let mut read = String::new();
    let mut offset = 1;
    while offset <= 1_000 {
        let text = room.text("read_file", json!({"path": "many", "offset": offset}));
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('[')).collect();
        offset += lines.len();
        lines.iter().for_each(|line| read += &format!("{line}\n"));
    }
    assert_eq!(read, many, "read on to the end, nothing is missing and nothing comes twice");

    let output = room.call("read_file", json!({"path": "long"}));
    let expected =
        format!("{}\n[line 1 is longer than 500 characters and was truncated]\n", "x".repeat(500));
    assert_eq!((output.text, output.truncated), (expected, true));

    let output = room.call("read_file", json!({"path": "lines"}));
    assert_eq!(output.text, "first\n[lines 1 to 1 of 3; continue with offset 2]\n");
    let output = room.call("read_file", json!({"path": "lines", "offset": 2}));
    let expected = format!(
        "{}\n[line 2 is longer than 500 characters and was truncated]\n[lines 2 to 2 of 3; \
         continue with offset 3]\n",
        "x".repeat(500)
    );
    assert_eq!(output.text, expected);
    assert_eq!(room.text("read_file", json!({"path": "lines", "offset": 3})), "last\n");

    let output = room.call("read_file", json!({"path": "wide"}));
    assert!(output.text.starts_with(&"ä".repeat(500)) && output.truncated);
}

#[test]
fn what_is_no_text_or_no_file_is_distinguished() {
    let room = Room::new(&[("folder/x", "")]);
    fs::write(room.path("binary"), b"\x7fELF\0\0\0").unwrap();
    fs::write(room.path("latin"), b"caf\xe9\n").unwrap();
    fs::write(room.path("bom"), "\u{feff}text\n").unwrap();
    std::os::unix::fs::symlink("nowhere", room.path("dangling")).unwrap();
    std::os::unix::fs::symlink("loop", room.path("loop")).unwrap();
    let status = std::process::Command::new("mkfifo").arg(room.path("pipe")).status().unwrap();
    assert!(status.success());
    let _socket = std::os::unix::net::UnixListener::bind(room.path("socket")).unwrap();

    let text = room.text("read_file", json!({"path": "latin"}));
    assert_eq!(text, "caf\u{fffd}\n[bytes that are not UTF-8 are shown as \u{fffd}]\n");
    assert_eq!(room.text("read_file", json!({"path": "bom"})), "\u{feff}text\n");
    for (path, expected) in [
        ("binary", "`binary` is not text (7 bytes)"),
        ("folder", "`folder` is a directory; use `list_directory`"),
        (".", "`.` is a directory; use `list_directory`"),
        ("missing", "`missing` does not exist"),
        ("folder/x/y", "part of the path `folder/x/y` is not a directory"),
        ("dangling", "`dangling` cannot be used: it is, or is reached through, a broken link"),
        ("pipe", "`pipe` cannot be used: it is not a regular file"),
        ("socket", "`socket` cannot be used: it is not a regular file"),
        ("a\nb", "`a\\u{a}b` does not exist"),
    ] {
        let refused = room.refused("read_file", json!({"path": path}));
        assert_eq!(refused, (PermanentFailure, expected.to_owned()));
    }
    assert_eq!(room.refused("read_file", json!({"path": "loop"})).0, PolicyBlocked);
    // The tool must not wait for the other end of the pipe.
    for tool in ["write_file", "edit_file"] {
        let arguments = json!({"path": "pipe", "content": "x", "old": "a", "new": "b"});
        assert_eq!(room.refused(tool, arguments).0, PermanentFailure);
    }
    assert!(room.text("grep", json!({"pattern": "zzz"})).contains("no line matches"));
}

#[test]
fn devices_are_not_opened() {
    let options = FileOptions { directories: vec!["/dev".into()], ..FileOptions::default() };
    let room = Room::with(options, &[]);
    for device in ["/dev/null", "/dev/zero", "/dev/tty"] {
        let (category, message) = room.refused("read_file", json!({"path": device}));
        assert_eq!(category, PermanentFailure, "{message}");
    }
}

#[test]
fn files_without_permission_are_refused_by_the_system() {
    let room = Room::new(&[("closed", "x")]);
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(room.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(room.path("closed")).is_ok() {
        println!("not checked: root reads every file");
        return;
    }
    assert_eq!(
        room.refused("read_file", json!({"path": "closed"})),
        (PermanentFailure, "the operating system denies access to `closed`".to_owned())
    );
}

#[test]
fn what_needs_approval() {
    let mut room = Room::new(&[("a", "x"), (".env", "KEY=1")]);
    let outside = tempfile::tempdir().unwrap();
    let beside = outside.path().canonicalize().unwrap();
    let options = FileOptions { directories: vec![beside.clone()], ..FileOptions::default() };
    room.files = FileExecutor::new(options.resolve().unwrap());
    let elsewhere = beside.join("x").to_str().unwrap().to_owned();
    use TrustLevel::{Provisional, Trusted, Untrusted};
    let cases: [(&str, &str, TrustLevel, bool); 10] = [
        ("read_file", "a", Untrusted, false),
        ("grep", ".", Untrusted, false),
        ("write_file", "a", Untrusted, true),
        ("write_file", "a", Provisional, false),
        ("edit_file", "a", Provisional, false),
        ("write_file", &elsewhere, Provisional, true),
        ("write_file", &elsewhere, Trusted, false),
        ("read_file", &elsewhere, Provisional, false),
        // The call is refused in any case, so no person is asked.
        ("write_file", ".env", Provisional, false),
        ("write_file", "/etc/passwd", Provisional, false),
    ];
    let files: &dyn ErasedToolExecutor = &room.files;
    for (tool, path, trust, needs_approval) in cases {
        room.stage.trust = trust;
        let call = call(tool, json!({"path": path}));
        let why = files.requires_confirmation(&call, &room.stage.scene());
        assert_eq!(why.is_some(), needs_approval, "{tool} {path} {trust:?}: {why:?}");
    }
    let stranger = call("other", json!({}));
    assert!(files.requires_confirmation(&stranger, &room.stage.scene()).is_some());
}

#[test]
fn approval_does_not_widen_what_may_be_used() {
    let room = Room::new(&[(".env", "KEY=1")]);
    let files: &dyn ErasedToolExecutor = &room.files;
    for path in [".env", "/etc/passwd"] {
        let scene = room.stage.scene();
        let permit = approved("read_file", json!({"path": path}));
        let error = wait(files.execute_tool_call_confirmed(permit, &scene)).unwrap_err();
        assert_eq!(error.category(), PolicyBlocked, "{path}");
    }
}

#[test]
fn tools_are_declared_as_they_are() {
    let files: &dyn ErasedToolExecutor =
        &FileExecutor::new(FileOptions::default().resolve().unwrap());
    let mut table = String::new();
    for tool in files.tool_definitions() {
        let effects = tool.effects;
        let schema = tool.parameters.unwrap();
        let names = schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        table += &format!(
            "{} writes={} idempotent={} network={} again={} ahead={} required={} of {}\n",
            tool.name,
            effects.writes.unwrap(),
            effects.idempotent.unwrap(),
            effects.network.unwrap(),
            files.is_tool_retryable(&tool.name),
            files.is_tool_speculatable(&tool.name),
            schema["required"],
            names.join(" "),
        );
    }
    insta::assert_snapshot!(table, @r#"
    read_file writes=false idempotent=true network=false again=true ahead=true required=["path"] of path offset limit
    write_file writes=true idempotent=true network=false again=true ahead=false required=["path","content"] of path content
    edit_file writes=true idempotent=false network=false again=false ahead=false required=["path","old","new"] of path old new all
    list_directory writes=false idempotent=true network=false again=true ahead=true required=["path"] of path
    find_files writes=false idempotent=true network=false again=true ahead=true required=["pattern"] of pattern path
    grep writes=false idempotent=true network=false again=true ahead=true required=["pattern"] of pattern path glob
    "#);
    assert!(!files.owns("shell") && !files.is_tool_retryable("shell"));
}

#[test]
fn without_a_workspace_nothing_is_used() {
    let mut room = Room::new(&[("a", "x")]);
    for workspace in ["", "relative"] {
        room.stage.workspace = workspace.into();
        assert_eq!(
            room.refused("read_file", json!({"path": "a"})),
            (PolicyBlocked, "there is no workspace in which files can be accessed".to_owned())
        );
    }
}

#[test]
fn a_workspace_named_by_a_link_is_the_same_workspace() {
    let mut room = Room::new(&[("a", "x")]);
    let link = room.outside("link");
    std::os::unix::fs::symlink(room.path(""), &link).unwrap();
    room.stage.workspace.clone_from(&link);
    for path in ["a", link.join("a").to_str().unwrap()] {
        assert_eq!(room.text("read_file", json!({"path": path})), "x", "{path}");
    }
}

#[test]
fn options_that_cannot_be_used_say_why() {
    let list = |text: &str| vec![text.to_owned()];
    for (options, expected) in [
        (
            FileOptions { deny_read: list("a["), ..FileOptions::default() },
            "deny_read: `a[` is not a valid pattern: unclosed character class; missing ']'",
        ),
        (
            FileOptions { allow_read: list("{a"), ..FileOptions::default() },
            "allow_read: `{a` is not a valid pattern: unclosed alternate group; missing '}' (maybe \
             escape '{' with '[{]'?)",
        ),
        (
            FileOptions { directories: vec!["x".into()], ..FileOptions::default() },
            "directories: `x` is not an absolute path",
        ),
        (
            FileOptions { max_output_chars: 1, ..FileOptions::default() },
            "`max_output_chars` must be between 500 and 10000000, got 1",
        ),
    ] {
        let error: FileOptionsError = options.resolve().unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
