//! A store as its callers use it.

#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(
    clippy::disallowed_methods,
    reason = "files are damaged on purpose, and this binary runs itself to be killed"
)]

mod claims;
mod crash;
mod damaged;
mod notes;
mod opening;
mod search;
mod speed;
mod summaries;
mod tasks;

use std::path::{Path, PathBuf};

use counterfoil_agent::{CatchUp, NewTask, Note, NoteOrigin, Store, TaskId};
use tempfile::TempDir;

/// A folder that is gone at the end, and where a store would be in it.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    (folder, path)
}

fn open(path: &Path) -> Store {
    Store::open(path).unwrap()
}

fn note(text: &str) -> Note {
    Note { text: text.to_owned(), session: None, origin: NoteOrigin::User, at: 1_700_000_000_000 }
}

/// Reads the whole file and looks for damage.
fn check(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let check = |row: &rusqlite::Row<'_>| row.get(0);
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], check).unwrap();
    assert_eq!(found, "ok");
}

fn task(next_at: i64) -> NewTask {
    NewTask {
        session: "a".to_owned(),
        workspace: "/here".to_owned(),
        phrase: "every second".to_owned(),
        schedule: r#"{"every": 1000}"#.to_owned(),
        prompt: "look at the build".to_owned(),
        next_at: Some(next_at),
        catch_up: CatchUp::All,
        created_at: 0,
    }
}

fn add_task(store: &Store) -> TaskId {
    store.add_task(&task(0)).unwrap()
}
