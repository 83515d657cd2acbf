use counterfoil_ledger::{AppendAuditError, AppendError, RandomnessError, ReadLedgerError};

/// The record of a call could not be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The call was not executed.
    #[error("the call cannot be recorded, so it was not executed: {0}")]
    NotRecorded(#[source] AppendError),
    /// The call was executed, and its result is withheld. The ledger has its intent.
    #[error("the call ran, but its completion cannot be recorded, so its result is withheld: {0}")]
    ResultNotRecorded(#[source] AppendError),
    /// The audit log could not be written.
    #[error("the audit log cannot be written, so the result is withheld: {0}")]
    NotAudited(#[source] AppendAuditError),
    /// No id could be made.
    #[error(transparent)]
    NoRandomness(RandomnessError),
    /// Earlier records could not be read.
    #[error("the record of the session cannot be read: {0}")]
    Unreadable(#[source] ReadLedgerError),
}
