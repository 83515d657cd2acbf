/// Why a checkpoint was not cosigned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessRefusal {
    /// The submission has the wrong form.
    #[error("not a valid submission: {0}")]
    Malformed(&'static str),
    /// The ledger is not witnessed here.
    #[error("this witness does not accept checkpoints of `{0}`")]
    UnknownOrigin(String),
    /// No known key of the ledger signed it.
    #[error("the checkpoint is not signed by a known key of its ledger")]
    Unsigned,
    /// The proof starts at a size other than that of the latest cosigned checkpoint.
    #[error("the latest cosigned checkpoint covers {0} events")]
    OtherSize(u64),
    /// It has the size of the latest one, but another root: there are two histories.
    #[error(
        "a checkpoint of this size with a different root was already cosigned: the ledger has two \
         histories"
    )]
    Forked,
    /// The proof does not show that it continues the latest one.
    #[error("the proof does not show that the checkpoint continues the latest cosigned one")]
    Inconsistent,
    /// It could not be stored, so it is not signed.
    #[error("the checkpoint could not be stored: {0}")]
    Storage(String),
}
