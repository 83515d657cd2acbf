//! Queries on the SQLite tables.

use counterfoil_model::Digest;
use rusqlite::{Connection, OptionalExtension as _, Row, Rows};

use super::body;
use super::decisions;
use super::event::{APPROVED, Approved, DECLINED, Declined, Event};
use super::lookups::Lookups as _;
use super::read::ReadLedgerError;

/// The digest in a column.
pub(super) fn digest_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    row.get::<_, [u8; 32]>(column).map(Digest::from_bytes)
}

/// The name of the ledger.
pub(super) fn origin(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("SELECT origin FROM ledger", [], |row| row.get(0))
}

/// The `seq` of the event that opened an execution.
pub(super) fn opening(connection: &Connection, id: &str) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT seq FROM events WHERE execution_id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()
}

/// The events of an execution with their bytes, beginning with its opening.
pub(super) fn execution(
    connection: &Connection,
    id: &str,
) -> Result<Vec<(Event, Vec<u8>)>, ReadLedgerError> {
    let Some(seq) = opening(connection, id)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT seq, digest, body FROM events WHERE seq = ?1
         UNION ALL SELECT seq, digest, body FROM events WHERE opening = ?1 ORDER BY seq",
    )?;
    let mut rows = statement.query([seq])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(2)?;
        events.push((event(row.get(0)?, &digest_at(row, 1)?, &bytes)?, bytes));
    }
    Ok(events)
}

/// The event with this number.
pub(super) fn at(connection: &Connection, seq: u64) -> Result<Option<Event>, ReadLedgerError> {
    let mut statement =
        connection.prepare_cached("SELECT seq, digest, body FROM events WHERE seq = ?1")?;
    let mut rows = statement.query([seq])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
    event(row.get(0)?, &digest_at(row, 1)?, bytes).map(Some)
}

/// At most `limit` remaining events of a session after a place, in order.
pub(super) fn session(
    connection: &Connection,
    name: &str,
    after: u64,
    limit: u64,
) -> Result<Vec<Event>, ReadLedgerError> {
    let events = session_with_bytes(connection, name, after, limit)?;
    Ok(events.into_iter().map(|(event, _)| event).collect())
}

/// The events of [`session`] with their bytes.
pub(super) fn session_with_bytes(
    connection: &Connection,
    name: &str,
    after: u64,
    limit: u64,
) -> Result<Vec<(Event, Vec<u8>)>, ReadLedgerError> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, digest, body FROM events
         WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND session_seq > ?2
         ORDER BY session_seq LIMIT ?3",
    )?;
    all(statement.query((name, after.min(MOST), limit.min(MOST)))?)
}

/// At most `limit` events of all sessions from `seq` on, in order.
pub(super) fn from(
    connection: &Connection,
    seq: u64,
    limit: u64,
) -> Result<Vec<Event>, ReadLedgerError> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, digest, body FROM events WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
    )?;
    let events = all(statement.query((seq.min(MOST), limit.min(MOST)))?)?;
    Ok(events.into_iter().map(|(event, _)| event).collect())
}

/// The largest integer of SQLite.
const MOST: u64 = i64::MAX as u64;

/// Events with their bytes.
fn all(mut rows: Rows<'_>) -> Result<Vec<(Event, Vec<u8>)>, ReadLedgerError> {
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(2)?;
        events.push((event(row.get(0)?, &digest_at(row, 1)?, &bytes)?, bytes));
    }
    Ok(events)
}

/// The prior approval of a session that is valid for a call now: its place, and the approval.
pub(super) fn standing_approval(
    connection: &Connection,
    name: &str,
    digest: Digest,
    now: i64,
) -> Result<Option<(u64, Approved)>, ReadLedgerError> {
    let decided = decisions(connection, name)?;
    decisions::standing_approval(decided, digest, now, |place| connection.has_used(name, place))
}

/// The decision that declines a call of a session, unless it was approved later.
pub(super) fn standing_refusal(
    connection: &Connection,
    name: &str,
    digest: Digest,
) -> Result<Option<Declined>, ReadLedgerError> {
    Ok(decisions::standing_refusal(decisions(connection, name)?, digest))
}

/// The decisions of people on calls of a session, in order.
pub(super) fn decisions(
    connection: &Connection,
    name: &str,
) -> Result<Vec<Event>, ReadLedgerError> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, digest, body FROM events
         WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND kind IN (?2, ?3)
         ORDER BY session_seq",
    )?;
    Ok(all(statement.query((name, APPROVED, DECLINED))?)?
        .into_iter()
        .map(|(event, _)| event)
        .collect())
}

/// The names of the sessions, in the order in which they began.
pub(super) fn sessions(connection: &Connection) -> Result<Vec<String>, ReadLedgerError> {
    let mut statement = connection.prepare_cached("SELECT name FROM sessions ORDER BY id")?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}

/// The execution ids of the latest opening events, newest first: of one session or of all.
pub(super) fn recent(
    connection: &Connection,
    session: Option<&str>,
    limit: usize,
) -> Result<Vec<String>, ReadLedgerError> {
    let mut statement = match session {
        Some(_) => connection.prepare_cached(
            "SELECT execution_id FROM events
             WHERE session = (SELECT id FROM sessions WHERE name = ?1)
               AND execution_id IS NOT NULL
             ORDER BY session_seq DESC LIMIT ?2",
        )?,
        None => connection.prepare_cached(
            "SELECT execution_id FROM events WHERE ?1 IS NULL AND execution_id IS NOT NULL
             ORDER BY seq DESC LIMIT ?2",
        )?,
    };
    let ids = statement.query_map((session, limit), |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}

/// The event with these bytes, if they are unchanged.
pub(super) fn event(seq: u64, digest: &Digest, bytes: &[u8]) -> Result<Event, ReadLedgerError> {
    let broken = |what: &str| ReadLedgerError::Broken { what: format!("event {seq} {what}") };
    let event = body::read(bytes).map_err(|error| broken(&format!("cannot be read: {error}")))?;
    if event.digest != *digest {
        return Err(broken("does not match its digest"));
    }
    if event.seq == seq { Ok(event) } else { Err(broken("is in the wrong place")) }
}
