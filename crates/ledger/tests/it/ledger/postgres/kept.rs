//! The content of the database stays intact after migration and retention, and edits are found.

use counterfoil_ledger::{Expected, HeldAgainst, MigrateError, Retention};

use super::*;

/// Every kind of row: two keys, two sessions, nodes, results.
fn filled(schema: &Schema) {
    let ledger = schema.open(Durability::Batch);
    // All at once: one by one, each would wait for a transaction of its own.
    let mut pending = Vec::new();
    for number in 0..150 {
        let result = format!("result {number}").into_bytes();
        pending.push(ledger.open_execution("a", opened(&id(number)), None));
        let draft = Draft::Closed(closed(&id(number), &result));
        pending.push(ledger.append("a", draft, vec![result]));
    }
    pending.into_iter().for_each(|event| drop(event.wait().unwrap()));
    ledger.rotate_key().unwrap();
    ledger.append("b", Draft::Rejected(rejected(&id(900))), Vec::new()).wait().unwrap();
    ledger.append("b", message("read it"), vec![b"read it".to_vec()]).wait().unwrap();
}

fn complaint(schema: &Schema) -> Option<String> {
    let expected = Expected::default();
    let found = PostgresLedger::verify_at(&schema.address(), &expected, &mut |_| {});
    found.unwrap().broken.map(|broken| broken.to_string())
}

#[test]
fn triggers_refuse_every_change() {
    let Some(schema) = schema() else { return };
    filled(&schema);
    for statement in [
        "UPDATE events SET body = body WHERE seq = 0",
        "DELETE FROM events WHERE seq = 0",
        "TRUNCATE events",
        "UPDATE results SET bytes = ''",
        "DELETE FROM results",
        "UPDATE nodes SET hash = ''",
        "DELETE FROM nodes",
        "UPDATE checkpoints SET note = ''",
        "DELETE FROM checkpoints",
        "UPDATE keys SET note = ''",
        "DELETE FROM keys",
        "UPDATE sessions SET name = 'x' || name",
        "DELETE FROM sessions",
        "UPDATE ledger SET origin = ''",
        "DELETE FROM ledger",
        "CREATE TEMP TABLE tombstones (cut bigint); INSERT INTO tombstones VALUES (9999);
         DELETE FROM events",
    ] {
        let refused =
            schema.server.try_sql(&format!("SET search_path = {}; {statement}", schema.name));
        let refused = refused.expect_err(statement);
        assert!(
            refused.contains("never changed") || refused.contains("signed tombstone"),
            "{refused}"
        );
    }
    assert_eq!(complaint(&schema), None);
}

#[test]
fn what_a_superuser_edits_is_found() {
    let edits = [
        (
            "UPDATE events SET body = convert_to(replace(convert_from(body, 'UTF8'), 'notes', 'votes'),
             'UTF8') WHERE seq = 10",
            "event 10: its content does not match its digest",
        ),
        ("DELETE FROM events WHERE seq = 299", "event 299: it is missing"),
        ("DELETE FROM events WHERE seq > 299", "a stored result does not belong to any event"),
        ("UPDATE events SET calls = calls + 1 WHERE seq = 20", "the column `calls`"),
        ("UPDATE events SET session_seq = 5000 WHERE seq = 299", "the column `session_seq`"),
        ("UPDATE events SET execution_id = NULL WHERE seq = 0", "the column `execution_id`"),
        ("UPDATE events SET opening = 2 WHERE seq = 1", "the column `opening`"),
        ("UPDATE results SET bytes = '\\x00' WHERE id = 257", "its stored result"),
        ("DELETE FROM results WHERE id = 257", "its stored result"),
        ("UPDATE nodes SET hash = sha256('x')", "node 0 at level 1 of the tree was changed"),
        ("UPDATE nodes SET hash = 'x'", "unexpected query result"),
        ("DELETE FROM keys WHERE number = 1", "is not signed by the key in use at that time"),
        ("UPDATE sessions SET name = 'c' WHERE name = 'b'", "the column `session`"),
        ("UPDATE ledger SET origin = 'x'", "key 0 is not certified"),
        ("UPDATE ledger SET version = 0", "the version of the tables was changed"),
        ("DROP TRIGGER events_stay ON events", "CREATE TRIGGER events_stay"),
        ("ALTER TABLE events DISABLE TRIGGER events_stay", "CREATE TRIGGER events_stay"),
        (
            "CREATE OR REPLACE FUNCTION ledger_refuses() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN RETURN NEW; END'",
            "trigger function",
        ),
        ("DROP INDEX events_that_open", "index `CREATE UNIQUE INDEX events_that_open"),
        ("ALTER TABLE events ALTER kind DROP NOT NULL", "table `events`"),
        ("ALTER TABLE events ENABLE ROW LEVEL SECURITY", "table `events`"),
        ("CREATE TABLE more () INHERITS (events)", "which adds rows"),
        ("CREATE RULE r AS ON INSERT TO events DO INSTEAD NOTHING", "rule `r`"),
    ];
    let found = |(edit, expected): &(&str, &str)| {
        let Some(schema) = schema() else { return };
        filled(&schema);
        assert_eq!(complaint(&schema), None);
        // As a superuser would do it: triggers do not fire.
        schema.sql(&format!("SET session_replication_role = replica; {edit}"));
        let reported = complaint(&schema).unwrap_or_default();
        assert!(reported.contains(expected), "{edit}: {reported}");
    };
    // Mostly waiting for the server.
    std::thread::scope(|scope| {
        for some in edits.chunks(edits.len().div_ceil(3)) {
            scope.spawn(|| some.iter().for_each(found));
        }
    });
}

#[test]
fn a_writer_needs_few_rights_and_forges_nothing() {
    let Some(schema) = schema() else { return };
    filled(&schema);
    let (name, role) = (&schema.name, format!("writer_of_{}", schema.name));
    schema.sql(&format!(
        "CREATE ROLE {role} LOGIN;
         GRANT USAGE ON SCHEMA {name} TO {role};
         GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO {role};
         GRANT INSERT ON events, sessions, nodes, results, checkpoints TO {role};
         GRANT UPDATE (id) ON results TO {role};
         GRANT DELETE ON checkpoints TO {role};"
    ));
    let url = schema.url.replace("user=counterfoil", &format!("user={role}"));
    let ledger = Ledger::from(open_at(&url, &schema.key(), Durability::Batch));
    execute(&ledger, "a", &id(1000), b"by the writer");
    execute(&ledger, "a", &id(1001), b"by the writer");
    assert_eq!(complaint(&schema), None);
    for statement in ["DELETE FROM events", "UPDATE results SET bytes = ''", "DROP TABLE events"] {
        let statement = format!("SET search_path = {name}; SET ROLE {role}; {statement}");
        assert!(schema.server.try_sql(&statement).is_err(), "{statement}");
    }
    // An event that correctly follows the last one, written without a key.
    let last = ledger.events("a").unwrap().pop().unwrap();
    let (seq, session_seq) = (last.seq + 1, last.session_seq + 1);
    schema.sql(&format!(
        "SET ROLE {role};
         WITH forged AS (SELECT convert_to(
             '{{\"at\":1,\"draft\":{{\"event\":\"ended\"}},\"previous\":\"{}\",\"seq\":{seq},\"session\":\"a\",\"session_seq\":{session_seq},\"version\":1}}',
             'UTF8') AS body)
         INSERT INTO events
         SELECT {seq}, 1, {session_seq}, 152, 'ended', NULL, NULL, sha256(body), body FROM forged",
        last.digest
    ));
    let refused = ledger.open_execution("a", opened(&id(1002)), None).wait().unwrap_err();
    assert!(refused.to_string().contains("no signed checkpoint"), "{refused}");
    let reported = complaint(&schema).unwrap();
    assert!(reported.contains("no checkpoint covers"), "{reported}");
}

#[test]
fn a_checkpoint_from_elsewhere_is_held_against() {
    let Some(schema) = schema() else { return };
    filled(&schema);
    let ledger = schema.open(Durability::Batch);
    let checkpoint = Some(ledger.checkpoint().unwrap());
    let public_keys = vec![ledger.public_key()];
    ledger.append("b", Draft::Ended, Vec::new()).wait().unwrap();
    let expected = Expected { checkpoint, public_keys };
    let found = PostgresLedger::verify_at(&schema.address(), &expected, &mut |_| {}).unwrap();
    assert_eq!(found.broken, None);
    assert_eq!((found.checkpoint, found.public_key), (HeldAgainst::Fits, HeldAgainst::Fits));
    let (checkpoint, proof) = ledger.consistency(302).unwrap();
    let old = expected.checkpoint.unwrap();
    assert!(proof.holds((302, &old.root()), (303, &checkpoint.root())));
}

#[test]
fn retention_drops_and_the_rest_verifies() {
    let Some(schema) = schema() else { return };
    let clock = SetClock::at(NOW);
    let open = || {
        let retention = Retention {
            events_for: Some(Duration::from_secs(60)),
            results_bytes: Some(400),
            ..Retention::default()
        };
        let key = Some(schema.key());
        let settings = LedgerSettings { key, retention, ..settings(Durability::Batch) };
        let randomness = Arc::new(Counted::default());
        let opened =
            PostgresLedger::open(&schema.address(), settings, clock.clone(), randomness).unwrap();
        assert_eq!(opened.1, Vec::<String>::new());
        Ledger::from(opened.0)
    };
    let ledger = open();
    (0..200).for_each(|n| execute(&ledger, "a", &id(n), format!("result {n}").as_bytes()));
    clock.set(NOW + 100_000);
    (200..350).for_each(|n| execute(&ledger, "a", &id(n), format!("result {n}").as_bytes()));
    let other = open();
    let found = other.verify(&Expected::default(), &mut |_| {}).unwrap();
    assert_eq!((found.broken, found.first, found.events), (None, 256, 444));
    assert!(found.results < 60 && found.results_dropped > 0, "{}", found.results);
    assert_eq!(ledger.kept_since(), Ok(Some(NOW)));
    execute(&ledger, "a", &id(1000), b"after it");
    assert_eq!(ledger.calls_made("a"), Ok(351));
    assert_eq!(complaint(&schema), None);
}

#[test]
fn a_key_that_one_replica_replaced_is_taken_up_by_the_others() {
    let Some(schema) = schema() else { return };
    let [one, other] = [schema.open(Durability::Batch), schema.open(Durability::Batch)];
    execute(&one, "s", &id(1), b"one");
    let public = one.rotate_key().unwrap();
    execute(&other, "s", &id(2), b"two");
    assert_eq!(other.public_key(), public);
    assert_eq!(complaint(&schema), None);
    // A replica elsewhere with only the old key signs nothing with it.
    std::fs::remove_file(schema.key()).unwrap();
    let address = schema.address();
    let settings = LedgerSettings { key: Some(schema.key()), ..settings(Durability::Batch) };
    let randomness = Arc::new(Counted::default());
    let missing = PostgresLedger::open(&address, settings, SetClock::at(NOW), randomness);
    assert!(missing.unwrap_err().to_string().contains("is missing"));
}

#[test]
fn a_ledger_in_a_file_moves_byte_for_byte() {
    let Some(schema) = schema() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = open(folder.path(), Durability::Batch);
    for number in 0..700 {
        execute(&file, &format!("s{}", number % 3), &id(number), format!("r {number}").as_bytes());
    }
    file.rotate_key().unwrap();
    file.append("s1", Draft::Ended, Vec::new()).wait().unwrap();
    let (checkpoint, sessions) = (file.checkpoint().unwrap(), file.sessions().unwrap());
    let exported = file.export(&id(5)).unwrap().unwrap();
    let events: Vec<_> = sessions.iter().map(|name| file.events(name).unwrap()).collect();
    drop(file);
    let path = folder.path().join("ledger.db");
    let migrate = || {
        let ports = (SetClock::at(NOW) as Arc<dyn Clock>, Arc::new(Counted::default()) as _);
        let settings = settings(Durability::Batch);
        PostgresLedger::migrate(&path, settings, &schema.address(), ports, &mut |_| {})
    };
    let migrated = migrate().unwrap();
    assert_eq!((migrated.size, migrated.verification.broken), (1401, None));
    assert!(matches!(migrate(), Err(MigrateError::NotEmpty { .. })));
    let key = folder.path().join("ledger.db.key");
    let ledger = Ledger::from(open_at(&schema.url, &key, Durability::Batch));
    assert_eq!(ledger.checkpoint().unwrap(), checkpoint);
    assert_eq!(ledger.export(&id(5)).unwrap().unwrap(), exported);
    let moved: Vec<_> = sessions.iter().map(|name| ledger.events(name).unwrap()).collect();
    assert_eq!((ledger.sessions().unwrap(), moved), (sessions, events));
    execute(&ledger, "s0", &id(9000), b"and on");
    assert_eq!(complaint(&schema), None);
}

#[test]
fn something_else_is_not_taken_for_a_ledger() {
    let Some(schema) = schema() else { return };
    schema.sql("CREATE TABLE ledger (amount integer)");
    let found = PostgresLedger::verify_at(&schema.address(), &Expected::default(), &mut |_| {});
    assert!(found.unwrap_err().to_string().contains("is not a ledger"));
}
