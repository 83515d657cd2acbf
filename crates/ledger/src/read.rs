/// Why the ledger could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadLedgerError {
    /// The storage could not be read.
    #[error("cannot read the ledger: {0}")]
    Storage(String),
    /// The content was changed.
    #[error("the ledger is broken: {what}")]
    Broken {
        /// The place and the damage.
        what: String,
    },
    /// Retention has dropped the events.
    #[error("retention has dropped the events before event {cut}")]
    Dropped {
        /// The first event that remains.
        cut: u64,
    },
    /// A checkpoint was needed but could not be signed.
    #[error("cannot sign a checkpoint: {0}")]
    Unsigned(String),
}

impl From<rusqlite::Error> for ReadLedgerError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.to_string())
    }
}
