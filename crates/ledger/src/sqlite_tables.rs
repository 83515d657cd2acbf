//! The queries on SQLite.

use counterfoil_model::Digest;
use rusqlite::{Connection, OptionalExtension as _};

use super::body::Outline;
use super::decisions::is_decided;
use super::event::Event;
use super::head::find_session;
use super::key::PublicKey;
use super::lookups::{Lookups, Opening, SessionHead};
use super::queries::{self, digest_at};
use super::read::ReadLedgerError;
use super::schema;
use super::tables::{Counted, EventRow, KeyRow, NoteKind, ResultRow, Tables};

/// Events per page.
const EVENTS: u64 = 1024;
/// Stored results per page: each may be large.
const RESULTS: u64 = 32;

type Result<T> = std::result::Result<T, ReadLedgerError>;

impl Lookups for Connection {
    fn session(&self, name: &str) -> Result<Option<SessionHead>> {
        Ok(find_session(self, name)?)
    }

    fn opening(&self, id: &str) -> Result<Option<Opening>> {
        let found: Option<(u64, bool)> = self
            .prepare_cached("SELECT seq, kind = 'rejected' FROM events WHERE execution_id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((seq, rejected)) = found else { return Ok(None) };
        let closed: u64 = self
            .prepare_cached("SELECT count(*) FROM events WHERE opening = ?1 AND kind = 'closed'")?
            .query_row([seq], |row| row.get(0))?;
        Ok(Some(Opening::new(seq, closed, rejected)))
    }

    fn has_result(&self, digest: &Digest) -> Result<bool> {
        self.is_stored(digest)
    }

    fn has_used(&self, session: &str, approval: u64) -> Result<bool> {
        let mut statement = self.prepare_cached(
            "SELECT body FROM events
             WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND session_seq > ?2
               AND kind = 'opened'",
        )?;
        let mut rows = statement.query((session, approval))?;
        while let Some(row) = rows.next()? {
            let body = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            if Outline::uses(body, session)? == Some(approval) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_decision(&self, session: &str, digest: Digest, seen: u64) -> Result<bool> {
        Ok(is_decided(&queries::decisions(self, session)?, digest, seen))
    }
}

impl Tables for Connection {
    fn verify_definitions(&self) -> Result<()> {
        let list = |connection: &Connection| -> rusqlite::Result<Vec<(String, Option<String>)>> {
            connection
                .prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let broken = |what: String| Err(ReadLedgerError::Broken { what });
        let ours = Connection::open_in_memory()?;
        ours.execute_batch(schema::TABLES)?;
        let (ours, theirs) = (list(&ours)?, list(self).map_err(query_error)?);
        let changed = ours.iter().find(|entry| !theirs.contains(entry));
        if let Some((name, _)) = changed.or(theirs.iter().find(|entry| !ours.contains(entry))) {
            return broken(format!("the definition of `{name}` was changed"));
        }
        let number = |pragma: &str| self.pragma_query_value(None, pragma, |row| row.get(0));
        let version: (i32, i32) = (
            number("application_id").map_err(query_error)?,
            number("user_version").map_err(query_error)?,
        );
        if version != (schema::APPLICATION_ID, schema::USER_VERSION) {
            return broken("the version in the file was changed".to_owned());
        }
        Ok(())
    }

    fn names(&self) -> Result<Vec<String>> {
        self.all("SELECT origin FROM ledger", [], |row| row.get(0))
    }

    fn cut(&self) -> Result<u64> {
        self.one("SELECT coalesce(max(cut), 0) FROM tombstones")
    }

    fn keys(&self) -> Result<Vec<KeyRow>> {
        self.all("SELECT number, public, note FROM keys ORDER BY number", [], |row| {
            let public = PublicKey::from_bytes(row.get(1)?);
            Ok(KeyRow { number: row.get(0)?, public, note: row.get(2)? })
        })
    }

    fn notes(&self, kind: NoteKind) -> Result<Vec<(u64, String)>> {
        self.all(kind.all(), [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn last_note(&self, kind: NoteKind) -> Result<Option<String>> {
        Ok(self.all(kind.last(), [], |row| row.get(0))?.pop())
    }

    fn node(&self, level: u8, number: u64) -> Result<Option<Digest>> {
        let query = "SELECT hash FROM nodes WHERE level = ?1 AND number = ?2";
        Ok(self.all(query, (level, number), |row| digest_at(row, 0))?.pop())
    }

    fn digests(&self, start: u64, end: u64) -> Result<Vec<Digest>> {
        let query = "SELECT digest FROM events WHERE seq >= ?1 AND seq < ?2 ORDER BY seq";
        self.all(query, (start, end), |row| digest_at(row, 0))
    }

    fn events(&self, after: Option<u64>) -> Result<Vec<EventRow>> {
        let query =
            "SELECT seq, session, session_seq, calls, kind, execution_id, opening, digest, body
             FROM events WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
        self.all(query, (from(after), EVENTS), |row| {
            Ok(EventRow {
                seq: row.get(0)?,
                session: row.get(1)?,
                session_seq: row.get(2)?,
                calls: row.get(3)?,
                kind: row.get(4)?,
                execution_id: row.get(5)?,
                opening: row.get(6)?,
                digest: digest_at(row, 7)?,
                body: row.get(8)?,
            })
        })
    }

    fn results(&self, after: Option<u64>) -> Result<Vec<ResultRow>> {
        let query = "SELECT id, digest, size, packed, bytes FROM results
                     WHERE id >= ?1 ORDER BY id LIMIT ?2";
        self.all(query, (from(after), RESULTS), |row| {
            Ok(ResultRow {
                id: row.get(0)?,
                digest: digest_at(row, 1)?,
                size: row.get(2)?,
                packed: row.get(3)?,
                bytes: row.get(4)?,
            })
        })
    }

    fn session_name(&self, number: i64) -> Result<Option<String>> {
        let query = "SELECT name FROM sessions WHERE id = ?1";
        Ok(self.all(query, [number], |row| row.get(0))?.pop())
    }

    fn execution_at(&self, seq: u64) -> Result<Option<String>> {
        let query = "SELECT execution_id FROM events WHERE seq = ?1";
        Ok(self.all(query, [seq], |row| row.get(0))?.pop().flatten())
    }

    fn opening_seq(&self, id: &str) -> Result<Option<u64>> {
        queries::opening(self, id).map_err(query_error)
    }

    fn execution(&self, id: &str) -> Result<Vec<(Event, Vec<u8>)>> {
        queries::execution(self, id)
    }

    fn session_events(&self, name: &str, after: u64, limit: u64) -> Result<Vec<(Event, Vec<u8>)>> {
        queries::session_with_bytes(self, name, after, limit)
    }

    fn is_stored(&self, digest: &Digest) -> Result<bool> {
        let mut statement =
            self.prepare_cached("SELECT 1 FROM results WHERE digest = ?1").map_err(query_error)?;
        statement.exists([digest.as_bytes()]).map_err(query_error)
    }

    fn extent(&self) -> Result<u64> {
        // Retention never drops the last event.
        self.one("SELECT coalesce(max(seq) + 1, 0) FROM events")
    }

    fn count(&self, rows: Counted) -> Result<u64> {
        self.one(match rows {
            Counted::Nodes => "SELECT count(*) FROM nodes",
            Counted::Sessions => "SELECT count(*) FROM sessions",
            Counted::Events => "SELECT count(*) FROM events NOT INDEXED",
            Counted::EventsByIndex => "SELECT count(*) FROM events INDEXED BY events_of_session",
        })
    }
}

/// The start of a page. The first page includes negative numbers, which only tampering produces.
fn from(after: Option<u64>) -> i64 {
    after.map_or(i64::MIN, |after| i64::try_from(after).unwrap_or(i64::MAX).saturating_add(1))
}

/// Runs the queries above.
trait Ask {
    fn all<T, P: rusqlite::Params>(
        &self,
        query: &str,
        parameters: P,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>>;

    fn one(&self, query: &str) -> Result<u64>;
}

impl Ask for Connection {
    fn all<T, P: rusqlite::Params>(
        &self,
        query: &str,
        parameters: P,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.prepare_cached(query).map_err(query_error)?;
        let rows = statement.query_map(parameters, read).map_err(query_error)?;
        rows.collect::<rusqlite::Result<_>>().map_err(query_error)
    }

    fn one(&self, query: &str) -> Result<u64> {
        let mut statement = self.prepare_cached(query).map_err(query_error)?;
        statement.query_row([], |row| row.get(0)).map_err(query_error)
    }
}

/// The error for a failed query. A column of another type was tampered with, and so was a file that
/// is no longer a database.
fn query_error(error: rusqlite::Error) -> ReadLedgerError {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let code = error.sqlite_error_code();
    match error {
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) => {
            ReadLedgerError::Broken { what: format!("unexpected query result: {error}") }
        }
        error if matches!(code, Some(DatabaseCorrupt | NotADatabase)) => {
            ReadLedgerError::Broken { what: format!("the file cannot be read: {error}") }
        }
        error => error.into(),
    }
}
