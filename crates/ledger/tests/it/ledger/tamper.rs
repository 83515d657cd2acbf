//! Every edit of the file is found.

use std::collections::BTreeSet;
use std::path::Path;

use counterfoil_ledger::{
    Checkpoint, Expected, HeldAgainst, LedgerSettings, PublicKey, Retention, SqliteLedger,
};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use tempfile::TempDir;

use super::*;

/// Every kind of event, in two sessions, signed by two keys.
fn small(folder: &Path) {
    unended(folder);
    open(folder, Durability::Os).append("a", Draft::Ended, Vec::new()).wait().unwrap();
}

/// Every kind of event except the end of a session.
fn unended(folder: &Path) {
    every_kind(&open(folder, Durability::Os));
}

fn every_kind(ledger: &Ledger) {
    ledger.append("a", message("read it"), vec![b"read it".to_vec()]).wait().unwrap();
    execute(ledger, "a", &id(1), b"a result");
    execute(ledger, "b", &id(2), "a longer result ".repeat(40).as_bytes());
    ledger.rotate_key().unwrap();
    ledger.append("b", Draft::Rejected(rejected(&id(3))), Vec::new()).wait().unwrap();
    let shown = Draft::Shown {
        execution_id: id(1),
        digest: Digest::of_bytes(b"shown"),
        filters: vec!["head".to_owned()],
        recorded_bytes: 9,
        shown_bytes: 5,
    };
    ledger.append("a", shown, Vec::new()).wait().unwrap();
    let judged = Draft::Judged {
        answer: Digest::of_bytes(b"I read it"),
        at: NOW,
        window_secs: 0,
        findings: json!([]),
    };
    ledger.append("a", judged, vec![b"I read it".to_vec()]).wait().unwrap();
    let mut retry = opened(&id(4));
    retry.links.retry_of = Some(id(2));
    ledger.append("b", Draft::Opened(retry), Vec::new()).wait().unwrap();
}

/// Enough events that the tree has nodes and some were dropped.
fn dropped(folder: &Path) {
    let settings = LedgerSettings {
        retention: Retention { events_for: Some(Duration::from_secs(60)), ..Retention::default() },
        ..settings(Durability::Os)
    };
    let clock = SetClock::at(NOW);
    let path = folder.join("ledger.db");
    let open = || {
        let randomness = Arc::new(Counted::default());
        Ledger::open(&path, settings.clone(), clock.clone(), randomness).unwrap().0
    };
    let ledger = open();
    (0..200).for_each(|n| execute(&ledger, "a", &id(n), format!("result {n}").as_bytes()));
    clock.set(NOW + 100_000);
    (200..350).for_each(|n| execute(&ledger, "a", &id(n), format!("result {n}").as_bytes()));
    ledger.append("a", Draft::Ended, Vec::new()).wait().unwrap();
    drop(ledger);
    assert_eq!(open().verify(&Expected::default(), &mut |_| {}).unwrap().first, 256);
}

/// What verifying the ledger reports.
fn complaint(folder: &Path, expected: &Expected) -> Option<String> {
    match SqliteLedger::verify_file(&folder.join("ledger.db"), expected, &mut |_| {}) {
        Ok(found) => found.broken.map(|broken| broken.to_string()),
        Err(error) => Some(format!("reading: {error}")),
    }
}

/// A copy of the ledger in `folder`, edited without its triggers.
fn edited(folder: &Path, edit: impl FnOnce(&Connection)) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["ledger.db", "ledger.db.key"] {
        std::fs::copy(folder.join(name), copy.path().join(name)).unwrap();
    }
    let connection = Connection::open(copy.path().join("ledger.db")).unwrap();
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    let triggers: Vec<(String, String)> = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (name, _) in &triggers {
        connection.execute(&format!("DROP TRIGGER {name}"), []).unwrap();
    }
    edit(&connection);
    for (_, sql) in &triggers {
        connection.execute(sql, []).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    connection.close().unwrap();
    copy
}

/// A ledger entirely in one file.
fn made(make: fn(&Path)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    assert_eq!(complaint(folder.path(), &Expected::default()), None);
    let connection = Connection::open(folder.path().join("ledger.db")).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    connection.close().unwrap();
    folder
}

/// Values to which a field could be changed.
fn other_values(table: &str, column: &str, value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![Value::Integer(0), Value::Text("x".to_owned())],
        // Numbers below 256 in a result's id only distinguish the results of one event.
        Value::Integer(n) if column == "id" && table.ends_with("results") => {
            vec![Value::Integer(n + 256), Value::Integer(n - 256)]
        }
        Value::Integer(n) => vec![Value::Integer(n + 1), Value::Integer(n - 1), Value::Null],
        Value::Real(_) => unreachable!("no table has one"),
        Value::Text(text) => {
            let mut values = vec![Value::Text(format!("{text}x")), Value::Null];
            for at in [0, text.len() / 2, text.len().saturating_sub(2)] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1;
                values.extend(String::from_utf8(bytes).map(Value::Text));
            }
            values
        }
        Value::Blob(bytes) => {
            let mut values = vec![Value::Blob(bytes[1..].to_vec()), Value::Null];
            for at in 0..bytes.len() {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1;
                values.push(Value::Blob(bytes));
            }
            // For long texts, the ends and samples of the middle are enough.
            if values.len() > 12 {
                let step = values.len() / 12;
                values = values.into_iter().step_by(step).collect();
            }
            values
        }
    }
}

/// What identifies the rows of a table.
fn key(table: &str) -> &'static str {
    if table == "nodes" { "level || '/' || number" } else { "rowid" }
}

fn rows(connection: &Connection, table: &str) -> (Vec<String>, Vec<Vec<Value>>) {
    let mut statement =
        connection.prepare(&format!("SELECT * FROM {table} ORDER BY {}", key(table))).unwrap();
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let rows = statement
        .query_map([], |row| (0..columns.len()).map(|n| row.get(n)).collect())
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    (columns, rows)
}

fn change_every_field(folder: &Path, tables: &[&str]) -> usize {
    let connection = Connection::open(folder.join("ledger.db")).unwrap();
    let mut changes = 0;
    for table in tables {
        let (columns, rows) = rows(&connection, table);
        let key = key(table);
        let keys: Vec<Value> = connection
            .prepare(&format!("SELECT {key} FROM {table} ORDER BY {key}"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for (row, at) in rows.iter().zip(&keys) {
            for (column, value) in columns.iter().zip(row) {
                for other in other_values(table, column, value) {
                    let mut changed = false;
                    let copy = edited(folder, |connection| {
                        let update = format!("UPDATE {table} SET {column} = ?1 WHERE {key} = ?2");
                        let update = connection.execute(&update, (&other, at));
                        // Edits that the types and constraints of the table refuse need not be
                        // found.
                        changed = update.is_ok();
                    });
                    if changed {
                        let found = complaint(copy.path(), &Expected::default());
                        assert!(
                            found.is_some(),
                            "{table}.{column} of {at:?}: {value:?} became {other:?}"
                        );
                        changes += 1;
                    }
                }
            }
        }
    }
    changes
}

#[test]
fn every_changed_field_is_found() {
    let folder = made(small);
    let tables = ["ledger", "sessions", "events", "checkpoints", "keys", "results"];
    let changes = change_every_field(folder.path(), &tables);
    assert!(changes > 400, "{changes}");
}

/// A copy of a ledger with events still in its log, as left by a killed process.
fn killed(make: fn(&Ledger)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path(), Durability::Os);
    make(&ledger);
    let copy = tempfile::tempdir().unwrap();
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-log", "ledger.db.key"] {
        std::fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    copy
}

#[test]
fn every_changed_byte_of_the_log_is_found() {
    let folder = killed(every_kind);
    let verify = || {
        SqliteLedger::verify_file(
            &folder.path().join("ledger.db"),
            &Expected::default(),
            &mut |_| {},
        )
    };
    let whole = verify().unwrap();
    assert_eq!((whole.broken, whole.events, whole.sessions), (None, 9, 2));
    let path = folder.path().join("ledger.db-log");
    let bytes = std::fs::read(&path).unwrap();
    let found = |changed: &[u8]| {
        std::fs::write(&path, changed).unwrap();
        complaint(folder.path(), &Expected::default())
    };
    // After the last record is preallocated space: zeros, which may also be missing.
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let room = [end + 1, end + 9, usize::midpoint(end, bytes.len()), bytes.len() - 1];
    // The round, in 8 bytes, only lets processes detect changes. Of the middle, every third byte is
    // enough.
    let records = (16..=end).filter(|at| at % 3 == 0 || *at < 600 || at + 600 > end);
    for at in (0..8).chain(records).chain(room) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(found(&changed).is_some(), "byte {at}");
    }
    assert_eq!(found(&bytes[..=end]), None);
    let cut = found(&bytes[..end]).unwrap();
    assert!(
        cut.ends_with("are not an event: they are an incomplete write or were changed"),
        "{cut}"
    );
    assert_eq!(found(&bytes), None);
    std::fs::write(&path, &bytes[..end]).unwrap();
    // Opening the ledger for writing gives a notice, and the complete part continues.
    let (ledger, notices) = Ledger::open(
        &folder.path().join("ledger.db"),
        settings(Durability::Os),
        SetClock::at(NOW),
        Arc::new(Counted::default()),
    )
    .unwrap();
    assert!(notices[0].contains("were an incomplete write and are removed"), "{notices:?}");
    execute(&ledger, "a", &id(50), b"goes on");
    assert!(ledger.verify(&Expected::default(), &mut |_| {}).unwrap().holds());
}

#[test]
fn every_changed_field_of_what_retention_left_is_found() {
    let folder = made(dropped);
    let changes = change_every_field(
        folder.path(),
        &["sessions", "nodes", "checkpoints", "tombstones", "result_tombstones"],
    );
    assert!(changes > 50, "{changes}");
}

#[test]
fn every_deleted_row_is_found() {
    let folder = made(small);
    let connection = Connection::open(folder.path().join("ledger.db")).unwrap();
    for table in ["ledger", "sessions", "events", "checkpoints", "keys", "results"] {
        let ids: Vec<i64> = connection
            .prepare(&format!("SELECT rowid FROM {table}"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for id in ids {
            let copy = edited(folder.path(), |connection| {
                let delete = format!("DELETE FROM {table} WHERE rowid = ?1");
                connection.execute(&delete, [id]).unwrap();
            });
            let found = complaint(copy.path(), &Expected::default());
            // The first of two checkpoints covers nothing that the second does not.
            let spare = table == "checkpoints" && id == 5;
            assert_eq!(found.is_some(), !spare, "row {id} of {table}");
        }
    }
}

#[test]
fn the_first_broken_thing_is_named() {
    let folder = made(small);
    let swap = |connection: &Connection, columns: &str| {
        let (_, before) = rows(connection, "events");
        let set: Vec<String> = columns.split(',').map(|c| format!("{c} = ?")).collect();
        let names = rows(connection, "events").0;
        for (from, to) in [(3, 4), (4, 3)] {
            let values = columns.split(',').map(|column| {
                before[from][names.iter().position(|name| name == column).unwrap()].clone()
            });
            let update = format!("UPDATE events SET {} WHERE seq = {to}", set.join(", "));
            connection.execute(&update, params_from_iter(values)).unwrap();
        }
    };
    let cases: [(&str, &dyn Fn(&Connection)); 6] = [
        ("event 3 (session `b`): it does not continue the previous event", &|c| {
            swap(c, "digest,body");
        }),
        ("event 2: its content does not match its digest", &|c| {
            c.execute(
                "UPDATE events SET body = CAST(replace(body, 'completed', 'cancelled') AS BLOB) WHERE seq = 2",
                [],
            )
            .unwrap();
        }),
        ("event 6: it is missing", &|c| {
            c.execute("DELETE FROM events WHERE seq = 6", []).unwrap();
        }),
        ("event 1 (session `a`): the column `kind` does not match the event", &|c| {
            c.execute("UPDATE events SET kind = 'rejected' WHERE seq = 1", []).unwrap();
        }),
        ("the definition of `events_that_open` was changed", &|c| {
            c.execute("DROP INDEX events_that_open", []).unwrap();
        }),
        ("event 9: no checkpoint covers the end of the session", &|c| {
            c.execute("DELETE FROM checkpoints WHERE size = 10", []).unwrap();
        }),
    ];
    for (expected, edit) in cases {
        let copy = edited(folder.path(), |connection| edit(connection));
        let found = complaint(copy.path(), &Expected::default());
        assert_eq!(found.as_deref(), Some(expected));
    }
}

#[test]
fn a_cut_end_is_found_against_a_checkpoint_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path(), Durability::Batch);
    execute(&ledger, "a", &id(1), b"one");
    let early = ledger.checkpoint().unwrap();
    execute(&ledger, "a", &id(2), b"two");
    let late = ledger.checkpoint().unwrap();
    drop(ledger);
    // Removes everything that belongs to the last two events, as if they had never been written.
    let copy = edited(folder.path(), |connection| {
        connection.execute("DELETE FROM checkpoints WHERE size > 2", []).unwrap();
        connection.execute("DELETE FROM results WHERE id >= 2 * 256", []).unwrap();
        connection.execute("DELETE FROM events WHERE seq >= 2", []).unwrap();
        let note = early.to_string();
        connection
            .execute("INSERT OR REPLACE INTO checkpoints (size, note) VALUES (2, ?1)", [note])
            .unwrap();
    });
    let against = |checkpoint: &Checkpoint| Expected {
        checkpoint: Some(checkpoint.clone()),
        ..Expected::default()
    };
    assert_eq!(complaint(copy.path(), &Expected::default()), None, "nothing else could tell");
    assert_eq!(complaint(copy.path(), &against(&early)), None);
    assert_eq!(
        complaint(copy.path(), &against(&late)).as_deref(),
        Some("event 2: the ledger has 2 events, but the separately kept checkpoint covers 4")
    );
    // A rewritten history has other roots.
    let other = open(copy.path(), Durability::Batch);
    execute(&other, "a", &id(3), b"three");
    drop(other);
    assert_eq!(
        complaint(copy.path(), &against(&late)).as_deref(),
        Some("the separately kept checkpoint was made for different events")
    );
}

#[test]
fn a_replaced_key_is_found_against_a_public_key_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path(), Durability::Os);
    execute(&ledger, "a", &id(1), b"one");
    let (first, checkpoint) = (ledger.public_key(), ledger.checkpoint().unwrap());
    let second = ledger.rotate_key().unwrap();
    execute(&ledger, "a", &id(2), b"two");
    ledger.checkpoint().unwrap();
    // Someone writes the same events into a ledger of their own.
    let forged = tempfile::tempdir().unwrap();
    let other = Ledger::open(
        &forged.path().join("ledger.db"),
        settings(Durability::Os),
        SetClock::at(NOW),
        Arc::new(Counted(77.into())),
    );
    let other = other.unwrap().0;
    execute(&other, "a", &id(1), b"one");
    let own = other.public_key();
    let keys = |keys: &[PublicKey]| Expected { public_keys: keys.to_vec(), checkpoint: None };
    let checkpoint = Expected { checkpoint: Some(checkpoint), ..keys(&[first]) };
    for expected in [keys(&[first]), keys(&[second]), checkpoint.clone()] {
        let found = ledger.verify(&expected, &mut |_| {}).unwrap();
        assert_eq!(found.broken, None);
        assert_eq!(found.public_key, HeldAgainst::Fits);
        let found = other.verify(&expected, &mut |_| {}).unwrap();
        assert!(!found.holds());
        assert_eq!(found.public_key, HeldAgainst::DoesNotFit);
    }
    assert_eq!(ledger.verify(&checkpoint, &mut |_| {}).unwrap().checkpoint, HeldAgainst::Fits);
    let unheld = other.verify(&Expected::default(), &mut |_| {}).unwrap();
    assert_eq!((unheld.broken, unheld.public_key), (None, HeldAgainst::Nothing));
    assert!(other.verify(&keys(&[own]), &mut |_| {}).unwrap().holds());
}

#[test]
fn rows_are_kept_by_triggers() {
    let mut kept = BTreeSet::new();
    let mut every = BTreeSet::new();
    for make in [unended, dropped] {
        let folder = made(make);
        let connection = Connection::open(folder.path().join("ledger.db")).unwrap();
        let tables: Vec<String> = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        every.extend(tables.clone());
        for table in tables {
            let (columns, rows) = rows(&connection, &table);
            if rows.is_empty() {
                continue;
            }
            let column = columns.last().unwrap();
            for edit in
                [format!("DELETE FROM {table}"), format!("UPDATE {table} SET {column} = {column}")]
            {
                let error = connection.execute(&edit, []).unwrap_err().to_string();
                assert!(error.contains("never"), "{edit}: {error}");
            }
            kept.insert(table);
        }
    }
    assert_eq!(kept, every);
}
