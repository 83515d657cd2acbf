//! An in-memory view of what is in the log but not yet in the tables.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use counterfoil_model::Digest;

use super::body::{self, Outline};
use super::event::{APPROVED, DECLINED};
use super::lookups::{Lookups, Opening};
use super::read::ReadLedgerError;
use super::results::Stored;
use super::tree::StoredNode;

/// Events on their way into the tables, and indexes of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent {
    pub(super) entries: Vec<Entry>,
    /// The size and note of each checkpoint.
    pub(super) checkpoints: Vec<(u64, String)>,
    /// The events that opened executions, by execution id.
    openings: HashMap<String, Opening>,
    /// How often executions were closed, by the number of the opening event.
    closings: HashMap<u64, u64>,
    results: HashSet<Digest>,
}

/// An event as it will be in the tables.
#[derive(Debug, Clone)]
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
    /// The tree nodes that it completes.
    pub(super) nodes: Vec<StoredNode>,
}

impl Recent {
    pub(super) fn add(&mut self, entry: Entry) {
        if let Some(id) = &entry.execution_id {
            let opening = Opening::new(entry.seq, 0, entry.kind == "rejected");
            self.openings.insert(id.clone(), opening);
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

    /// Whether a call of the session has used the approval at this place.
    pub(super) fn has_used(
        &self,
        lookups: &impl Lookups,
        session: &str,
        approval: u64,
    ) -> Result<bool, ReadLedgerError> {
        let after = |entry: &&Entry| entry.session == session && entry.session_seq > approval;
        for entry in self.entries.iter().filter(after) {
            if Outline::uses(&entry.body, session)? == Some(approval) {
                return Ok(true);
            }
        }
        lookups.has_used(session, approval)
    }

    /// Whether a person decided on a call of the session after this place.
    pub(super) fn has_decision(
        &self,
        lookups: &impl Lookups,
        session: &str,
        digest: Digest,
        seen: u64,
    ) -> Result<bool, ReadLedgerError> {
        let after = |entry: &&Entry| entry.session == session && entry.session_seq > seen;
        let of_people = |entry: &&Entry| matches!(&*entry.kind, APPROVED | DECLINED);
        for entry in self.entries.iter().filter(after).filter(of_people) {
            let event = body::read(&entry.body).map_err(|error| ReadLedgerError::Broken {
                what: format!("an event of the session `{session}` cannot be read: {error}"),
            })?;
            if event.draft.decides() == Some(digest) {
                return Ok(true);
            }
        }
        lookups.has_decision(session, digest, seen)
    }

    /// The event that opened an execution, in memory or in the tables.
    pub(super) fn opening(
        &self,
        lookups: &impl Lookups,
        id: &str,
    ) -> Result<Option<Opening>, ReadLedgerError> {
        let found = match self.openings.get(id) {
            Some(opening) => Some(*opening),
            None => lookups.opening(id)?,
        };
        Ok(found.map(|Opening { seq, closings }| {
            let closings = closings + self.closings.get(&seq).copied().unwrap_or_default();
            Opening { seq, closings }
        }))
    }

    /// Whether a result is stored, in memory or in the tables.
    pub(super) fn has_result(
        &self,
        lookups: &impl Lookups,
        digest: &Digest,
    ) -> Result<bool, ReadLedgerError> {
        Ok(self.results.contains(digest) || lookups.has_result(digest)?)
    }
}
