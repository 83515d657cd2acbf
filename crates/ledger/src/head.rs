//! The end of the ledger, which the next event continues.

use std::collections::HashMap;

use counterfoil_model::Digest;
use rusqlite::{Connection, OptionalExtension as _};

use super::body::Outline;
use super::log::{Extent, Record};
use super::lookups::{Lookups, SessionHead};
use super::note::Checkpoint;
use super::read::ReadLedgerError;
use super::recent::{Entry, Recent};
use super::results::Stored;
use super::tables::{self, EventRow, NoteKind, Tables};
use super::tree::{BLOCK, Frontier};

/// The end of the ledger when this process last wrote or read it.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) frontier: Frontier,
    /// The digest of the last event, or of the ledger's name if there is none.
    pub(super) last: Digest,
    /// The size of the last checkpoint.
    pub(super) signed: u64,
    /// The first event that retention kept.
    pub(super) cut: u64,
    /// Where the log ends.
    pub(super) log: Extent,
    /// What is only in the log.
    pub(super) recent: Recent,
    /// Whether nothing has failed since it was read.
    pub(super) is_whole: bool,
    /// Whether the signing key is known to be the last one.
    pub(super) key_is_known: bool,
    sessions: HashMap<String, SessionHead>,
}

/// The maximum number of sessions kept in memory; beyond it they are dropped and looked up again.
const REMEMBERED: usize = 4096;

impl Head {
    /// Reads the end of the tables. The signed part must still have the signed root, and the events
    /// after it must form a chain: nothing else is ever signed again.
    pub(super) fn load(
        tables: &impl Tables,
        origin: &str,
        log: Extent,
    ) -> Result<Self, ReadLedgerError> {
        let cut = tables.cut()?;
        let checkpoint = last_checkpoint(tables)?;
        let signed = checkpoint.as_ref().map_or(0, Checkpoint::size);
        let frontier = frontier(tables, signed)?;
        if let Some(checkpoint) = checkpoint {
            hold(&checkpoint, frontier.root(), tables)?;
        }
        let last = match signed.checked_sub(1) {
            Some(last) => tables::digest(tables, last)?,
            None => genesis(origin),
        };
        let mut head = Self {
            frontier,
            last,
            signed,
            cut,
            log,
            recent: Recent::default(),
            is_whole: true,
            key_is_known: false,
            sessions: HashMap::new(),
        };
        head.extend(tables)?;
        Ok(head)
    }

    /// Adds what is in the log and continues the tables.
    pub(super) fn replay(
        &mut self,
        connection: &Connection,
        records: Vec<Record>,
    ) -> Result<(), ReadLedgerError> {
        let mut last = None;
        for record in records {
            match record {
                Record::Event(body, stored) => self.replay_event(connection, body, stored)?,
                Record::Checkpoint(note) => {
                    let checkpoint: Checkpoint = note.parse().map_err(|error| {
                        broken(&format!("a checkpoint in its log cannot be read: {error}"))
                    })?;
                    if checkpoint.size() <= self.signed {
                        continue;
                    }
                    if checkpoint.size() != self.frontier.size()
                        || checkpoint.root() != self.frontier.root()
                    {
                        return Err(broken("a checkpoint in its log has a different root hash"));
                    }
                    self.signed = checkpoint.size();
                    self.recent.checkpoints.push((checkpoint.size(), note));
                    last = Some(checkpoint);
                }
            }
        }
        // Earlier checkpoints were signed with the same keys; verifying the ledger checks each of
        // them.
        if let Some(last) = last {
            hold(&last, last.root(), connection)?;
        }
        Ok(())
    }

    /// Adds an event of the log, unless it is already in the tables.
    fn replay_event(
        &mut self,
        connection: &Connection,
        body: Vec<u8>,
        stored: Vec<Stored>,
    ) -> Result<(), ReadLedgerError> {
        let outline = Outline::read(&body)
            .map_err(|error| broken(&format!("an event in its log cannot be read: {error}")))?;
        let size = self.frontier.size();
        if outline.seq < size {
            // It is in the tables.
            return Ok(());
        }
        if (outline.seq, outline.previous) != (size, self.last) {
            let what =
                format!("event {} in its log does not continue the previous event", outline.seq);
            return Err(broken(&what));
        }
        let mut now = self.session(connection, &outline.session)?.unwrap_or_default();
        now.seq += 1;
        now.calls += u64::from(outline.draft.is_first_attempt());
        let opening = match outline.draft.follows() {
            Some(id) => self.recent.opening(connection, id)?.map(|found| found.seq),
            None => None,
        };
        let brought = |digest: &Digest| stored.iter().any(|s| s.digest == *digest);
        let needs = outline.draft.needs().filter(|needed| !brought(needed));
        let entry = Entry {
            seq: outline.seq,
            session: outline.session.to_string(),
            session_seq: now.seq,
            calls: now.calls,
            kind: outline.draft.event.to_string().into(),
            execution_id: outline.draft.opens().map(str::to_owned),
            opening,
            digest: Digest::of_bytes(&body),
            needs,
            stored,
            nodes: Vec::new(),
            body,
        };
        self.add(entry, now);
        Ok(())
    }

    /// Adds an event that is in the log.
    pub(super) fn add(&mut self, mut entry: Entry, session: SessionHead) {
        self.last = entry.digest;
        self.frontier.push(&entry.digest, |node| entry.nodes.push(node));
        match self.sessions.get_mut(&entry.session) {
            Some(known) => *known = session,
            None => drop(self.sessions.insert(entry.session.clone(), session)),
        }
        self.recent.add(entry);
    }

    /// Adds the events after it, checking that each continues the one before.
    pub(super) fn extend(&mut self, tables: &impl Tables) -> Result<(), ReadLedgerError> {
        loop {
            let page = tables.events(self.frontier.size().checked_sub(1))?;
            if page.is_empty() {
                return Ok(());
            }
            for EventRow { seq, digest, body, .. } in page {
                let size = self.frontier.size();
                if seq != size {
                    return Err(broken(&format!("event {size} is missing")));
                }
                if Digest::of_bytes(&body) != digest {
                    return Err(broken(&format!("event {seq} does not match its digest")));
                }
                let previous = Outline::read(&body).map(|outline| outline.previous);
                if previous.ok() != Some(self.last) {
                    return Err(broken(&format!(
                        "event {seq} does not continue the previous event"
                    )));
                }
                self.frontier.push(&digest, |_| {});
                self.last = digest;
            }
        }
    }

    /// The end of a session; `None` if it has not begun.
    pub(super) fn session(
        &mut self,
        lookups: &impl Lookups,
        name: &str,
    ) -> Result<Option<SessionHead>, ReadLedgerError> {
        if let Some(head) = self.sessions.get(name) {
            return Ok(Some(*head));
        }
        let found = lookups.session(name)?;
        if let Some(head) = found {
            self.sessions.insert(name.to_owned(), head);
        }
        Ok(found)
    }

    /// The number of a session in the tables, if known.
    pub(super) fn session_id(&self, name: &str) -> Option<i64> {
        self.sessions.get(name).and_then(|session| session.id)
    }

    pub(super) fn remember_session_id(&mut self, name: &str, id: i64) {
        if let Some(session) = self.sessions.get_mut(name) {
            session.id = Some(id);
        }
    }

    /// Forgets what is in the tables by now.
    #[cfg(feature = "postgres")]
    pub(super) fn forget(&mut self) {
        self.recent = Recent::default();
        self.sessions.clear();
    }

    /// Forgets the sessions if there are too many. All their events must be in the tables.
    pub(super) fn forget_sessions(&mut self) {
        if self.sessions.len() > REMEMBERED {
            self.sessions.clear();
        }
    }
}

/// The previous digest of the first event.
pub(super) fn genesis(origin: &str) -> Digest {
    Digest::of_bytes(origin.as_bytes())
}

/// The end of a session that exists.
pub(super) fn find_session(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<Option<SessionHead>> {
    let id: Option<i64> = connection
        .prepare_cached("SELECT id FROM sessions WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    let Some(id) = id else { return Ok(None) };
    let last = connection
        .prepare_cached(
            "SELECT session_seq, calls FROM events WHERE session = ?1
             ORDER BY session_seq DESC LIMIT 1",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (seq, calls) = last.unwrap_or_default();
    Ok(Some(SessionHead::known(id, seq, calls)))
}

/// Verifies that the last checkpoint covers these events and is signed by a key of the ledger.
pub(super) fn hold(
    checkpoint: &Checkpoint,
    root: Digest,
    tables: &impl Tables,
) -> Result<(), ReadLedgerError> {
    if checkpoint.root() != root {
        return Err(broken("its last checkpoint has a different root hash"));
    }
    if tables.keys()?.iter().any(|key| checkpoint.is_signed_by(&key.public)) {
        Ok(())
    } else {
        Err(broken("its last checkpoint is not signed by any of its keys"))
    }
}

pub(super) fn last_checkpoint(tables: &impl Tables) -> Result<Option<Checkpoint>, ReadLedgerError> {
    let note = tables.last_note(NoteKind::Checkpoint)?;
    let checkpoint = note.map(|note| note.parse()).transpose();
    checkpoint.map_err(|error| broken(&format!("its last checkpoint cannot be read: {error}")))
}

fn broken(what: &str) -> ReadLedgerError {
    ReadLedgerError::Broken { what: what.to_owned() }
}

/// The frontier of the first `size` leaves, computed from stored nodes and fewer than 256 events.
pub(super) fn frontier(tables: &impl Tables, size: u64) -> Result<Frontier, ReadLedgerError> {
    let mut frontier = Frontier::default();
    for level in (1..8_u8).rev() {
        let leaves = BLOCK.pow(u32::from(level) - 1).saturating_mul(BLOCK);
        while size - frontier.size() >= leaves {
            let hash = tables::node(tables, level, frontier.size() / leaves)?;
            frontier.push_node(level, hash, |_| {});
        }
    }
    for digest in tables.digests(frontier.size(), size)? {
        frontier.push(&digest, |_| {});
    }
    if frontier.size() == size {
        Ok(frontier)
    } else {
        Err(broken("events are missing at the end"))
    }
}
