//! What stands in the log and not yet in the tables, in memory.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use counterfoil_model::Digest;
use rusqlite::{Connection, OptionalExtension as _};

use super::body::{self, Outline};
use super::event::{APPROVED, DECLINED, Event};
use super::read::{self, ReadLedgerError};
use super::results::Stored;
use super::tree::StoredNode;

/// Events on their way into the tables, and what is asked of them until then.
#[derive(Debug, Default)]
pub(super) struct Recent {
    pub(super) entries: Vec<Entry>,
    /// Size and note of each.
    pub(super) checkpoints: Vec<(u64, String)>,
    /// The events that brought executions, by their ids.
    openings: HashMap<String, Opening>,
    /// How often executions were closed, by the events that brought them.
    closings: HashMap<u64, u64>,
    results: HashSet<Digest>,
}

/// An event as it stands in the tables.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) seq: u64,
    pub(super) session: String,
    pub(super) session_seq: u64,
    pub(super) calls: u64,
    pub(super) kind: Cow<'static, str>,
    pub(super) execution_id: Option<String>,
    pub(super) opening: Option<u64>,
    pub(super) digest: Digest,
    pub(super) body: Vec<u8>,
    /// The stored result that it refers to.
    pub(super) needs: Option<Digest>,
    pub(super) stored: Vec<Stored>,
    /// What it completes in the tree.
    pub(super) nodes: Vec<StoredNode>,
}

/// The event that brought an execution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub(super) seq: u64,
    /// How often it was closed. Twice, which is the most, for a call that was rejected.
    pub(super) closings: u64,
}

impl Recent {
    pub(super) fn add(&mut self, entry: Entry) {
        if let Some(id) = &entry.execution_id {
            let closings = 2 * u64::from(entry.kind == "rejected");
            self.openings.insert(id.clone(), Opening { seq: entry.seq, closings });
        }
        if let Some(opening) = entry.opening.filter(|_| entry.kind == "closed") {
            *self.closings.entry(opening).or_default() += 1;
        }
        self.results.extend(entry.stored.iter().map(|stored| stored.digest));
        self.entries.push(entry);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.checkpoints.is_empty()
    }

    /// Whether a call of the session has used up the approval at this place of it.
    pub(super) fn has_used(
        &self,
        connection: &Connection,
        session: &str,
        approval: u64,
    ) -> Result<bool, ReadLedgerError> {
        let uses = |body: &[u8]| {
            let read = Outline::read(body).map(|outline| outline.draft.uses() == Some(approval));
            read.map_err(|error| ReadLedgerError::Broken {
                what: format!("an event of `{session}` cannot be read: {error}"),
            })
        };
        let after = |entry: &&Entry| entry.session == session && entry.session_seq > approval;
        for entry in self.entries.iter().filter(after) {
            if uses(&entry.body)? {
                return Ok(true);
            }
        }
        read::any_opened(connection, session, approval, uses)
    }

    /// Whether a person decided on a call of the session after this place of it.
    pub(super) fn has_decision(
        &self,
        connection: &Connection,
        session: &str,
        digest: Digest,
        seen: u64,
    ) -> Result<bool, ReadLedgerError> {
        let after = |entry: &&Entry| entry.session == session && entry.session_seq > seen;
        let of_people = |entry: &&Entry| matches!(&*entry.kind, APPROVED | DECLINED);
        for entry in self.entries.iter().filter(after).filter(of_people) {
            let event = body::read(&entry.body).map_err(|error| ReadLedgerError::Broken {
                what: format!("an event of `{session}` cannot be read: {error}"),
            })?;
            if event.draft.decides() == Some(digest) {
                return Ok(true);
            }
        }
        let moved = read::decisions(connection, session)?;
        let is_it = |event: &Event| event.session_seq > seen;
        Ok(moved.iter().filter(|event| is_it(event)).any(|e| e.draft.decides() == Some(digest)))
    }

    /// The event that brought an execution, wherever it stands.
    pub(super) fn opening(
        &self,
        connection: &Connection,
        id: &str,
    ) -> rusqlite::Result<Option<Opening>> {
        let found = match self.openings.get(id) {
            Some(opening) => Some(*opening),
            None => moved(connection, id)?,
        };
        Ok(found.map(|Opening { seq, closings }| {
            let closings = closings + self.closings.get(&seq).copied().unwrap_or_default();
            Opening { seq, closings }
        }))
    }

    /// Whether a result is stored, wherever it stands.
    pub(super) fn has_result(
        &self,
        connection: &Connection,
        digest: &Digest,
    ) -> rusqlite::Result<bool> {
        if self.results.contains(digest) {
            return Ok(true);
        }
        connection
            .prepare_cached("SELECT 1 FROM results WHERE digest = ?1")?
            .exists([digest.as_bytes()])
    }
}

/// The event that brought an execution, if it stands in the tables.
fn moved(connection: &Connection, id: &str) -> rusqlite::Result<Option<Opening>> {
    let found: Option<(u64, bool)> = connection
        .prepare_cached("SELECT seq, kind = 'rejected' FROM events WHERE execution_id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((seq, rejected)) = found else { return Ok(None) };
    let closed: u64 = connection
        .prepare_cached("SELECT count(*) FROM events WHERE opening = ?1 AND kind = 'closed'")?
        .query_row([seq], |row| row.get(0))?;
    Ok(Some(Opening { seq, closings: closed + 2 * u64::from(rejected) }))
}
