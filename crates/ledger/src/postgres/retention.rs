//! Drops what is no longer kept, and signs tombstones in its place.

use std::collections::BTreeMap;
use std::time::Duration;

use super::link::{Failure, Link, column, number, signed};
use super::writer::Writer;
use crate::append::AppendError;
use crate::head::{self, Head};
use crate::read::ReadLedgerError;
use crate::results::PER_EVENT;
use crate::retention::at;
use crate::seal::Trouble;
use crate::settings::Retention;
use crate::tables;
use crate::tombstone::{ResultTombstone, Tombstone};
use crate::tree::BLOCK;

/// The number of events dropped in one step: a multiple of a block.
const STEP: u64 = 64 * BLOCK;

impl Writer {
    /// Drops what is no longer kept, in steps, so that other replicas can write in between.
    pub(super) fn retain(&mut self, retention: &Retention) -> Result<(), AppendError> {
        if *retention == Retention::default() {
            return Ok(());
        }
        while self.retain_one_step(retention)? {}
        Ok(())
    }

    /// Drops one step. Returns whether there was anything to drop.
    fn retain_one_step(&mut self, retention: &Retention) -> Result<bool, AppendError> {
        let now = self.clock.wall();
        let before =
            |age: Duration| now.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
        self.transaction(|link, writer, head| {
            let (mut results_cut, before_this) = (0, head.cut);
            if let Some(age) = retention.events_for {
                let cut = events_before(link, head, before(age))?;
                if cut > head.cut {
                    writer.drop_events(link, head, cut)?;
                    results_cut = cut;
                }
            }
            if let Some(age) = retention.results_for {
                results_cut = results_cut.max(results_before(link, head, before(age))?);
            }
            if let Some(bytes) = retention.results_bytes {
                results_cut = results_cut.max(results_beyond(link, bytes)?);
            }
            let dropped = writer.drop_results(link, head, results_cut)?;
            Ok(dropped || head.cut > before_this)
        })
    }

    fn drop_events(&mut self, link: &Link, head: &mut Head, cut: u64) -> Result<(), Trouble> {
        let tombstone = Tombstone {
            cut,
            size: head.frontier.size(),
            root: head::frontier(link, cut)?.root(),
            last: tables::digest(link, cut - 1)?,
            sessions: going_on(link, &self.signer.origin, cut)?,
        };
        let note = tombstone.sign(&self.signer.origin, &self.signer.key).to_string();
        let cut_at = signed(cut);
        link.execute("INSERT INTO tombstones (cut, note) VALUES ($1, $2)", &[&cut_at, &note])?;
        link.execute("DELETE FROM events WHERE seq < $1", &[&cut_at])?;
        link.execute(
            "DELETE FROM sessions WHERE NOT EXISTS
             (SELECT 1 FROM events WHERE events.session = sessions.id)",
            &[],
        )?;
        // Sign what remains before deleting the checkpoints of what is gone.
        if head.signed < head.frontier.size() {
            self.sign_in_tables(link, head)?;
        }
        link.execute("DELETE FROM checkpoints WHERE size < $1", &[&cut_at])?;
        head.cut = cut;
        Ok(())
    }

    fn drop_results(&self, link: &Link, head: &Head, cut: u64) -> Result<bool, Trouble> {
        let oldest = link.row("SELECT id FROM results ORDER BY id LIMIT 1", &[])?;
        let oldest = oldest.map(|row| number(&row, 0)).transpose()?;
        let Some(oldest) = oldest.filter(|oldest| *oldest < cut * PER_EVENT) else {
            return Ok(false);
        };
        // Content that the remaining events refer to is never older than the cut of the events.
        let cut = cut.min((oldest / PER_EVENT + STEP).max(head.cut));
        let tombstone = ResultTombstone { cut, size: head.frontier.size() };
        let note = tombstone.sign(&self.signer.origin, &self.signer.key).to_string();
        let query = "INSERT INTO result_tombstones (cut, note) VALUES ($1, $2)";
        link.execute(query, &[&signed(cut), &note])?;
        link.execute("DELETE FROM results WHERE id < $1", &[&signed(cut * PER_EVENT)])?;
        Ok(true)
    }
}

/// The end of the blocks whose events are all older than `threshold`. Never includes the last
/// event.
fn events_before(link: &Link, head: &Head, threshold: i64) -> Result<u64, ReadLedgerError> {
    let most = head.frontier.size().saturating_sub(1) / BLOCK * BLOCK;
    let most = most.min(head.cut + STEP);
    let mut cut = head.cut;
    while cut < most {
        let query = "SELECT body FROM events WHERE seq >= $1 AND seq < $2";
        for row in link.rows(query, &[&signed(cut), &signed(cut + BLOCK)])? {
            if at(column(&row, 0)?)? >= threshold {
                return Ok(cut);
            }
        }
        cut += BLOCK;
    }
    Ok(cut)
}

/// The first event at or after `threshold` that has a stored result; the end of the ledger if all
/// are older.
fn results_before(link: &Link, head: &Head, threshold: i64) -> Result<u64, ReadLedgerError> {
    let mut after = i64::MIN;
    loop {
        let query = "SELECT results.id, seq, body
                     FROM results JOIN events ON seq = results.id / 256
                     WHERE results.id > $1 ORDER BY results.id LIMIT 256";
        let rows = link.rows(query, &[&after])?;
        for row in &rows {
            if at(column(row, 2)?)? >= threshold {
                return Ok(number(row, 1)?);
            }
        }
        match rows.last() {
            Some(last) => after = column(last, 0)?,
            None => return Ok(head.frontier.size()),
        }
    }
}

/// The first event from which on the stored results take at most `most` bytes.
fn results_beyond(link: &Link, most: u64) -> Result<u64, ReadLedgerError> {
    let query = "SELECT id FROM
                     (SELECT id, sum(octet_length(bytes)) OVER (ORDER BY id DESC) AS bytes
                      FROM results) AS sums
                 WHERE bytes > $1 ORDER BY id DESC LIMIT 1";
    let row = link.row(query, &[&signed(most)])?;
    let id = row.map(|row| number(&row, 0)).transpose()?;
    Ok(id.map_or(0, |id| id / PER_EVENT + 1))
}

/// Sessions with events on both sides of the cut: their last place before it, and the number of
/// first attempts up to there.
fn going_on(
    link: &Link,
    origin: &str,
    cut: u64,
) -> Result<BTreeMap<String, (u64, u64)>, ReadLedgerError> {
    let earlier = Tombstone::last(link, origin)?.map(|tombstone| tombstone.sessions);
    let rows = link.rows(
        "SELECT name, last.session_seq, last.calls
         FROM (SELECT session, min(session_seq) AS first FROM events WHERE seq >= $1
               GROUP BY session) AS rest
         JOIN sessions ON sessions.id = rest.session
         LEFT JOIN events AS last
             ON last.session = rest.session AND last.session_seq = rest.first - 1
         WHERE rest.first > 1",
        &[&signed(cut)],
    )?;
    let mut sessions = BTreeMap::new();
    for row in &rows {
        let name: String = column(row, 0)?;
        let before: Option<i64> = column(row, 1)?;
        // If the event before was dropped earlier, the earlier tombstone has its numbers.
        let known = match before {
            Some(_) => Some((number(row, 1)?, number(row, 2)?)),
            None => earlier.as_ref().and_then(|earlier| earlier.get(&name).copied()),
        };
        let what = format!("an event of session `{name}` is missing");
        sessions.insert(name, known.ok_or(ReadLedgerError::Broken { what })?);
    }
    Ok(sessions)
}

/// The database refused a statement, which aborts the transaction.
impl From<Failure> for AppendError {
    fn from(failure: Failure) -> Self {
        Self::Storage(failure.message().to_owned())
    }
}
