//! If the record cannot be kept, the result is a clear error or a denied call, never an unrecorded
//! execution.
#![expect(clippy::disallowed_methods, reason = "files of the state folder are spoiled")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counterfoil_guard::{
    BuildGuardError, CallError, FunctionExecutor, Guard, GuardSettings, ORDER, StateFolder,
    Surroundings, ToolError,
};
use counterfoil_ledger::{Draft, Durability, OnFailure};
use counterfoil_model::Status;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::desk::{call, run, session, shop, tool, wait};

/// A guard with its record in this folder, and a counter of its tool's runs.
fn kept(folder: &TempDir, settings: GuardSettings) -> (Guard, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let touch = FunctionExecutor::new(tool("touch", json!({}), Some(true)), move |_: &Value| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ToolError>("touched")
    });
    let state = StateFolder::at(folder.path());
    let guard = Guard::builder().executor(touch).settings(settings).state(state).build().unwrap();
    (guard, runs)
}

#[test]
fn what_cannot_be_opened_is_reported_before_anything_runs() {
    type Spoil = fn(&StateFolder);
    let cases: [(&str, Spoil, &str); 4] = [
        (
            "the ledger is no database",
            |f| std::fs::write(f.ledger(), "x".repeat(5_000)).unwrap(),
            "ledger",
        ),
        ("the ledger is a folder", |f| std::fs::create_dir(f.ledger()).unwrap(), "ledger"),
        ("the audit log is a folder", |f| std::fs::create_dir(f.audit()).unwrap(), "audit"),
        (
            "the audit log is a link",
            |f| std::os::unix::fs::symlink("/dev/null", f.audit()).unwrap(),
            "audit",
        ),
    ];
    for (name, spoil, expected) in cases {
        let folder = TempDir::new().unwrap();
        let state = StateFolder::at(folder.path());
        spoil(&state);
        let error = shop().state(state).build().unwrap_err();
        match (&error, expected) {
            (BuildGuardError::Ledger(error), "ledger") => assert!(!error.help().is_empty()),
            (BuildGuardError::Audit(error), "audit") => assert!(!error.help().is_empty()),
            _ => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn a_result_that_cannot_be_audited_does_not_leave() {
    for (on_failure, leaves) in [(OnFailure::Deny, false), (OnFailure::Continue, true)] {
        let folder = TempDir::new().unwrap();
        let mut settings = GuardSettings::default();
        settings.audit.on_failure = on_failure;
        let (guard, runs) = kept(&folder, settings);
        let session = session(&guard, "s");
        assert_eq!(wait(run(&session, "touch", "{}")).status, Status::Completed);
        // The log is truncated.
        std::fs::write(StateFolder::at(folder.path()).audit(), "").unwrap();
        let answer = wait(session.call(call("touch", "{}"), Surroundings::default()));
        match (answer, leaves) {
            (Ok(answer), true) => assert_eq!(answer.text, "touched"),
            (Err(CallError::NotAudited(error)), false) => {
                assert!(error.to_string().contains("was truncated by another program"), "{error}");
            }
            (other, _) => panic!("{other:?}"),
        }
        // The executed call is in the ledger, whatever happened to the audit log.
        assert_eq!(runs.load(Ordering::SeqCst), 2);
        let events = guard.ledger().events("s").unwrap();
        let closed = events.iter().filter(|event| matches!(event.draft, Draft::Closed(_)));
        assert_eq!(closed.count(), 2);
    }
}

#[test]
fn a_call_whose_intent_cannot_be_recorded_does_not_run() {
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil); 2] = [
        // The log has events that the tables do not have yet.
        ("-log", |log| {
            std::fs::File::options().write(true).open(log).unwrap().set_len(100).unwrap()
        }),
        ("", |ledger| {
            let connection = rusqlite::Connection::open(ledger).unwrap();
            connection.execute_batch("DROP TABLE events").unwrap();
        }),
    ];
    for (file, spoil) in cases {
        let folder = TempDir::new().unwrap();
        let mut settings = GuardSettings::default();
        // Otherwise, a signature is written after the answer, possibly into the part that is
        // corrupted here.
        settings.ledger.durability = Durability::Os;
        let (guard, runs) = kept(&folder, settings);
        let session = session(&guard, "s");
        assert_eq!(wait(run(&session, "touch", "{}")).status, Status::Completed);
        let ledger = StateFolder::at(folder.path()).ledger();
        spoil(&folder.path().join(format!("{}{file}", ledger.file_name().unwrap().display())));
        for _ in 0..2 {
            let answer = wait(session.call(call("touch", "{}"), Surroundings::default()));
            assert!(matches!(answer, Err(CallError::NotRecorded(_))), "{file}: {answer:?}");
            assert_eq!(runs.load(Ordering::SeqCst), 1);
        }
    }
}

#[test]
fn every_guard_has_the_same_chain() {
    let folder = TempDir::new().unwrap();
    let bare = Guard::builder().build().unwrap();
    let in_memory = shop().build().unwrap();
    let (on_disk, _) = kept(&folder, GuardSettings { quota: Some(1), ..GuardSettings::default() });
    for guard in [bare, in_memory, on_disk] {
        assert_eq!(guard.gates().ids(), ORDER);
    }
}
