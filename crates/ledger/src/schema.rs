//! The tables of a ledger on SQLite.

/// Identifies the file as a ledger, in its header: `CSGL`.
pub(super) const APPLICATION_ID: i32 = 0x4353_474c;

/// The version of the tables and of the event format.
pub(super) const USER_VERSION: i32 = 1;

/// The definitions for a new ledger.
///
/// Events arrive from the log, many at a time. Counters are columns, not tables of their own.
pub(super) const TABLES: &str = "
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY CHECK (id = 0),
    origin TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- `calls`: first attempts in the session, up to and with this event. `execution_id`: of the event
-- that brings it; `opening`: the seq of that event, for those that say more about it.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    session_seq INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    kind TEXT NOT NULL,
    execution_id TEXT,
    opening INTEGER,
    digest BLOB NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_of_session ON events (session, session_seq);
CREATE UNIQUE INDEX events_that_open ON events (execution_id) WHERE execution_id IS NOT NULL;
CREATE INDEX events_that_follow ON events (opening) WHERE opening IS NOT NULL;

-- Roots of complete subtrees with 256^level leaves.
CREATE TABLE nodes (
    level INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
    size INTEGER PRIMARY KEY,
    note TEXT NOT NULL
) STRICT;

CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    public BLOB NOT NULL,
    note TEXT NOT NULL
) STRICT;

-- What retention dropped: the events below `cut`, the stored results of the events below it.
CREATE TABLE tombstones (
    cut INTEGER PRIMARY KEY,
    note TEXT NOT NULL
) STRICT;
CREATE TABLE result_tombstones (
    cut INTEGER PRIMARY KEY,
    note TEXT NOT NULL
) STRICT;

-- `id`: 256 times the seq of the latest event that refers to the result, and a number below 256.
-- `packed`: 1 when the bytes are an LZ4 block.
CREATE TABLE results (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    packed INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX results_by_digest ON results (digest);

CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
WHEN OLD.seq >= (SELECT coalesce(max(cut), 0) FROM tombstones)
BEGIN SELECT RAISE(ABORT, 'events are never deleted without a tombstone'); END;
CREATE TRIGGER nodes_stay BEFORE UPDATE ON nodes
BEGIN SELECT RAISE(ABORT, 'nodes are never changed'); END;
CREATE TRIGGER nodes_remain BEFORE DELETE ON nodes
BEGIN SELECT RAISE(ABORT, 'nodes are never deleted'); END;
CREATE TRIGGER checkpoints_stay BEFORE UPDATE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints are never changed'); END;
CREATE TRIGGER checkpoints_remain BEFORE DELETE ON checkpoints
WHEN OLD.size = (SELECT max(size) FROM checkpoints)
BEGIN SELECT RAISE(ABORT, 'the last checkpoint is never deleted'); END;
CREATE TRIGGER keys_stay BEFORE UPDATE ON keys
BEGIN SELECT RAISE(ABORT, 'keys are never changed'); END;
CREATE TRIGGER keys_remain BEFORE DELETE ON keys
BEGIN SELECT RAISE(ABORT, 'keys are never deleted'); END;
CREATE TRIGGER tombstones_stay BEFORE UPDATE ON tombstones
BEGIN SELECT RAISE(ABORT, 'tombstones are never changed'); END;
CREATE TRIGGER tombstones_remain BEFORE DELETE ON tombstones
BEGIN SELECT RAISE(ABORT, 'tombstones are never deleted'); END;
CREATE TRIGGER result_tombstones_stay BEFORE UPDATE ON result_tombstones
BEGIN SELECT RAISE(ABORT, 'tombstones are never changed'); END;
CREATE TRIGGER result_tombstones_remain BEFORE DELETE ON result_tombstones
BEGIN SELECT RAISE(ABORT, 'tombstones are never deleted'); END;
CREATE TRIGGER results_stay BEFORE UPDATE OF digest, size, packed, bytes ON results
BEGIN SELECT RAISE(ABORT, 'stored results are never changed'); END;
CREATE TRIGGER results_remain BEFORE DELETE ON results
WHEN OLD.id >= 256 * (SELECT coalesce(max(cut), 0) FROM result_tombstones)
BEGIN SELECT RAISE(ABORT, 'stored results are never deleted without a tombstone'); END;
CREATE TRIGGER sessions_stay BEFORE UPDATE ON sessions
BEGIN SELECT RAISE(ABORT, 'sessions are never changed'); END;
CREATE TRIGGER sessions_remain BEFORE DELETE ON sessions
WHEN EXISTS (SELECT 1 FROM events WHERE session = OLD.id)
BEGIN SELECT RAISE(ABORT, 'sessions that have events are never deleted'); END;
CREATE TRIGGER ledger_stays BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the name of a ledger is never changed'); END;
CREATE TRIGGER ledger_remains BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the name of a ledger is never deleted'); END;
";
