use std::collections::HashMap;

use counterfoil_model::{CanonicalForm, Digest};

use super::signed::Signed;
use super::stored::StoredResults;
use super::verification::{Broken, HeldAgainst, Stop, Verification};
use crate::body::Outline;
use crate::head::genesis;
use crate::note::Checkpoint;
use crate::tables::{self, Counted, EventRow, Tables};
use crate::tree::{BLOCK, Frontier, StoredNode};

/// Walks through the events in order and recomputes what each depends on.
pub(super) struct Chain<'v, T> {
    pub(super) tables: &'v T,
    pub(super) signed: &'v Signed,
    expected: Option<&'v Checkpoint>,
    pub(super) found: &'v mut Verification,
    pub(super) frontier: Frontier,
    /// The digest of the event before.
    pub(super) last: Digest,
    /// When the event before was written.
    pub(super) at: i64,
    /// The number of stored nodes recomputed.
    nodes: u64,
    /// The sessions by number in the table; those that are only in the log have negative numbers.
    pub(super) sessions: HashMap<i64, Session>,
    /// The last event that ended a session: it must be signed.
    pub(super) ended: Option<u64>,
}

#[derive(Default)]
pub(super) struct Session {
    pub(super) name: String,
    pub(super) seq: u64,
    pub(super) calls: u64,
}

impl<'v, T: Tables> Chain<'v, T> {
    /// Begins where retention left off.
    pub(super) fn begin(
        tables: &'v T,
        origin: &str,
        signed: &'v Signed,
        expected: Option<&'v Checkpoint>,
        found: &'v mut Verification,
    ) -> Result<Self, Stop> {
        let mut chain = Self {
            tables,
            signed,
            expected,
            found,
            frontier: Frontier::default(),
            last: genesis(origin),
            at: i64::MIN,
            nodes: 0,
            sessions: HashMap::new(),
            ended: None,
        };
        chain.hold_against_here()?;
        if let Some(tombstone) = &signed.tombstone {
            chain.found.first = tombstone.cut;
            for number in 0..tombstone.cut / BLOCK {
                let hash = tables::node(tables, 1, number)?;
                chain.nodes += 1;
                let mut completed = Vec::new();
                chain.frontier.push_node(1, hash, |node| completed.push(node));
                chain.compare_nodes(&completed)?;
                chain.hold_against_here()?;
            }
            if chain.frontier.size() != tombstone.cut || chain.frontier.root() != tombstone.root {
                let what = "the tree nodes of the dropped events do not match the tombstone";
                return Err(Broken::new(what).into());
            }
            chain.last = tombstone.last;
        }
        Ok(chain)
    }

    pub(super) fn verify_events(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), Stop> {
        let tables = self.tables;
        let mut results = StoredResults::begin(tables)?;
        let mut last = None;
        loop {
            let page = tables.events(last)?;
            let Some(row) = page.last() else { break };
            last = Some(row.seq);
            for row in &page {
                let seq = self.frontier.size();
                if results.event().is_some_and(|event| event < seq) {
                    return Err(Broken::new("a stored result does not belong to any event").into());
                }
                self.event(seq, row, &mut results)?;
                self.found.events += 1;
                if seq.is_multiple_of(1024) {
                    progress(self.found.events);
                }
            }
        }
        match results.event() {
            None => Ok(()),
            Some(_) => Err(Broken::new("a stored result does not belong to any event").into()),
        }
    }

    /// The number of events verified.
    pub(super) fn events(&self) -> u64 {
        self.found.events
    }

    fn event(
        &mut self,
        seq: u64,
        row: &EventRow,
        results: &mut StoredResults<'_, T>,
    ) -> Result<(), Stop> {
        if row.seq != seq {
            return Err(Broken::event(seq, "it is missing").into());
        }
        let bytes = row.body.as_slice();
        let digest = Digest::of_bytes(bytes);
        if digest != row.digest {
            return Err(Broken::event(seq, "its content does not match its digest").into());
        }
        let outline = Outline::read(bytes)
            .map_err(|error| Broken::event(seq, format!("it cannot be read: {error}")))?;
        let broken = |what: String| Broken::outlined(seq, &outline, what);
        let unlike =
            |column: &str| broken(format!("the column `{column}` does not match the event"));
        self.check_continues(seq, &outline)?;
        if outline.seq != seq {
            return Err(unlike("seq").into());
        }
        let draft = &outline.draft;
        let session = self.session(row.session, &outline)?.ok_or_else(|| unlike("session"))?;
        session.seq += 1;
        session.calls += u64::from(draft.is_first_attempt());
        if outline.session_seq != session.seq {
            let what = format!(
                "its position in the session is {}, expected {}",
                outline.session_seq, session.seq
            );
            return Err(broken(what).into());
        }
        let columns = [
            ("session_seq", row.session_seq == session.seq),
            ("calls", row.calls == session.calls),
            ("kind", row.kind == draft.event),
            ("execution_id", row.execution_id.as_deref() == draft.opens()),
        ];
        if let Some((column, _)) = columns.iter().find(|(_, same)| !same) {
            return Err(unlike(column).into());
        }
        if !self.opens(row.opening, seq, draft.follows())? {
            return Err(unlike("opening").into());
        }
        self.hold_results(seq, bytes, &outline, results)?;
        self.move_on(seq, &outline, digest);
        let mut completed = Vec::new();
        self.frontier.push(&digest, |node| completed.push(node));
        self.compare_nodes(&completed)?;
        self.hold_against_here()
    }

    /// Checks that an event continues the one before it and has a known version.
    pub(super) fn check_continues(&self, seq: u64, outline: &Outline<'_>) -> Result<(), Stop> {
        let broken = |what: String| Err(Broken::outlined(seq, outline, what).into());
        if outline.previous != self.last {
            return broken("it does not continue the previous event".to_owned());
        }
        match CanonicalForm::of_version(outline.version) {
            Some(_) => Ok(()),
            None => broken(format!("its version {} is not supported", outline.version)),
        }
    }

    /// Checks that the stored results of an event are those it names, and that the one it needs is
    /// there.
    fn hold_results(
        &mut self,
        seq: u64,
        bytes: &[u8],
        outline: &Outline<'_>,
        results: &mut StoredResults<'_, T>,
    ) -> Result<(), Stop> {
        let needed = outline.draft.needs().filter(|needed| *needed != Digest::of_bytes(b""));
        let (count, had) = results.of_event(seq, bytes, needed.as_ref())?;
        self.found.results += count;
        if let Some(needed) = needed.filter(|_| !had)
            && !self.tables.is_stored(&needed)?
        {
            if seq >= self.signed.results_cut {
                let what = format!("its stored result {needed} is missing");
                return Err(Broken::outlined(seq, outline, what).into());
            }
            self.found.results_dropped += 1;
        }
        Ok(())
    }

    /// Makes this event the one that the next must continue.
    pub(super) fn move_on(&mut self, seq: u64, outline: &Outline<'_>, digest: Digest) {
        if outline.at < self.at {
            self.found.clock_went_back += 1;
        }
        if outline.draft.event == "ended" {
            self.ended = Some(seq);
        }
        (self.at, self.last) = (outline.at, digest);
    }

    /// The session with a number, if its name is that of the event.
    fn session(
        &mut self,
        number: i64,
        outline: &Outline<'_>,
    ) -> Result<Option<&mut Session>, Stop> {
        if !self.sessions.contains_key(&number) {
            let name = self.tables.session_name(number)?;
            let Some(name) = name else { return Ok(None) };
            let tombstone = self.signed.tombstone.as_ref();
            let before = tombstone.and_then(|tombstone| tombstone.sessions.get(&name));
            let (seq, calls) = before.copied().unwrap_or_default();
            self.sessions.insert(number, Session { name, seq, calls });
        }
        Ok(self.sessions.get_mut(&number).filter(|session| session.name == outline.session))
    }

    /// Whether the column `opening` names the event that opened this execution.
    fn opens(&self, opening: Option<u64>, seq: u64, execution: Option<&str>) -> Result<bool, Stop> {
        let (Some(opening), Some(execution)) = (opening, execution) else {
            return Ok(opening.is_none() && execution.is_none());
        };
        if opening < self.found.first || opening >= seq {
            // Dropped events can no longer be checked.
            return Ok(opening < self.found.first);
        }
        Ok(self.tables.execution_at(opening)?.as_deref() == Some(execution))
    }

    fn compare_nodes(&mut self, completed: &[StoredNode]) -> Result<(), Stop> {
        for StoredNode { level, number, hash } in completed {
            if tables::node(self.tables, *level, *number)? != *hash {
                let what = format!("node {number} at level {level} of the tree was changed");
                return Err(Broken::new(what).into());
            }
            self.nodes += 1;
        }
        Ok(())
    }

    /// Compares the tree with the checkpoints of its current size.
    pub(super) fn hold_against_here(&mut self) -> Result<(), Stop> {
        let size = self.frontier.size();
        if let Some(checkpoint) = self.signed.checkpoints.get(&size) {
            if checkpoint.root() != self.frontier.root() {
                let what = format!("the checkpoint at size {size} was made for different events");
                return Err(Broken::new(what).into());
            }
            self.found.checkpoints += 1;
            self.found.signed = size;
        }
        if let Some(expected) = self.expected.filter(|expected| expected.size() == size) {
            if expected.root() != self.frontier.root() {
                let what = "the separately kept checkpoint was made for different events";
                return Err(Broken::new(what).into());
            }
            self.found.checkpoint = HeldAgainst::Fits;
        }
        Ok(())
    }

    /// Checks that there are no further rows, and that the end is signed.
    pub(super) fn end(self) -> Result<(), Stop> {
        let Self { tables, signed, found, frontier, nodes, sessions, .. } = self;
        let size = frontier.size();
        found.sessions = u64::try_from(sessions.len()).unwrap_or(u64::MAX);
        if tables.count(Counted::Nodes)? != nodes {
            return Err(Broken::new("the tree has nodes that belong to no event").into());
        }
        let in_tables = sessions.keys().filter(|number| **number >= 0).count();
        if tables.count(Counted::Sessions)? != u64::try_from(in_tables).unwrap_or(u64::MAX) {
            return Err(Broken::new("a session has no events").into());
        }
        let last = signed.checkpoints.last_key_value().map_or(0, |(size, _)| *size);
        if last > size {
            let what = format!("the ledger has {size} events, but a checkpoint covers {last}");
            return Err(Broken::event(size, what).into());
        }
        if tables.count(Counted::Events)? != tables.count(Counted::EventsByIndex)? {
            return Err(Broken::new("an index does not list every event").into());
        }
        if let Some(seq) = self.ended.filter(|seq| *seq >= found.signed) {
            return Err(Broken::event(seq, "no checkpoint covers the end of the session").into());
        }
        if size.saturating_sub(found.signed) >= BLOCK {
            let what = format!("no checkpoint covers the events from {} onwards", found.signed);
            return Err(Broken::event(found.signed, what).into());
        }
        let Some(expected) = self.expected.filter(|_| found.checkpoint != HeldAgainst::Fits) else {
            return Ok(());
        };
        if expected.size() > size {
            let what = format!(
                "the ledger has {size} events, but the separately kept checkpoint covers {}",
                expected.size()
            );
            return Err(Broken::event(size, what).into());
        }
        found.checkpoint = HeldAgainst::NotCheckable;
        Ok(())
    }
}
