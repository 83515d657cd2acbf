//! Files that are refused stay as they are, byte for byte.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use counterfoil_agent::{NoteError, Store, StoreError};
use rusqlite::Connection;

use super::{note, open, place};

/// Makes a store with some notes in the file, closed.
fn make(path: &Path) {
    let store = open(path);
    for number in 0..200 {
        store.save(&note(&format!("note {number} about the port of a server")), None).unwrap();
    }
}

fn change(path: &Path, act: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    act(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

/// Damages a store, opens it, and compares the file before and after.
fn check(damage: impl FnOnce(&Path), expected: impl FnOnce(&StoreError) -> bool) {
    let (_folder, path) = place();
    make(&path);
    damage(&path);
    let before = std::fs::read(&path).unwrap();
    let refused = Store::open(&path).map(|_| ()).unwrap_err();
    assert!(expected(&refused.why), "{refused:?}");
    assert!(refused.to_string().contains("agent.sqlite"), "{refused}");
    assert!(!refused.why.help().is_empty());
    assert!(std::fs::read(&path).unwrap() == before, "{refused}: the file was changed");
}

fn sql(path: &Path, statements: &str) {
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

#[test]
fn a_text_file() {
    let text = "This is no database. ".repeat(100);
    check(
        |path| std::fs::write(path, text).unwrap(),
        |error| matches!(error, StoreError::NotAStore),
    );
}

#[test]
fn a_few_bytes() {
    check(
        |path| std::fs::write(path, "x").unwrap(),
        |error| matches!(error, StoreError::NotAStore),
    );
}

#[test]
fn a_database_of_somebody_else() {
    let make = |path: &Path| {
        std::fs::remove_file(path).unwrap();
        sql(path, "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')");
    };
    check(make, |error| matches!(error, StoreError::NotAStore));
}

#[test]
fn a_newer_version() {
    let newer = |path: &Path| sql(path, "PRAGMA user_version = 7");
    check(newer, |error| matches!(error, StoreError::Newer(7)));
}

#[test]
fn a_newer_version_whose_process_was_killed() {
    let newer = |path: &Path| {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA user_version = 7").unwrap();
        // A copy without its lock: the change is in the log only.
        let wal = path.with_file_name("agent.sqlite-wal");
        let (file, log) = (std::fs::read(path).unwrap(), std::fs::read(&wal).unwrap());
        drop(connection);
        std::fs::write(path, file).unwrap();
        std::fs::write(wal, log).unwrap();
    };
    check(newer, |error| matches!(error, StoreError::Newer(7)));
}

#[test]
fn tables_that_are_gone() {
    let empty = |path: &Path| {
        std::fs::remove_file(path).unwrap();
        sql(path, "PRAGMA application_id = 0x43464153; PRAGMA user_version = 1");
    };
    check(empty, |error| matches!(error, StoreError::Corrupt(_)));
}

#[test]
fn truncated_files() {
    for left in [50, 100, 2000, 4096, 8192, 20_000] {
        check(
            |path| change(path, |bytes| bytes.truncate(left)),
            |error| matches!(error, StoreError::Corrupt(_) | StoreError::NotAStore),
        );
    }
}

#[test]
fn a_damaged_first_page() {
    check(
        |path| change(path, |bytes| bytes[100..4096].fill(0x5a)),
        |error| matches!(error, StoreError::Corrupt(_)),
    );
}

#[test]
fn a_read_only_file() {
    let forbid = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o400)).unwrap();
    };
    check(forbid, |error| matches!(error, StoreError::ReadOnly));
}

#[test]
fn damage_further_back_is_an_error_of_what_meets_it() {
    let (_folder, path) = place();
    make(&path);
    change(&path, |bytes| {
        let half = bytes.len() / 2;
        bytes[half..].fill(0x5a);
    });
    let before = std::fs::read(&path).unwrap();
    let store = open(&path);
    let failed = [store.list(5).map(|_| ()), store.search("port", None, 5).map(|_| ())];
    for failed in failed {
        assert!(matches!(failed, Err(StoreError::Corrupt(_))), "{failed:?}");
    }
    let saved = store.save(&note("one more"), None);
    assert!(matches!(saved, Err(NoteError::Storage(StoreError::Corrupt(_)))), "{saved:?}");
    drop(store);
    assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
}

#[test]
fn an_empty_file_becomes_a_store() {
    let (_folder, path) = place();
    std::fs::write(&path, "").unwrap();
    open(&path).save(&note("kept"), None).unwrap();
    assert_eq!(open(&path).list(9).unwrap().len(), 1);
}
