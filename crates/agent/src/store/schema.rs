//! The tables of a store.

/// In the header of the file, so that it is known for what it is: `CFAS`.
pub(super) const APPLICATION_ID: i32 = 0x4346_4153;

/// How many of [`MIGRATIONS`] a current file has seen.
pub(super) const USER_VERSION: i32 = 2;

/// What makes a file of version n one of version n + 1. Released steps are never changed.
pub(super) const MIGRATIONS: [&str; USER_VERSION as usize] = [FIRST, SECOND];

/// Tasks are of a place: one that was made in it runs nowhere else.
const SECOND: &str = "ALTER TABLE tasks ADD COLUMN workspace TEXT NOT NULL DEFAULT ''";

/// Indexes for search hold no text of their own: they read it from `notes`. What is deleted there
/// leaves them at once, so that a note that is forgotten can be found nowhere in the file.
const FIRST: &str = "
-- AUTOINCREMENT: the id of a note that is forgotten never means another one.
CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL UNIQUE,
    origin TEXT NOT NULL CHECK (origin IN ('user', 'agent', 'tool')),
    tool TEXT CHECK ((tool IS NOT NULL) = (origin = 'tool')),
    session TEXT,
    at INTEGER NOT NULL
) STRICT;

-- 32-bit floats, little endian. Apart from the notes: every search reads all of them.
CREATE TABLE vectors (
    note INTEGER PRIMARY KEY,
    vector BLOB NOT NULL
) STRICT;

CREATE VIRTUAL TABLE note_words USING fts5(
    text, content = 'notes', content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO note_words (note_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE note_trigrams USING fts5(
    text, content = 'notes', content_rowid = 'id',
    tokenize = 'trigram remove_diacritics 1'
);
INSERT INTO note_trigrams (note_trigrams, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER notes_are_indexed AFTER INSERT ON notes
BEGIN
    INSERT INTO note_words (rowid, text) VALUES (NEW.id, NEW.text);
    INSERT INTO note_trigrams (rowid, text) VALUES (NEW.id, NEW.text);
END;
CREATE TRIGGER notes_are_forgotten AFTER DELETE ON notes
BEGIN
    INSERT INTO note_words (note_words, rowid, text) VALUES ('delete', OLD.id, OLD.text);
    INSERT INTO note_trigrams (note_trigrams, rowid, text) VALUES ('delete', OLD.id, OLD.text);
    DELETE FROM vectors WHERE note = OLD.id;
END;
CREATE TRIGGER texts_stay BEFORE UPDATE OF id, text ON notes
BEGIN SELECT RAISE(ABORT, 'the text of a note is never changed'); END;

CREATE TABLE summaries (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    compaction_method TEXT NOT NULL
        CHECK (compaction_method IN ('triggered', 'manual', 'autonomous')),
    text TEXT NOT NULL,
    from_message INTEGER NOT NULL CHECK (from_message >= 0),
    to_message INTEGER NOT NULL CHECK (to_message >= from_message),
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX summaries_of_session ON summaries (session);

-- `next_at`: when the task is due, none once it is over. `last_at`: when a firing was last claimed.
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    phrase TEXT NOT NULL,
    schedule TEXT NOT NULL CHECK (json_valid(schedule)),
    prompt TEXT NOT NULL,
    next_at INTEGER,
    catch_up TEXT NOT NULL CHECK (catch_up IN ('skip', 'once', 'all')),
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'cancelled', 'done')),
    last_at INTEGER,
    CHECK ((next_at IS NOT NULL) = (state = 'active'))
) STRICT;
CREATE INDEX tasks_by_time ON tasks (next_at) WHERE state = 'active';

-- INVARIANT: a task has one row for each time at which it was due, whoever claims it.
CREATE TABLE firings (
    task INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT CHECK ((outcome IS NULL) = (ended_at IS NULL)),
    execution_id TEXT CHECK (execution_id IS NULL OR ended_at IS NOT NULL),
    UNIQUE (task, due_at)
) STRICT;
CREATE INDEX firings_unfinished ON firings (started_at) WHERE ended_at IS NULL;
";
