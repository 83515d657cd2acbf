//! What the tables of a ledger are asked, whichever database holds them.

use counterfoil_model::Digest;

use super::event::Event;
use super::head::SessionHead;
use super::key::PublicKey;
use super::read::ReadLedgerError;
use super::recent::Opening;

/// What a new event depends on, as it is while nobody else writes.
pub(super) trait Lookups {
    /// The end of a session that exists.
    fn session(&self, name: &str) -> Result<Option<SessionHead>, ReadLedgerError>;

    /// The event that brought an execution.
    fn opening(&self, id: &str) -> Result<Option<Opening>, ReadLedgerError>;

    /// Whether a result is stored.
    fn has_result(&self, digest: &Digest) -> Result<bool, ReadLedgerError>;

    /// Whether a call of the session has used up the approval at this place of it.
    fn has_used(&self, session: &str, approval: u64) -> Result<bool, ReadLedgerError>;

    /// Whether a person decided on a call of the session after this place of it.
    fn has_decision(
        &self,
        session: &str,
        digest: Digest,
        seen: u64,
    ) -> Result<bool, ReadLedgerError>;
}

/// What is read to find the end of a ledger, to prove something about it and to verify it.
///
/// Rows come in pages, so that no ledger is too large for the memory. Whoever needs one moment of
/// the whole ledger begins a transaction first.
pub(super) trait Tables {
    /// Whether tables, indexes and triggers are those of a ledger: an index that lies hides a row,
    /// a trigger that is gone lets one be changed.
    fn verify_definitions(&self) -> Result<(), ReadLedgerError>;

    /// Every name of the ledger; there must be one.
    fn names(&self) -> Result<Vec<String>, ReadLedgerError>;

    /// The first event that is still there.
    fn cut(&self) -> Result<u64, ReadLedgerError>;

    /// The keys, in their order.
    fn keys(&self) -> Result<Vec<KeyRow>, ReadLedgerError>;

    /// Every note of this kind with its number, the lowest first.
    fn notes(&self, kind: NoteKind) -> Result<Vec<(u64, String)>, ReadLedgerError>;

    /// The last note of this kind.
    fn last_note(&self, kind: NoteKind) -> Result<Option<String>, ReadLedgerError>;

    /// A stored node of the tree.
    fn node(&self, level: u8, number: u64) -> Result<Option<Digest>, ReadLedgerError>;

    /// The digests of these events, in their order, as many as there are.
    fn digests(&self, start: u64, end: u64) -> Result<Vec<Digest>, ReadLedgerError>;

    /// Events after this number, in their order: a page of them.
    fn events(&self, after: Option<u64>) -> Result<Vec<EventRow>, ReadLedgerError>;

    /// Stored results after this number, in their order: a page of them.
    fn results(&self, after: Option<u64>) -> Result<Vec<ResultRow>, ReadLedgerError>;

    /// The name of a session.
    fn session_name(&self, number: i64) -> Result<Option<String>, ReadLedgerError>;

    /// The execution id that an event brought.
    fn execution_at(&self, seq: u64) -> Result<Option<String>, ReadLedgerError>;

    /// The number of the event that brought an execution.
    fn opening_seq(&self, id: &str) -> Result<Option<u64>, ReadLedgerError>;

    /// The events of an execution with their bytes: the one that brought it, then the others.
    fn execution(&self, id: &str) -> Result<Vec<(Event, Vec<u8>)>, ReadLedgerError>;

    /// The events of a session that are still there and come after one of it, in order, with their
    /// bytes; at most so many.
    fn session_events(
        &self,
        name: &str,
        after: u64,
        limit: u64,
    ) -> Result<Vec<(Event, Vec<u8>)>, ReadLedgerError>;

    /// Whether a result is stored.
    fn is_stored(&self, digest: &Digest) -> Result<bool, ReadLedgerError>;

    /// Events that were ever written.
    fn extent(&self) -> Result<u64, ReadLedgerError>;

    /// How many rows there are of this kind.
    fn count(&self, rows: Counted) -> Result<u64, ReadLedgerError>;
}

/// What is signed and stands in a table of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteKind {
    /// By the size of the ledger.
    Checkpoint,
    /// By the first event that is left.
    Tombstone,
    /// By the first event whose results are left.
    ResultTombstone,
}

impl NoteKind {
    /// The query for all of them, with what they are found by, in order.
    pub(super) fn all(self) -> &'static str {
        match self {
            Self::Checkpoint => "SELECT size, note FROM checkpoints ORDER BY size",
            Self::Tombstone => "SELECT cut, note FROM tombstones ORDER BY cut",
            Self::ResultTombstone => "SELECT cut, note FROM result_tombstones ORDER BY cut",
        }
    }

    /// The query for the newest.
    pub(super) fn last(self) -> &'static str {
        match self {
            Self::Checkpoint => "SELECT note FROM checkpoints ORDER BY size DESC LIMIT 1",
            Self::Tombstone => "SELECT note FROM tombstones ORDER BY cut DESC LIMIT 1",
            Self::ResultTombstone => "SELECT note FROM result_tombstones ORDER BY cut DESC LIMIT 1",
        }
    }
}

/// Rows that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    Nodes,
    Sessions,
    Events,
    /// Events as the index of their sessions lists them.
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
    /// 1 when the bytes are an LZ4 block, 0 when they are not.
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

/// A stored node of the tree, which must be there.
pub(super) fn node(
    tables: &impl Tables,
    level: u8,
    number: u64,
) -> Result<Digest, ReadLedgerError> {
    tables.node(level, number)?.ok_or_else(|| ReadLedgerError::Broken {
        what: format!("node {number} of level {level} is missing"),
    })
}
