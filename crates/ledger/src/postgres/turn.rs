//! A replica's turn to write: a transaction during which no other replica writes.

use futures_util::future::join5;
use tokio_postgres::types::ToSql;

use super::link::{Failure, Link, column, number};
use super::lookups::{LookupKeys, OPENINGS, SESSIONS};

/// Every statement sees what was committed before it.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// One writer at a time: the lock is held until the transaction ends, however it ends.
const LOCK: &str = "SELECT pg_advisory_xact_lock(1129531212, 'ledger'::regclass::oid::integer)";

const END: &str = "
    SELECT (SELECT coalesce(max(seq) + 1, 0) FROM events),
           (SELECT coalesce(max(cut), 0) FROM tombstones),
           (SELECT coalesce(max(number), 0) FROM keys),
           (SELECT coalesce(max(id), 0) FROM sessions)";

/// The end of the ledger while no other replica writes.
pub(super) struct End {
    pub(super) size: u64,
    pub(super) cut: u64,
    /// The number of the signing key.
    pub(super) key: u64,
    /// The highest number of a session.
    pub(super) sessions: i64,
}

type Rows = Vec<tokio_postgres::Row>;

/// Begins a transaction, waits until no other replica writes, and looks up what the group depends
/// on, all in one round trip.
pub(super) fn begin(link: &Link, keys: &LookupKeys<'_>) -> Result<(End, (Rows, Rows)), Failure> {
    let lock = link.prepared(LOCK)?;
    let end = link.prepared(END)?;
    let sessions = link.prepared(SESSIONS)?;
    let openings = link.prepared(OPENINGS)?;
    let client = &link.client;
    let about: [&(dyn ToSql + Sync); 1] = [&keys.sessions];
    let executions: [&(dyn ToSql + Sync); 1] = [&keys.executions];
    let (end, rows) = link.wait(async {
        let answers = join5(
            client.batch_execute(BEGIN),
            client.query(&lock, &[]),
            client.query(&end, &[]),
            client.query(&sessions, &about),
            client.query(&openings, &executions),
        );
        let (begun, locked, end, sessions, openings) = answers.await;
        begun?;
        locked?;
        Ok((end?, (sessions?, openings?)))
    })?;
    let missing = || Failure::Column("the end of the ledger is missing".to_owned());
    let row = end.first().ok_or_else(missing)?;
    let end = End {
        size: number(row, 0)?,
        cut: number(row, 1)?,
        key: number(row, 2)?,
        sessions: column(row, 3)?,
    };
    Ok((end, rows))
}
