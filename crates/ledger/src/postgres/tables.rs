//! The queries on PostgreSQL.

use counterfoil_model::Digest;
use tokio_postgres::Row;

use super::definitions;
use super::link::{Failure, Link, column, number, signed};
use crate::event::Event;
use crate::key::PublicKey;
use crate::queries;
use crate::read::ReadLedgerError;
use crate::tables::{Counted, EventRow, KeyRow, NoteKind, ResultRow, Tables};

/// Events per page.
const EVENTS: i64 = 4096;
/// Stored results per page: each may be large.
const RESULTS: i64 = 64;

type Result<T> = std::result::Result<T, ReadLedgerError>;

impl Tables for Link {
    fn verify_definitions(&self) -> Result<()> {
        definitions::verify(self)?;
        let version = self.row("SELECT version FROM ledger", &[])?;
        let version: Option<i32> = version.map(|row| column(&row, 0)).transpose()?;
        if version == Some(super::schema::VERSION) {
            return Ok(());
        }
        Err(ReadLedgerError::Broken { what: "the version of the tables was changed".to_owned() })
    }

    fn names(&self) -> Result<Vec<String>> {
        let rows = self.rows("SELECT origin FROM ledger", &[])?;
        Ok(rows.iter().map(|row| column(row, 0)).collect::<std::result::Result<_, _>>()?)
    }

    fn cut(&self) -> Result<u64> {
        self.one("SELECT coalesce(max(cut), 0) FROM tombstones")
    }

    fn keys(&self) -> Result<Vec<KeyRow>> {
        let rows = self.rows("SELECT number, public, note FROM keys ORDER BY number", &[])?;
        let key = |row: &Row| {
            let public = PublicKey::from_bytes(bytes32(row, 1)?);
            Ok(KeyRow { number: number(row, 0)?, public, note: column(row, 2)? })
        };
        rows.iter().map(key).collect()
    }

    fn notes(&self, kind: NoteKind) -> Result<Vec<(u64, String)>> {
        let rows = self.rows(kind.all(), &[])?;
        rows.iter().map(|row| Ok((number(row, 0)?, column(row, 1)?))).collect()
    }

    fn last_note(&self, kind: NoteKind) -> Result<Option<String>> {
        Ok(self.row(kind.last(), &[])?.map(|row| column(&row, 0)).transpose()?)
    }

    fn node(&self, level: u8, number: u64) -> Result<Option<Digest>> {
        let query = "SELECT hash FROM nodes WHERE level = $1 AND number = $2";
        let row = self.row(query, &[&i16::from(level), &signed(number)])?;
        Ok(row.map(|row| digest_at(&row, 0)).transpose()?)
    }

    fn digests(&self, start: u64, end: u64) -> Result<Vec<Digest>> {
        let query = "SELECT digest FROM events WHERE seq >= $1 AND seq < $2 ORDER BY seq";
        let rows = self.rows(query, &[&signed(start), &signed(end)])?;
        Ok(rows.iter().map(|row| digest_at(row, 0)).collect::<std::result::Result<_, _>>()?)
    }

    fn events(&self, after: Option<u64>) -> Result<Vec<EventRow>> {
        // Joined with the execution ids of their openings, which would otherwise take a query each.
        let query = "SELECT e.seq, e.session, e.session_seq, e.calls, e.kind, e.execution_id,
                            e.opening, e.digest, e.body, o.execution_id
                     FROM events e LEFT JOIN events o ON o.seq = e.opening
                     WHERE e.seq >= $1 ORDER BY e.seq LIMIT $2";
        let rows = self.rows(query, &[&from(after), &EVENTS])?;
        let brought = |row: &Row| -> Option<std::result::Result<(u64, String), Failure>> {
            let id = column::<Option<String>>(row, 9).transpose()?;
            Some(id.and_then(|id| Ok((number(row, 6)?, id))))
        };
        let brought: std::result::Result<_, Failure> = rows.iter().filter_map(brought).collect();
        self.openings.replace(brought?);
        let event = |row: &Row| {
            let opening: Option<i64> = column(row, 6)?;
            Ok(EventRow {
                seq: number(row, 0)?,
                session: column(row, 1)?,
                session_seq: number(row, 2)?,
                calls: number(row, 3)?,
                kind: column(row, 4)?,
                execution_id: column(row, 5)?,
                opening: opening.map(|_| number(row, 6)).transpose()?,
                digest: digest_at(row, 7)?,
                body: column(row, 8)?,
            })
        };
        rows.iter().map(event).collect()
    }

    fn results(&self, after: Option<u64>) -> Result<Vec<ResultRow>> {
        let query = "SELECT id, digest, size, packed, bytes FROM results
                     WHERE id >= $1 ORDER BY id LIMIT $2";
        let rows = self.rows(query, &[&from(after), &RESULTS])?;
        let result = |row: &Row| {
            let packed: i16 = column(row, 3)?;
            Ok(ResultRow {
                id: number(row, 0)?,
                digest: digest_at(row, 1)?,
                size: number(row, 2)?,
                // Values other than 0 and 1 were tampered with.
                packed: u8::try_from(packed).unwrap_or(u8::MAX),
                bytes: column(row, 4)?,
            })
        };
        rows.iter().map(result).collect()
    }

    fn session_name(&self, number: i64) -> Result<Option<String>> {
        let row = self.row("SELECT name FROM sessions WHERE id = $1", &[&number])?;
        Ok(row.map(|row| column(&row, 0)).transpose()?)
    }

    fn execution_at(&self, seq: u64) -> Result<Option<String>> {
        if let Some(id) = self.openings.borrow().get(&seq) {
            return Ok(Some(id.clone()));
        }
        let row = self.row("SELECT execution_id FROM events WHERE seq = $1", &[&signed(seq)])?;
        let id: Option<Option<String>> = row.map(|row| column(&row, 0)).transpose()?;
        Ok(id.flatten())
    }

    fn opening_seq(&self, id: &str) -> Result<Option<u64>> {
        let row = self.row("SELECT seq FROM events WHERE execution_id = $1", &[&id])?;
        Ok(row.map(|row| number(&row, 0)).transpose()?)
    }

    fn execution(&self, id: &str) -> Result<Vec<(Event, Vec<u8>)>> {
        let Some(seq) = self.opening_seq(id)? else { return Ok(Vec::new()) };
        let query = "SELECT seq, digest, body FROM events WHERE seq = $1
                     UNION ALL SELECT seq, digest, body FROM events WHERE opening = $1 ORDER BY \
                         seq";
        let rows = self.rows(query, &[&signed(seq)])?;
        rows.iter().map(|row| Ok((event_of(row)?, column(row, 2)?))).collect()
    }

    fn session_events(&self, name: &str, after: u64, limit: u64) -> Result<Vec<(Event, Vec<u8>)>> {
        let query = "SELECT seq, digest, body FROM events
                     WHERE session = (SELECT id FROM sessions WHERE name = $1) AND session_seq > $2
                     ORDER BY session_seq LIMIT $3";
        let rows = self.rows(query, &[&name, &signed(after), &signed(limit)])?;
        rows.iter().map(|row| Ok((event_of(row)?, column(row, 2)?))).collect()
    }

    fn is_stored(&self, digest: &Digest) -> Result<bool> {
        let query = "SELECT 1 FROM results WHERE digest = $1";
        Ok(self.row(query, &[&digest.as_bytes().as_slice()])?.is_some())
    }

    fn extent(&self) -> Result<u64> {
        // Retention never drops the last event.
        self.one("SELECT coalesce(max(seq) + 1, 0) FROM events")
    }

    fn count(&self, rows: Counted) -> Result<u64> {
        // Sets options of the surrounding transaction, because a statement may have been planned
        // with others.
        let (by, query) = match rows {
            Counted::Nodes => ("SET LOCAL enable_seqscan = on", "SELECT count(*) FROM nodes"),
            Counted::Sessions => ("SET LOCAL enable_seqscan = on", "SELECT count(*) FROM sessions"),
            Counted::Events => (
                "SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off;
                 SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off",
                "SELECT count(*) FROM events",
            ),
            Counted::EventsByIndex => (
                "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on;
                 SET LOCAL enable_indexonlyscan = on; SET LOCAL enable_bitmapscan = off",
                "SELECT count(*) FROM (SELECT 1 FROM events ORDER BY session, session_seq) AS \
                 listed",
            ),
        };
        self.batch(by)?;
        self.one(query)
    }
}

impl Link {
    fn one(&self, query: &'static str) -> Result<u64> {
        let missing = || Failure::Column("no row".to_owned());
        let row = self.row(query, &[])?.ok_or_else(missing)?;
        Ok(number(&row, 0)?)
    }
}

/// The start of a page. The first page includes negative numbers, which only tampering produces.
fn from(after: Option<u64>) -> i64 {
    after.map_or(i64::MIN, |after| signed(after).saturating_add(1))
}

/// The event in the columns `seq`, `digest`, `body`, if it is unchanged.
pub(super) fn event_of(row: &Row) -> Result<Event> {
    queries::event(number(row, 0)?, &digest_at(row, 1)?, column(row, 2)?)
}

/// The digest in a column.
pub(super) fn digest_at(row: &Row, at: usize) -> std::result::Result<Digest, Failure> {
    bytes32(row, at).map(Digest::from_bytes)
}

fn bytes32(row: &Row, at: usize) -> std::result::Result<[u8; 32], Failure> {
    let bytes: &[u8] = column(row, at)?;
    let wrong = |_| Failure::Column(format!("expected 32 bytes, found {}", bytes.len()));
    bytes.try_into().map_err(wrong)
}
