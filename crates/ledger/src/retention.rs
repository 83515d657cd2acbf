//! Drops what is old: whole blocks of events, and stored results that no newer event needs.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::append::AppendError;
use super::body::Outline;
use super::head::{self, Head};
use super::read::ReadLedgerError;
use super::results::PER_EVENT;
use super::seal::Trouble;
use super::settings::Retention;
use super::tables;
use super::tombstone::{ResultTombstone, Tombstone};
use super::tree::BLOCK;
use super::writer::Writer;

impl Writer {
    /// Drops what is no longer kept.
    pub(super) fn retain(&mut self, retention: &Retention) -> Result<(), AppendError> {
        if *retention == Retention::default() {
            return Ok(());
        }
        let now = self.clock.wall();
        let before = |age: std::time::Duration| {
            now.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
        };
        self.transaction(|writer, head| {
            let mut results_cut = 0;
            if let Some(age) = retention.events_for {
                let cut = events_before(&writer.connection, head, before(age))?;
                if cut > head.cut {
                    writer.drop_events(head, cut)?;
                    results_cut = cut;
                }
            }
            if let Some(age) = retention.results_for {
                results_cut = results_cut.max(results_before(writer, head, before(age))?);
            }
            if let Some(bytes) = retention.results_bytes {
                results_cut = results_cut.max(results_beyond(&writer.connection, bytes)?);
            }
            writer.drop_results(head, results_cut)
        })?;
        // Sessions may be gone, so the cached head is no longer valid.
        self.head = None;
        Ok(())
    }

    fn drop_events(&mut self, head: &mut Head, cut: u64) -> Result<(), Trouble> {
        self.follow_rotation()?;
        let connection = &self.connection;
        let tombstone = Tombstone {
            cut,
            size: head.frontier.size(),
            root: head::frontier(connection, cut)?.root(),
            last: tables::digest(connection, cut - 1)?,
            sessions: going_on(connection, &self.signer.origin, cut)?,
        };
        let note = tombstone.sign(&self.signer.origin, &self.signer.key).to_string();
        connection
            .execute("INSERT INTO tombstones (cut, note) VALUES (?1, ?2)", params![cut, note])?;
        connection.execute("DELETE FROM events WHERE seq < ?1", [cut])?;
        connection.execute(
            "DELETE FROM sessions WHERE NOT EXISTS
             (SELECT 1 FROM events WHERE events.session = sessions.id)",
            [],
        )?;
        // Sign what remains before deleting the checkpoints of what is gone.
        self.sign_in_tables(head)?;
        self.connection.execute("DELETE FROM checkpoints WHERE size < ?1", [cut])?;
        head.cut = cut;
        Ok(())
    }

    fn drop_results(&mut self, head: &Head, cut: u64) -> Result<(), Trouble> {
        let oldest: Option<u64> =
            self.connection.query_row("SELECT min(id) FROM results", [], |row| row.get(0))?;
        if oldest.is_none_or(|oldest| oldest >= cut * PER_EVENT) {
            return Ok(());
        }
        self.follow_rotation()?;
        let tombstone = ResultTombstone { cut, size: head.frontier.size() };
        let note = tombstone.sign(&self.signer.origin, &self.signer.key).to_string();
        self.connection.execute(
            "INSERT INTO result_tombstones (cut, note) VALUES (?1, ?2)",
            params![cut, note],
        )?;
        self.connection.execute("DELETE FROM results WHERE id < ?1", [cut * PER_EVENT])?;
        Ok(())
    }
}

/// The end of the blocks whose events are all older than `threshold`. Never includes the last
/// event.
fn events_before(
    connection: &Connection,
    head: &Head,
    threshold: i64,
) -> Result<u64, ReadLedgerError> {
    let most = head.frontier.size().saturating_sub(1) / BLOCK * BLOCK;
    let mut cut = head.cut;
    let mut statement =
        connection.prepare("SELECT body FROM events WHERE seq >= ?1 AND seq < ?2")?;
    while cut < most {
        let mut rows = statement.query([cut, cut + BLOCK])?;
        while let Some(row) = rows.next()? {
            let body = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            if at(body)? >= threshold {
                return Ok(cut);
            }
        }
        cut += BLOCK;
    }
    Ok(cut)
}

/// The first event at or after `threshold` that has a stored result; the end of the ledger if all
/// are older.
fn results_before(writer: &Writer, head: &Head, threshold: i64) -> Result<u64, ReadLedgerError> {
    let mut statement = writer.connection.prepare(
        "SELECT seq, body FROM results JOIN events ON seq = results.id / ?1 ORDER BY results.id",
    )?;
    let mut rows = statement.query([PER_EVENT])?;
    while let Some(row) = rows.next()? {
        if at(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)? >= threshold {
            return Ok(row.get(0)?);
        }
    }
    Ok(head.frontier.size())
}

/// The first event from which on the stored results take at most `most` bytes.
fn results_beyond(connection: &Connection, most: u64) -> Result<u64, ReadLedgerError> {
    let mut statement =
        connection.prepare("SELECT id, length(bytes) FROM results ORDER BY id DESC")?;
    let mut rows = statement.query([])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        bytes += row.get::<_, u64>(1)?;
        if bytes > most {
            return Ok(row.get::<_, u64>(0)? / PER_EVENT + 1);
        }
    }
    Ok(0)
}

/// Sessions with events on both sides of the cut: their last place before it, and the number of
/// first attempts up to there.
fn going_on(
    connection: &Connection,
    origin: &str,
    cut: u64,
) -> Result<BTreeMap<String, (u64, u64)>, ReadLedgerError> {
    let earlier = Tombstone::last(connection, origin)?.map(|tombstone| tombstone.sessions);
    let mut statement = connection.prepare(
        "SELECT name, last.session_seq, last.calls
         FROM (SELECT session, min(session_seq) AS first FROM events WHERE seq >= ?1
               GROUP BY session) AS rest
         JOIN sessions ON sessions.id = rest.session
         LEFT JOIN events AS last
             ON last.session = rest.session AND last.session_seq = rest.first - 1
         WHERE rest.first > 1",
    )?;
    let mut rows = statement.query([cut])?;
    let mut sessions = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        // If the event before was dropped earlier, the earlier tombstone has its numbers.
        let known = match row.get(1)? {
            Some(seq) => Some((seq, row.get(2)?)),
            None => earlier.as_ref().and_then(|earlier| earlier.get(&name).copied()),
        };
        let what = format!("an event of session `{name}` is missing");
        sessions.insert(name, known.ok_or(ReadLedgerError::Broken { what })?);
    }
    Ok(sessions)
}

/// When an event was written.
pub(super) fn at(body: &[u8]) -> Result<i64, ReadLedgerError> {
    let outline = Outline::read(body);
    outline.map(|outline| outline.at).map_err(|error| ReadLedgerError::Broken {
        what: format!("an event cannot be read: {error}"),
    })
}
