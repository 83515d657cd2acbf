//! What is asked of the tables by those who show them.

use counterfoil_model::Digest;

use super::link::{Failure, Link, column, number, signed};
use super::lookups::{Found, SESSIONS};
use super::tables::event_of;
use crate::ledger::event::{APPROVED, Approved, Draft, Event};
use crate::ledger::read::ReadLedgerError;
use crate::ledger::results::{UnpackError, unpack};
use crate::ports::Lasts;

/// The place of a session's last event, and the first attempts up to there.
pub(super) fn session_end(link: &Link, name: &str) -> Result<(u64, u64), ReadLedgerError> {
    let Some(row) = link.row(SESSIONS, &[&[name].as_slice()])? else { return Ok((0, 0)) };
    Ok((number(&row, 2)?, number(&row, 3)?))
}

/// Every event of a session that is still there and comes after one of it, in order.
pub(super) fn session(link: &Link, name: &str, after: u64) -> Result<Vec<Event>, ReadLedgerError> {
    let query = "SELECT seq, digest, body FROM events
                 WHERE session = (SELECT id FROM sessions WHERE name = $1) AND session_seq > $2
                 ORDER BY session_seq";
    link.rows(query, &[&name, &signed(after)])?.iter().map(event_of).collect()
}

/// The approval of a session, given ahead, that holds for a call now: its place and what it says.
/// One for one call that another call has used up does not.
pub(super) fn standing_approval(
    link: &Link,
    name: &str,
    digest: Digest,
    now: i64,
) -> Result<Option<(u64, Approved)>, ReadLedgerError> {
    let query = "SELECT seq, digest, body FROM events
                 WHERE session = (SELECT id FROM sessions WHERE name = $1) AND kind = $2
                 ORDER BY session_seq";
    for row in link.rows(query, &[&name, &APPROVED])? {
        let event = event_of(&row)?;
        let Draft::Approved(approved) = event.draft else { continue };
        let place = event.session_seq;
        if !approved.holds_for(digest, now) {
            continue;
        }
        let mut found = Found::default();
        if approved.lasts != Lasts::Session {
            found.read_uses(link, &[(name, place)])?;
        }
        if !found.uses(name, place) {
            return Ok(Some((place, approved)));
        }
    }
    Ok(None)
}

/// The names of the sessions, in the order in which they began.
pub(super) fn sessions(link: &Link) -> Result<Vec<String>, ReadLedgerError> {
    let rows = link.rows("SELECT name FROM sessions ORDER BY id", &[])?;
    Ok(rows.iter().map(|row| column(row, 0)).collect::<Result<_, Failure>>()?)
}

/// The latest events that brought an execution, the newest first: of one session, or of all.
pub(super) fn recent(
    link: &Link,
    session: Option<&str>,
    limit: usize,
) -> Result<Vec<String>, ReadLedgerError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = match session {
        Some(name) => link.rows(
            "SELECT execution_id FROM events
             WHERE session = (SELECT id FROM sessions WHERE name = $1)
               AND execution_id IS NOT NULL
             ORDER BY session_seq DESC LIMIT $2",
            &[&name, &limit],
        ),
        None => link.rows(
            "SELECT execution_id FROM events WHERE execution_id IS NOT NULL
             ORDER BY seq DESC LIMIT $1",
            &[&limit],
        ),
    }?;
    Ok(rows.iter().map(|row| column(row, 0)).collect::<Result<_, Failure>>()?)
}

/// The stored bytes with this digest.
pub(super) fn result(
    link: &Link,
    digest: &Digest,
) -> Result<Option<Result<Vec<u8>, UnpackError>>, ReadLedgerError> {
    let query = "SELECT size, packed, bytes FROM results WHERE digest = $1";
    let row = link.row(query, &[&digest.as_bytes().as_slice()])?;
    let Some(row) = row else { return Ok(None) };
    let (size, packed): (u64, i16) = (number(&row, 0)?, column(&row, 1)?);
    let bytes = column(&row, 2)?;
    let size = usize::try_from(size).map_err(|_| UnpackError);
    Ok(Some(size.and_then(|size| unpack(size, packed == 1, bytes))))
}

/// When an event was written.
pub(super) fn written_at(link: &Link, seq: u64) -> Result<Option<i64>, ReadLedgerError> {
    let row = link.row("SELECT seq, digest, body FROM events WHERE seq = $1", &[&signed(seq)])?;
    Ok(row.map(|row| event_of(&row)).transpose()?.map(|event| event.at))
}
