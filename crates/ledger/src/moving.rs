//! Moves events from the log into the tables, many at a time.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::head::Head;
use super::recent::{Entry, Recent};
use super::results::{self, PER_EVENT};
use super::tree::{BLOCK, StoredNode};

/// Inserts what the log had, in a transaction.
pub(super) fn insert_all(
    connection: &Connection,
    head: &mut Head,
    recent: Recent,
) -> rusqlite::Result<()> {
    let mut into_events = connection
        .prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    let mut into_results = connection.prepare_cached(results::INSERT)?;
    for entry in &recent.entries {
        let session = match head.session_id(&entry.session) {
            Some(id) => id,
            None => {
                let id = session_id(connection, &entry.session)?;
                head.remember_session_id(&entry.session, id);
                id
            }
        };
        let Entry { seq, session_seq, calls, kind, execution_id, opening, digest, body, .. } =
            entry;
        into_events.execute(params![
            seq,
            session,
            session_seq,
            calls,
            kind,
            execution_id,
            opening,
            digest.as_bytes(),
            body
        ])?;
        if let Some(needed) = &entry.needs {
            results::refer(connection, needed, seq * PER_EVENT)?;
        }
        for (number, stored) in (1..).zip(&entry.stored) {
            stored.put(&mut into_results, seq * PER_EVENT + number)?;
        }
        for StoredNode { level, number, hash } in &entry.nodes {
            connection
                .prepare_cached("INSERT INTO nodes (level, number, hash) VALUES (?1, ?2, ?3)")?
                .execute(params![level, number, hash.as_bytes()])?;
        }
    }
    let mut checkpoints = recent.checkpoints.iter().peekable();
    while let Some((size, note)) = checkpoints.next() {
        // Only one checkpoint per block stays; the others need not be written.
        let replaced = checkpoints.peek().is_some_and(|(next, _)| block(*next) == block(*size));
        if !replaced {
            insert_checkpoint(connection, *size, note)?;
        }
    }
    head.forget_sessions();
    Ok(())
}

/// The block of events in which a checkpoint of this size ends.
pub(super) fn block(size: u64) -> u64 {
    size.saturating_sub(1) / BLOCK
}

/// Adds a checkpoint, and deletes those that it replaces: one per block stays for ever.
pub(super) fn insert_checkpoint(
    connection: &Connection,
    size: u64,
    note: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO checkpoints (size, note) VALUES (?1, ?2)")?
        .execute(params![size, note])?;
    connection
        .prepare_cached("DELETE FROM checkpoints WHERE size > ?1 AND size < ?2")?
        .execute([block(size) * BLOCK, size])?;
    Ok(())
}

/// The number of a session in the tables, which is created if necessary.
fn session_id(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    let known = connection
        .prepare_cached("SELECT id FROM sessions WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    match known {
        Some(id) => Ok(id),
        None => connection
            .prepare_cached("INSERT INTO sessions (name) VALUES (?1) RETURNING id")?
            .query_row([name], |row| row.get(0)),
    }
}
