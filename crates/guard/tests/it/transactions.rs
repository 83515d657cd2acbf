//! Commands whose effects are undone.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the files are the test's own")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use counterfoil_guard::{
    Answer, Guard, GuardSettings, Requested, SessionStart, ShellExecutor, ShellOptions,
    ShellPolicy, ShellPolicyHandle, StateFolder, Surroundings, ToolEvent, TrustLevel,
};
use counterfoil_model::{Status, ToolErrorCategory};
use counterfoil_tools::{SinceChanged, UndoError, undo_snapshot};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::desk::{call, wait};

fn on() -> ShellOptions {
    ShellOptions { transactional: true, auto_rollback: true, ..ShellOptions::default() }
}

struct Bench {
    root: TempDir,
    guard: Guard,
}

impl Bench {
    fn new(options: ShellOptions) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work", "state"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let policy = ShellPolicy { settings: options.resolve().unwrap(), ..ShellPolicy::default() };
        let settings =
            GuardSettings { shell: ShellPolicyHandle::new(policy), ..GuardSettings::default() };
        let state = StateFolder::at(root.path().join("state"));
        let shell = ShellExecutor::new(settings.shell.clone()).keeping_snapshots(state.snapshots());
        let guard = Guard::builder()
            .settings(settings)
            .executor(shell)
            .state(state)
            .workspace(root.path().join("work"))
            .build()
            .unwrap();
        Self { root, guard }
    }

    fn work(&self) -> std::path::PathBuf {
        self.root.path().join("work")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.work().join(name), text).unwrap();
    }

    fn run(&self, command: &str) -> Answer {
        self.run_as(command, Requested::ByModel)
    }

    fn run_as(&self, command: &str, requested: Requested) -> Answer {
        let start = SessionStart {
            id: Some("s".to_owned()),
            trust: TrustLevel::Trusted,
            ..SessionStart::default()
        };
        let session = self.guard.session(start).unwrap();
        let arguments = json!({ "command": command, "timeout_secs": 1 }).to_string();
        let around = Surroundings { requested, ..Surroundings::default() };
        wait(session.call(call("shell", &arguments), around)).unwrap()
    }

    fn audit(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.root.path().join("state/audit.jsonl")).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// All paths in a folder, with their content.
fn tree(folder: &Path) -> Vec<String> {
    fn walk(root: &Path, folder: &Path, out: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let metadata = path.symlink_metadata().unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            if metadata.is_symlink() {
                out.push(format!("{name} -> {}", fs::read_link(&path).unwrap().display()));
            } else if metadata.is_dir() {
                out.push(format!("{name}/ {mode:o}"));
                walk(root, &path, out);
            } else {
                out.push(format!("{name} {mode:o} {:?}", fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut out = Vec::new();
    walk(folder, folder, &mut out);
    out.sort();
    out
}

/// Creates the initial content of the workspace.
fn furnish(bench: &Bench) {
    bench.write("a.txt", "one\n");
    bench.write("run.sh", "echo\n");
    fs::set_permissions(bench.work().join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::create_dir_all(bench.work().join("d/deep")).unwrap();
    bench.write("d/b.txt", "two\n");
    bench.write("d/deep/c.txt", "three\n");
    symlink("a.txt", bench.work().join("link")).unwrap();
}

/// INVARIANT: the effects of a failed command are undone: content, modes, links, deleted files and
/// created files.
#[test]
fn a_failed_command_is_undone() {
    for (command, code) in [
        ("echo x > a.txt; exit 1", 1),
        ("echo x >> a.txt && rm run.sh && exit 2", 2),
        ("chmod 600 run.sh; echo y > run.sh; exit 1", 1),
        ("rm -r d; exit 1", 1),
        ("mv a.txt z.txt; exit 1", 1),
        ("echo n > new.txt; exit 1", 1),
        ("mkdir -p made/in && echo n > made/in/f; exit 1", 1),
        ("rm link; exit 1", 1),
        ("echo through > link; exit 1", 1),
        ("ln -sf run.sh link; exit 1", 1),
        ("rm a.txt; mkdir a.txt; touch a.txt/x; exit 1", 1),
        ("rm *.txt; exit 1", 1),
        ("sed -i s/one/two/ a.txt; exit 1", 1),
        ("truncate -s 0 a.txt d/b.txt; exit 1", 1),
        ("cp a.txt d/b.txt; exit 1", 1),
        ("echo x | tee a.txt d/b.txt; exit 1", 1),
    ] {
        let bench = Bench::new(on());
        furnish(&bench);
        let before = tree(&bench.work());
        let mut events = bench.guard.events();
        let answer = bench.run(command);
        assert_eq!(answer.exit_code, Some(code), "{command}: {}", answer.text);
        assert_eq!(answer.status, Status::RolledBack, "{command}: {}", answer.text);
        let mut received = std::iter::from_fn(|| events.try_recv().ok());
        assert!(
            received.any(|event| matches!(event.what, ToolEvent::Rollback { .. })),
            "{command}"
        );
        assert_eq!(answer.category, Some(ToolErrorCategory::PermanentFailure));
        assert!(answer.text.contains("[undone: "), "{command}: {}", answer.text);
        let after = tree(&bench.work());
        // A folder of which only a file was named may stay, empty.
        let after: Vec<&String> = after.iter().filter(|path| !path.starts_with("made")).collect();
        assert_eq!(after, before.iter().collect::<Vec<_>>(), "{command}");
        let receipt = bench.guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        assert_eq!((receipt.status, receipt.side_effects.len()), (Status::RolledBack, 0));
        let audit = bench.audit();
        let line = audit.iter().find(|line| line["tool"] == "shell").unwrap();
        assert!(line["result"].get("rollback").is_some(), "{line}");
    }
}

/// What the text does not name is kept with the whole workspace.
#[test]
fn files_that_a_command_does_not_name_are_restored() {
    for command in [
        r"find . -name a.txt -exec rm {} \; ; exit 1",
        "find . -name a.txt -delete; exit 1",
        "ls a.txt | xargs rm; exit 1",
        "ls *.txt | while read x; do rm \"$x\"; done; exit 1",
    ] {
        let bench = Bench::new(on());
        bench.write("a.txt", "mine");
        let answer = bench.run(command);
        assert_eq!(answer.status, Status::RolledBack, "{command}: {}", answer.text);
        let there = fs::read_to_string(bench.work().join("a.txt"));
        assert_eq!(there.ok().as_deref(), Some("mine"), "{command}: {}", answer.text);
    }
}

#[test]
fn only_the_configured_exit_codes_undo_and_nothing_is_undone_by_default() {
    let cases = [
        (on(), "echo x > a.txt", Status::Completed, "x\n"),
        (on(), "echo x > a.txt; exit 3", Status::Failed, "x\n"),
        (
            ShellOptions { auto_rollback_exit_codes: vec![3], ..on() },
            "echo x > a.txt; exit 3",
            Status::RolledBack,
            "one\n",
        ),
        (
            ShellOptions { auto_rollback: false, ..on() },
            "echo x > a.txt; exit 1",
            Status::Failed,
            "x\n",
        ),
        (ShellOptions::default(), "echo x > a.txt; exit 1", Status::Failed, "x\n"),
        // Out of scope.
        (
            ShellOptions { transaction_scope: vec!["src/**".to_owned()], ..on() },
            "echo x > a.txt; exit 1",
            Status::Failed,
            "x\n",
        ),
        // Killed while running.
        (
            ShellOptions { auto_rollback_exit_codes: vec![137], ..on() },
            "echo x > a.txt; sleep 1000",
            Status::RolledBack,
            "one\n",
        ),
        // Over the size limit, and the snapshot is optional.
        (
            ShellOptions { max_snapshot_bytes: 3, ..on() },
            "echo x > a.txt; exit 1",
            Status::Failed,
            "x\n",
        ),
        (
            ShellOptions { max_snapshot_bytes: 4, ..on() },
            "echo x > a.txt; exit 1",
            Status::RolledBack,
            "one\n",
        ),
    ];
    for (options, command, status, text) in cases {
        let bench = Bench::new(options);
        furnish(&bench);
        let answer = bench.run(command);
        assert_eq!(answer.status, status, "{command}: {}", answer.text);
        assert_eq!(fs::read_to_string(bench.work().join("a.txt")).unwrap(), text, "{command}");
    }
}

/// INVARIANT: a command does not run if its required snapshot cannot be taken. The user's own
/// commands run without one; being the user's has no other effect here.
#[test]
fn a_required_snapshot_over_the_cap_is_an_error() {
    let options = ShellOptions { snapshot_required: true, max_snapshot_bytes: 3, ..on() };
    let bench = Bench::new(options);
    furnish(&bench);
    let answer = bench.run("echo x > a.txt");
    assert_eq!(answer.status, Status::Failed);
    let expected = "the command did not run: cannot take a snapshot of the files it would write: \
                    the snapshot would exceed the limit of 3 bytes";
    assert!(answer.text.contains(expected), "{}", answer.text);
    assert_eq!(fs::read_to_string(bench.work().join("a.txt")).unwrap(), "one\n");
    // There is nothing to copy.
    assert_eq!(bench.run("echo x > new.txt").status, Status::Completed);
    assert_eq!(bench.run("ls").status, Status::Completed);
    let mine = bench.run_as("echo x > a.txt; exit 1", Requested::ByUser);
    assert_eq!(mine.status, Status::Failed);
    assert_eq!(fs::read_to_string(bench.work().join("a.txt")).unwrap(), "x\n");
    assert_eq!(bench.run_as("sudo true", Requested::ByUser).status, Status::Denied);
}

/// INVARIANT: a snapshot is deleted with its command, whether it succeeded or was undone.
#[test]
fn no_snapshot_remains() {
    let there = || -> BTreeSet<String> {
        let entries = fs::read_dir(std::env::temp_dir()).unwrap();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let own = format!("counterfoil-snapshot-{}-", std::process::id());
        names.filter(|name| name.starts_with(&own)).collect()
    };
    let bench = Bench::new(on());
    furnish(&bench);
    for command in ["echo x > a.txt", "echo x > a.txt; exit 1", "echo x > a.txt; exit 9"] {
        bench.run(command);
        // Other tests of this process take snapshots, too; theirs are deleted as well.
        let after = there();
        let begun = Instant::now();
        while there().intersection(&after).next().is_some() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{command}");
            std::thread::yield_now();
        }
    }
    assert!(!bench.root.path().join("state/snapshots").exists());
}

/// INVARIANT: what cannot be restored is a hard error that names each file.
#[test]
fn a_partial_restore_names_each_file() {
    let bench = Bench::new(ShellOptions { keep_snapshots: 1, auto_rollback: false, ..on() });
    furnish(&bench);
    let answer = bench.run("echo x > a.txt; echo y > d/b.txt; echo z > new.txt");
    let kept = bench.root.path().join("state/snapshots");
    let folder = fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    // One of the copies is missing.
    let copies: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let copy = copies.iter().find(|path| fs::read_to_string(path).is_ok_and(|t| t == "one\n"));
    fs::remove_file(copy.unwrap()).unwrap();
    let error = undo_snapshot(&kept, &answer.execution_id, SinceChanged::Refuse).unwrap_err();
    let UndoError::Partial(failed) = &error else { panic!("{error}") };
    assert_eq!(failed.len(), 1, "{error}");
    assert!(failed[0].contains("a.txt: "), "{error}");
    assert_eq!(fs::read_to_string(bench.work().join("d/b.txt")).unwrap(), "two\n");
    assert!(!bench.work().join("new.txt").exists());
}

#[test]
fn the_last_snapshots_are_kept_and_undo_a_command_that_succeeded() {
    let bench = Bench::new(ShellOptions { keep_snapshots: 2, ..on() });
    furnish(&bench);
    let kept = bench.root.path().join("state/snapshots");
    let first = bench.run("echo first > a.txt");
    let second = bench.run("rm -r d");
    let third = bench.run("echo third > a.txt");
    let undo = |id: &str, changed| undo_snapshot(&kept, id, changed);
    let gone = UndoError::NoSnapshot(first.execution_id.clone());
    assert_eq!(undo(&first.execution_id, SinceChanged::Refuse), Err(gone));
    let done = undo(&second.execution_id, SinceChanged::Refuse).unwrap();
    assert_eq!((done.restored, done.deleted), (4, 0));
    assert_eq!(fs::read_to_string(bench.work().join("d/deep/c.txt")).unwrap(), "three\n");
    // The file was changed afterwards.
    bench.write("a.txt", "mine\n");
    let error = undo(&third.execution_id, SinceChanged::Refuse).unwrap_err();
    assert!(matches!(&error, UndoError::ChangedSince(files) if files.len() == 1), "{error}");
    assert_eq!(fs::read_to_string(bench.work().join("a.txt")).unwrap(), "mine\n");
    undo(&third.execution_id, SinceChanged::Overwrite).unwrap();
    assert_eq!(fs::read_to_string(bench.work().join("a.txt")).unwrap(), "first\n");
    let mode = kept.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
}

/// INVARIANT: files are restored only inside the workspace, whatever the command replaced its
/// folders with; a folder that became a link is reported.
#[test]
fn nothing_is_restored_through_a_link() {
    for (name, there, command) in [
        ("written", "sub/file", "echo y > sub/file"),
        ("removed", "sub/file", "echo y > sub/kept"),
        ("made", "sub/d/file", "rm sub/d/file"),
        ("folder", "sub/file", "mkdir sub/new"),
    ] {
        let bench = Bench::new(on());
        let outside = bench.root.path().join("outside");
        fs::create_dir(&outside).unwrap();
        for file in ["file", "kept"] {
            fs::write(outside.join(file), "mine\n").unwrap();
        }
        fs::create_dir(outside.join("new")).unwrap();
        let before = tree(&outside);
        fs::create_dir_all(bench.work().join(there).parent().unwrap()).unwrap();
        bench.write(there, "chosen by the model\n");
        // In a script, so that the command itself does not show it.
        bench.write("swap.sh", &format!("mv sub old\nln -s {} sub\n", outside.display()));
        let answer = bench.run(&format!("{command}; sh swap.sh; exit 1"));
        assert_eq!(tree(&outside), before, "{name}: {}", answer.text);
        assert_eq!(answer.status, Status::Failed, "{name}: {}", answer.text);
        assert!(answer.text.contains("is now a link, not a folder"), "{name}: {}", answer.text);
    }
}

/// INVARIANT: a snapshot copies nothing from outside the workspace.
#[test]
fn nothing_outside_is_copied() {
    let bench = Bench::new(on());
    let outside = bench.root.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("key"), "secret\n").unwrap();
    symlink(&outside, bench.work().join("a")).unwrap();
    bench.write("swap.sh", "unlink a\nmkdir a\n");
    bench.run("echo x > a/key; sh swap.sh; exit 1");
    assert!(!bench.work().join("a/key").exists());
}

/// INVARIANT: undo never touches what the command did not create.
#[test]
fn undo_leaves_alone_what_somebody_put_there_since() {
    for (command, mine) in [
        ("mkdir out", "out/mine"),
        ("mkdir -p out/a/b", "out/a/mine"),
        ("mkdir -p out/a/b", "out/mine"),
        ("mkdir src; echo 1 > src/f; cp -r src out", "out/mine"),
        ("mkdir out && echo 1 > out/f", "out/deep/mine"),
    ] {
        let bench = Bench::new(ShellOptions { keep_snapshots: 2, auto_rollback: false, ..on() });
        let before = tree(&bench.work());
        let kept = bench.root.path().join("state/snapshots");
        let answer = bench.run(command);
        fs::create_dir_all(bench.work().join(mine).parent().unwrap()).unwrap();
        bench.write(mine, "mine\n");
        let undo = |changed| undo_snapshot(&kept, &answer.execution_id, changed);
        let error = undo(SinceChanged::Refuse).unwrap_err();
        assert!(matches!(&error, UndoError::InTheWay(files) if files.len() == 1), "{error}");
        let error = undo(SinceChanged::Overwrite).unwrap_err();
        let UndoError::Partial(failed) = &error else { panic!("{error}") };
        assert!(failed.iter().all(|f| f.contains("command did not create")), "{error}");
        assert_eq!(fs::read_to_string(bench.work().join(mine)).unwrap(), "mine\n", "{command}");
        // Once the foreign file is moved away, everything is removed.
        let top = mine.split('/').nth(1).unwrap();
        let path = bench.work().join("out").join(top);
        if path.is_dir() && top == "deep" {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(bench.work().join(mine)).unwrap()
        }
        undo(SinceChanged::Overwrite).unwrap();
        assert_eq!(tree(&bench.work()), before, "{command}");
    }
}

#[test]
fn what_is_put_back_keeps_its_time() {
    let bench = Bench::new(on());
    furnish(&bench);
    let path = bench.work().join("a.txt");
    let old = std::time::UNIX_EPOCH + Duration::new(1_600_000_000, 123_456_789);
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    assert_eq!(bench.run("echo x > a.txt; exit 1").status, Status::RolledBack);
    assert_eq!(path.metadata().unwrap().modified().unwrap(), old);
}
