//! The tables of a ledger on PostgreSQL, with the same names and columns as on SQLite.

/// The version of the tables and of the event format.
pub(super) const VERSION: i32 = 1;

/// The definitions for a new ledger. Counters are columns, not tables of their own.
pub(super) const TABLES: &str = r#"
CREATE TABLE ledger (
    id smallint PRIMARY KEY CHECK (id = 0),
    origin text COLLATE "C" NOT NULL,
    version integer NOT NULL
);

CREATE TABLE sessions (
    id bigint PRIMARY KEY,
    name text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX sessions_by_name ON sessions (name);

-- `calls`: first attempts in the session, up to and with this event. `execution_id`: of the event
-- that brings it; `opening`: the seq of that event, for those that say more about it.
CREATE TABLE events (
    seq bigint PRIMARY KEY,
    session bigint NOT NULL,
    session_seq bigint NOT NULL,
    calls bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    execution_id text COLLATE "C",
    opening bigint,
    digest bytea NOT NULL,
    body bytea NOT NULL
);
CREATE UNIQUE INDEX events_of_session ON events (session, session_seq);
CREATE UNIQUE INDEX events_that_open ON events (execution_id) WHERE execution_id IS NOT NULL;
CREATE INDEX events_that_follow ON events (opening) WHERE opening IS NOT NULL;

-- Roots of complete subtrees with 256^level leaves.
CREATE TABLE nodes (
    level smallint NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (level, number)
);

CREATE TABLE checkpoints (
    size bigint PRIMARY KEY,
    note text NOT NULL
);

CREATE TABLE keys (
    number bigint PRIMARY KEY,
    public bytea NOT NULL,
    note text NOT NULL
);

-- What retention dropped: the events below `cut`, the stored results of the events below it.
CREATE TABLE tombstones (
    cut bigint PRIMARY KEY,
    note text NOT NULL
);
CREATE TABLE result_tombstones (
    cut bigint PRIMARY KEY,
    note text NOT NULL
);

-- `id`: 256 times the seq of the latest event that refers to the result, and a number below 256.
-- `packed`: 1 when the bytes are an LZ4 block.
CREATE TABLE results (
    id bigint PRIMARY KEY,
    digest bytea NOT NULL,
    size bigint NOT NULL,
    packed smallint NOT NULL,
    bytes bytea NOT NULL
);
CREATE UNIQUE INDEX results_by_digest ON results (digest);
-- They are compressed already.
ALTER TABLE results ALTER bytes SET STORAGE EXTERNAL;

CREATE FUNCTION ledger_refuses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of %: what a ledger holds is never changed', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;

CREATE FUNCTION ledger_drops() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kept boolean := true;
BEGIN
    IF TG_TABLE_NAME = 'events' THEN
        kept := OLD.seq >= (SELECT coalesce(max(cut), 0) FROM tombstones);
    ELSIF TG_TABLE_NAME = 'results' THEN
        kept := OLD.id >= 256 * (SELECT coalesce(max(cut), 0) FROM result_tombstones);
    ELSIF TG_TABLE_NAME = 'sessions' THEN
        kept := EXISTS (SELECT 1 FROM events WHERE session = OLD.id);
    ELSIF TG_TABLE_NAME = 'checkpoints' THEN
        kept := OLD.size = (SELECT max(size) FROM checkpoints);
    END IF;
    IF kept THEN
        RAISE EXCEPTION 'DELETE of %: nothing goes without a signed tombstone', TG_TABLE_NAME
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END
$$;

ALTER FUNCTION ledger_refuses() SET search_path FROM CURRENT;
ALTER FUNCTION ledger_drops() SET search_path FROM CURRENT;
"#;

/// The names of all tables.
pub(super) const NAMES: [&str; 9] = [
    "ledger",
    "sessions",
    "events",
    "nodes",
    "checkpoints",
    "keys",
    "tombstones",
    "result_tombstones",
    "results",
];

/// Tables whose rows may be deleted once they are replaced or have a tombstone.
const DROPPED: [&str; 4] = ["events", "results", "sessions", "checkpoints"];

/// The triggers of a table: the name, and the rest of the definition.
pub(super) fn triggers(table: &str) -> [(String, String); 3] {
    let columns = if table == "results" { " OF digest, size, packed, bytes" } else { "" };
    let drops = if DROPPED.contains(&table) { "ledger_drops" } else { "ledger_refuses" };
    [
        (
            format!("{table}_stay"),
            format!(
                "BEFORE UPDATE{columns} ON {table} FOR EACH ROW EXECUTE FUNCTION ledger_refuses()"
            ),
        ),
        (
            format!("{table}_remain"),
            format!("BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION {drops}()"),
        ),
        (
            format!("{table}_are_never_emptied"),
            format!(
                "BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses()"
            ),
        ),
    ]
}

/// The statements that create the tables and their triggers.
pub(super) fn statements() -> String {
    let triggers = NAMES.iter().flat_map(|table| triggers(table));
    triggers.fold(TABLES.to_owned(), |mut statements, (name, definition)| {
        statements.push_str(&format!("CREATE TRIGGER {name} {definition};\n"));
        statements
    })
}
