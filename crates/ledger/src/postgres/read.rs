//! Queries for those who display the ledger.

use counterfoil_model::Digest;

use super::link::{Failure, Link, column, number, signed};
use super::lookups::{Found, SESSIONS};
use super::tables::event_of;
use crate::decisions;
use crate::event::{APPROVED, Approved, DECLINED, Declined, Event};
use crate::read::ReadLedgerError;
use crate::results::{UnpackError, unpack};
use crate::tables::Tables as _;

/// The place of a session's last event, and the number of first attempts up to there.
pub(super) fn session_end(link: &Link, name: &str) -> Result<(u64, u64), ReadLedgerError> {
    let Some(row) = link.row(SESSIONS, &[&[name].as_slice()])? else { return Ok((0, 0)) };
    Ok((number(&row, 2)?, number(&row, 3)?))
}

/// At most `limit` remaining events of a session after a place, in order.
pub(super) fn session(
    link: &Link,
    name: &str,
    after: u64,
    limit: u64,
) -> Result<Vec<Event>, ReadLedgerError> {
    let events = link.session_events(name, after, limit)?;
    Ok(events.into_iter().map(|(event, _)| event).collect())
}

/// At most `limit` events of all sessions from `seq` on, in order.
pub(super) fn from(link: &Link, seq: u64, limit: u64) -> Result<Vec<Event>, ReadLedgerError> {
    let query = "SELECT seq, digest, body FROM events WHERE seq >= $1 ORDER BY seq LIMIT $2";
    link.rows(query, &[&signed(seq), &signed(limit)])?.iter().map(event_of).collect()
}

/// The prior approval of a session that is valid for a call now: its place, and the approval.
pub(super) fn standing_approval(
    link: &Link,
    name: &str,
    digest: Digest,
    now: i64,
) -> Result<Option<(u64, Approved)>, ReadLedgerError> {
    let decided = decisions(link, name)?;
    decisions::standing_approval(decided, digest, now, |place| {
        let mut found = Found::default();
        found.read_uses(link, &[(name, place)])?;
        Ok(found.uses(name, place))
    })
}

/// The decision that declines a call of a session, unless it was approved later.
pub(super) fn standing_refusal(
    link: &Link,
    name: &str,
    digest: Digest,
) -> Result<Option<Declined>, ReadLedgerError> {
    Ok(decisions::standing_refusal(decisions(link, name)?, digest))
}

/// The decisions of people on calls of a session, in order.
fn decisions(link: &Link, name: &str) -> Result<Vec<Event>, ReadLedgerError> {
    let query = "SELECT seq, digest, body FROM events
                 WHERE session = (SELECT id FROM sessions WHERE name = $1) AND kind IN ($2, $3)
                 ORDER BY session_seq";
    link.rows(query, &[&name, &APPROVED, &DECLINED])?.iter().map(event_of).collect()
}

/// The names of the sessions, in the order in which they began.
pub(super) fn sessions(link: &Link) -> Result<Vec<String>, ReadLedgerError> {
    let rows = link.rows("SELECT name FROM sessions ORDER BY id", &[])?;
    Ok(rows.iter().map(|row| column(row, 0)).collect::<Result<_, Failure>>()?)
}

/// The execution ids of the latest opening events, newest first: of one session or of all.
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
