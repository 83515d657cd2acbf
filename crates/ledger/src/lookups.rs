//! What a new event depends on.

use counterfoil_model::Digest;

use super::read::ReadLedgerError;

/// Looks up what a new event depends on, while no other process writes.
pub(super) trait Lookups {
    /// The end of a session; `None` if it has not begun.
    fn session(&self, name: &str) -> Result<Option<SessionHead>, ReadLedgerError>;

    /// The event that opened an execution.
    fn opening(&self, id: &str) -> Result<Option<Opening>, ReadLedgerError>;

    /// Whether a result is stored.
    fn has_result(&self, digest: &Digest) -> Result<bool, ReadLedgerError>;

    /// Whether a call of the session has used the approval at this place.
    fn has_used(&self, session: &str, approval: u64) -> Result<bool, ReadLedgerError>;

    /// Whether a person decided on a call of the session after this place.
    fn has_decision(
        &self,
        session: &str,
        digest: Digest,
        seen: u64,
    ) -> Result<bool, ReadLedgerError>;
}

/// The end of one session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SessionHead {
    /// Its number in the tables, if known.
    pub(super) id: Option<i64>,
    /// The place of its last event; 0 if it has none.
    pub(super) seq: u64,
    /// The number of first attempts it has made.
    pub(super) calls: u64,
}

impl SessionHead {
    /// The end of a session that is in the tables.
    pub(super) fn known(id: i64, seq: u64, calls: u64) -> Self {
        Self { id: Some(id), seq, calls }
    }
}

/// The event that opened an execution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub(super) seq: u64,
    /// How often it was closed. 2, the maximum, for a rejected call.
    pub(super) closings: u64,
}

impl Opening {
    /// An opening whose execution was closed this often, or was rejected.
    pub(super) fn new(seq: u64, closed: u64, rejected: bool) -> Self {
        Self { seq, closings: closed + 2 * u64::from(rejected) }
    }
}
