//! The queries on the tables of a ledger, for every kind of database.

use counterfoil_model::Digest;

use super::event::Event;
use super::key::PublicKey;
use super::read::ReadLedgerError;
use super::tree::{self, Frontier, Subtrees};

/// The queries for finding the end of a ledger, for proofs and for verification.
///
/// Rows come in pages, so that memory is bounded. A caller that needs one snapshot of the whole
/// ledger begins a transaction first.
pub(super) trait Tables {
    /// Verifies that tables, indexes and triggers are those of a ledger: a false index hides rows,
    /// and without a trigger rows can be changed.
    fn verify_definitions(&self) -> Result<(), ReadLedgerError>;

    /// Every name of the ledger; there must be exactly one.
    fn names(&self) -> Result<Vec<String>, ReadLedgerError>;

    /// The first event that remains.
    fn cut(&self) -> Result<u64, ReadLedgerError>;

    /// The keys, in order.
    fn keys(&self) -> Result<Vec<KeyRow>, ReadLedgerError>;

    /// Every note of this kind with its number, lowest first.
    fn notes(&self, kind: NoteKind) -> Result<Vec<(u64, String)>, ReadLedgerError>;

    /// The last note of this kind.
    fn last_note(&self, kind: NoteKind) -> Result<Option<String>, ReadLedgerError>;

    /// A stored node of the tree.
    fn node(&self, level: u8, number: u64) -> Result<Option<Digest>, ReadLedgerError>;

    /// The digests of this range of events, in order; fewer if some are missing.
    fn digests(&self, start: u64, end: u64) -> Result<Vec<Digest>, ReadLedgerError>;

    /// A page of events after this number, in order.
    fn events(&self, after: Option<u64>) -> Result<Vec<EventRow>, ReadLedgerError>;

    /// A page of stored results after this number, in order.
    fn results(&self, after: Option<u64>) -> Result<Vec<ResultRow>, ReadLedgerError>;

    /// The name of a session.
    fn session_name(&self, number: i64) -> Result<Option<String>, ReadLedgerError>;

    /// The execution id that an event opened.
    fn execution_at(&self, seq: u64) -> Result<Option<String>, ReadLedgerError>;

    /// The number of the event that opened an execution.
    fn opening_seq(&self, id: &str) -> Result<Option<u64>, ReadLedgerError>;

    /// The events of an execution with their bytes, beginning with its opening.
    fn execution(&self, id: &str) -> Result<Vec<(Event, Vec<u8>)>, ReadLedgerError>;

    /// At most `limit` remaining events of a session after a place, in order, with their bytes.
    fn session_events(
        &self,
        name: &str,
        after: u64,
        limit: u64,
    ) -> Result<Vec<(Event, Vec<u8>)>, ReadLedgerError>;

    /// Whether a result is stored.
    fn is_stored(&self, digest: &Digest) -> Result<bool, ReadLedgerError>;

    /// The number of events ever written.
    fn extent(&self) -> Result<u64, ReadLedgerError>;

    /// The number of rows of this kind.
    fn count(&self, rows: Counted) -> Result<u64, ReadLedgerError>;
}

/// The kinds of signed notes that have a table of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteKind {
    /// By size of the ledger.
    Checkpoint,
    /// By the first event that remains.
    Tombstone,
    /// By the first event whose results remain.
    ResultTombstone,
}

impl NoteKind {
    /// The query for all notes with their numbers, in order.
    pub(super) fn all(self) -> &'static str {
        match self {
            Self::Checkpoint => "SELECT size, note FROM checkpoints ORDER BY size",
            Self::Tombstone => "SELECT cut, note FROM tombstones ORDER BY cut",
            Self::ResultTombstone => "SELECT cut, note FROM result_tombstones ORDER BY cut",
        }
    }

    /// The query for the last one.
    pub(super) fn last(self) -> &'static str {
        match self {
            Self::Checkpoint => "SELECT note FROM checkpoints ORDER BY size DESC LIMIT 1",
            Self::Tombstone => "SELECT note FROM tombstones ORDER BY cut DESC LIMIT 1",
            Self::ResultTombstone => "SELECT note FROM result_tombstones ORDER BY cut DESC LIMIT 1",
        }
    }
}

/// The kinds of rows that can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    Nodes,
    Sessions,
    Events,
    /// Events as listed in the index of their sessions.
    EventsByIndex,
}

/// A key of the ledger.
#[derive(Debug)]
pub(super) struct KeyRow {
    pub(super) number: u64,
    pub(super) public: PublicKey,
    pub(super) note: String,
}

/// An event as it is stored.
#[derive(Debug)]
pub(super) struct EventRow {
    pub(super) seq: u64,
    pub(super) session: i64,
    pub(super) session_seq: u64,
    pub(super) calls: u64,
    pub(super) kind: String,
    pub(super) execution_id: Option<String>,
    pub(super) opening: Option<u64>,
    pub(super) digest: Digest,
    pub(super) body: Vec<u8>,
}

/// A stored result as it is stored.
#[derive(Debug)]
pub(super) struct ResultRow {
    pub(super) id: u64,
    pub(super) digest: Digest,
    pub(super) size: u64,
    /// 1 if the bytes are an LZ4 block, otherwise 0.
    pub(super) packed: u8,
    pub(super) bytes: Vec<u8>,
}

/// The digest of one event.
pub(super) fn digest(tables: &impl Tables, seq: u64) -> Result<Digest, ReadLedgerError> {
    tables
        .digests(seq, seq + 1)?
        .pop()
        .ok_or_else(|| ReadLedgerError::Broken { what: format!("event {seq} is missing") })
}

/// A stored node of the tree; an error if it is missing.
pub(super) fn node(
    tables: &impl Tables,
    level: u8,
    number: u64,
) -> Result<Digest, ReadLedgerError> {
    tables.node(level, number)?.ok_or_else(|| ReadLedgerError::Broken {
        what: format!("node {number} at level {level} of the tree is missing"),
    })
}

/// The tree as stored in the tables.
pub(super) struct StoredTree<'t, T>(pub(super) &'t T);

impl<T: Tables> Subtrees for StoredTree<'_, T> {
    type Error = ReadLedgerError;

    fn subtree(&mut self, height: u8, number: u64) -> Result<Digest, ReadLedgerError> {
        if height > 0 && height.is_multiple_of(8) {
            return node(self.0, height / 8, number);
        }
        if height > 8 {
            let left = self.subtree(height - 1, 2 * number)?;
            let right = self.subtree(height - 1, 2 * number + 1)?;
            return Ok(tree::node(&left, &right));
        }
        let (start, end) = (number << height, (number + 1) << height);
        let cut = self.0.cut()?;
        if start < cut {
            return Err(ReadLedgerError::Dropped { cut });
        }
        let mut leaves = Frontier::default();
        for digest in self.0.digests(start, end)? {
            leaves.push(&digest, |_| {});
        }
        if leaves.size() == end - start {
            Ok(leaves.root())
        } else {
            let what = format!("events between {start} and {end} are missing");
            Err(ReadLedgerError::Broken { what })
        }
    }
}
