//! Opening checks what is there before anything is added.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};

use counterfoil_ledger::{KeyFileError, OpenLedgerError};
use rusqlite::Connection;

use super::*;

type Opened = Result<(Ledger, Vec<String>), OpenLedgerError>;

fn try_open(path: &Path, now: i64) -> Opened {
    let randomness = Arc::new(Counted(1000.into()));
    Ledger::open(path, settings(Durability::Os), SetClock::at(now), randomness)
}

/// A ledger with one execution, edited and opened again.
fn reopened(edit: impl FnOnce(&Path)) -> (tempfile::TempDir, Opened) {
    let folder = tempfile::tempdir().unwrap();
    execute(&open(folder.path(), Durability::Os), "s", &id(1), b"done");
    edit(&folder.path().join("ledger.db"));
    let opened = try_open(&folder.path().join("ledger.db"), NOW);
    (folder, opened)
}

#[test]
fn no_other_user_may_read_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path(), Durability::Batch);
    execute(&ledger, "s", &id(1), b"done");
    let mut files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, entry.metadata().unwrap().mode() & 0o777)
        })
        .collect();
    files.sort();
    let names = ["", "-log", "-shm", "-wal", ".key"];
    let expected: Vec<_> = names.map(|end| (format!("ledger.db{end}"), 0o600)).into();
    assert_eq!(files, expected);
}

#[test]
fn a_file_that_others_could_read_is_closed_to_them() {
    let (_folder, opened) =
        reopened(|path| fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap());
    let notices = opened.unwrap().1;
    assert_eq!(
        notices,
        ["other users could access the ledger (mode 644); changed its mode to 600"]
    );
}

#[test]
fn a_key_that_cannot_be_trusted_is_refused() {
    let key = |path: &Path| path.with_file_name("ledger.db.key");
    let (folder, opened) = reopened(|path| {
        fs::set_permissions(key(path), fs::Permissions::from_mode(0o640)).unwrap();
    });
    let path = folder.path().join("ledger.db.key");
    let exposed = KeyFileError::Exposed { path: path.clone(), mode: 0o640 };
    assert_eq!(opened.unwrap_err(), OpenLedgerError::Key(exposed));

    let (folder, opened) = reopened(|path| fs::remove_file(key(path)).unwrap());
    let path = folder.path().join("ledger.db.key");
    assert_eq!(opened.unwrap_err(), OpenLedgerError::MissingKey { path: path.clone() });
    assert!(!path.exists(), "no key is made for a ledger that has one");

    let other = tempfile::tempdir().unwrap();
    try_open(&other.path().join("ledger.db"), NOW).unwrap();
    let (folder, opened) = reopened(|path| {
        fs::copy(other.path().join("ledger.db.key"), key(path)).unwrap();
    });
    let path = folder.path().join("ledger.db.key");
    assert_eq!(opened.unwrap_err(), OpenLedgerError::ForeignKey { path });

    for text in ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
        let (folder, opened) = reopened(|path| fs::write(key(path), text).unwrap());
        let path = folder.path().join("ledger.db.key");
        assert_eq!(opened.unwrap_err(), OpenLedgerError::Key(KeyFileError::NotAKey { path }));
    }
}

#[test]
fn what_is_no_ledger_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let not_a_ledger = OpenLedgerError::NotALedger { path: path.clone() };
    fs::write(&path, "a text that is longer than the header of a database ".repeat(40)).unwrap();
    assert_eq!(try_open(&path, NOW).unwrap_err(), not_a_ledger);
    fs::remove_file(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    connection.close().unwrap();
    assert_eq!(try_open(&path, NOW).unwrap_err(), not_a_ledger);
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
    assert!(matches!(try_open(&path, NOW).unwrap_err(), OpenLedgerError::Unwritable { .. }));
    let nowhere = folder.path().join("no/such/folder/ledger.db");
    assert!(matches!(try_open(&nowhere, NOW).unwrap_err(), OpenLedgerError::Unwritable { .. }));
}

#[test]
fn a_newer_or_damaged_ledger_is_refused() {
    let sql = |path: &Path, sql: &str| {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
    };
    let (folder, opened) = reopened(|path| sql(path, "PRAGMA user_version = 2"));
    let path = folder.path().join("ledger.db");
    assert_eq!(opened.unwrap_err(), OpenLedgerError::Newer { path, version: 2 });

    let corrupt = |edit: &dyn Fn(&Path), expected: &str| {
        let (_folder, opened) = reopened(|path| edit(path));
        match opened {
            Err(OpenLedgerError::Corrupt { what, .. }) => assert_eq!(what, expected),
            other => panic!("{other:?}"),
        }
    };
    corrupt(
        &|path| {
            sql(path, "DROP TRIGGER events_stay; UPDATE events SET body = x'7b7d' WHERE seq = 1");
        },
        "the ledger is broken: event 1 does not match its digest",
    );
    corrupt(&|path| sql(path, "DROP TRIGGER keys_remain; DELETE FROM keys"), "it has no key");
    corrupt(
        &|path| sql(path, "DROP INDEX events_of_session; DROP TABLE events"),
        "no such table: events",
    );
}

#[test]
fn a_clock_that_went_back_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    execute(&open(folder.path(), Durability::Os), "s", &id(1), b"done");
    let path = folder.path().join("ledger.db");
    let notices = try_open(&path, NOW - 90_000).unwrap().1;
    assert_eq!(notices, ["the system clock went backwards: the last event is 90 s in the future"]);
    let (ledger, notices) = try_open(&path, NOW).unwrap();
    assert_eq!(notices, [] as [&str; 0]);
    drop(ledger);
    let (ledger, _) = try_open(&path, NOW - 90_000).unwrap();
    execute(&ledger, "s", &id(2), b"done");
    let found = ledger.verify(&Default::default(), &mut |_| {}).unwrap();
    assert_eq!((found.clock_went_back, found.broken), (1, None));
}

#[test]
fn a_key_that_was_there_before_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path(), Durability::Os).public_key();
    fs::remove_file(folder.path().join("ledger.db")).unwrap();
    assert_eq!(try_open(&folder.path().join("ledger.db"), NOW).unwrap().0.public_key(), first);
}

#[test]
fn a_rotation_that_was_interrupted_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path(), Durability::Os);
    execute(&ledger, "s", &id(1), b"done");
    let key = folder.path().join("ledger.db.key");
    let before = fs::read(&key).unwrap();
    let public = ledger.rotate_key().unwrap();
    // As if the process had died after the ledger recorded the key and before the file was in
    // place.
    fs::rename(&key, key.with_extension("key.next")).unwrap();
    fs::write(&key, before).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    drop(ledger);
    let (ledger, _) = try_open(&folder.path().join("ledger.db"), NOW).unwrap();
    assert_eq!(ledger.public_key(), public);
    execute(&ledger, "s", &id(2), b"done");
    assert!(ledger.verify(&Default::default(), &mut |_| {}).unwrap().holds());
}

#[test]
fn two_that_have_it_open_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let one = open(folder.path(), Durability::Os);
    let two = try_open(&path, NOW).unwrap().0;
    std::thread::scope(|scope| {
        for (ledger, half) in [(&one, 0..300_u32), (&two, 300..600)] {
            scope.spawn(move || {
                half.for_each(|n| {
                    drop(ledger.open_execution("s", opened(&id(n)), None).wait().unwrap())
                });
            });
        }
    });
    let seqs: Vec<_> = one.events("s").unwrap().iter().map(|event| event.session_seq).collect();
    assert_eq!(seqs, (1..=600).collect::<Vec<u64>>());
    assert_eq!(two.calls_made("s"), Ok(600));
    // An unfinished write of one process is cut off by the other.
    let log = folder.path().join("ledger.db-log");
    let end = fs::read(&log).unwrap().iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let file = fs::OpenOptions::new().write(true).open(&log).unwrap();
    file.write_all_at(&[7; 100], u64::try_from(end).unwrap()).unwrap();
    execute(&two, "s", &id(900), b"done");
    execute(&one, "s", &id(901), b"done");
    assert_eq!(two.events("s").unwrap().len(), 604);
    // A key replaced by one process is picked up by the other.
    let public = one.rotate_key().unwrap();
    execute(&two, "s", &id(1000), b"done");
    assert!(two.checkpoint().unwrap().is_signed_by(&public));
    assert!(one.verify(&Default::default(), &mut |_| {}).unwrap().holds());
}
