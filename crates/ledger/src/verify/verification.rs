use crate::body::Outline;
use crate::key::PublicKey;
use crate::note::Checkpoint;
use crate::read::ReadLedgerError;

/// What a ledger is compared with. Kept elsewhere: someone with the file and its key can write
/// another history, but not one that matches these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// A checkpoint of this ledger: what it covers can be neither changed nor cut off.
    pub checkpoint: Option<Checkpoint>,
    /// Keys of this ledger: one of them, or a key that it certified, must have signed the content.
    pub public_keys: Vec<PublicKey>,
}

/// The result of verifying a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// The first event that remains; retention dropped those before it.
    pub first: u64,
    /// The number of events verified.
    pub events: u64,
    /// The number of sessions that they belong to.
    pub sessions: u64,
    /// The number of signed checkpoints verified.
    pub checkpoints: u64,
    /// The number of events that the last checkpoint covers. Changes to later events would not be
    /// found.
    pub signed: u64,
    /// The number of stored results verified.
    pub results: u64,
    /// The number of results that retention dropped although their events remain.
    pub results_dropped: u64,
    /// How often an event is dated earlier than the one before it.
    pub clock_went_back: u64,
    /// The comparison with the expected checkpoint.
    pub checkpoint: HeldAgainst,
    /// The comparison with the expected public keys.
    pub public_key: HeldAgainst,
    /// The first problem.
    pub broken: Option<Broken>,
}

impl Verification {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.broken.is_none()
    }
}

/// The result of comparing a ledger with something kept elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HeldAgainst {
    /// Nothing was given to compare with.
    #[default]
    Nothing,
    /// It matches.
    Fits,
    /// It does not match; `broken` says why, or names an earlier problem.
    DoesNotFit,
    /// It cannot be compared: retention dropped what is needed.
    NotCheckable,
}

/// A problem in a ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", Self::place(*seq, session.as_deref()))]
pub struct Broken {
    /// The event.
    pub seq: Option<u64>,
    /// Its session.
    pub session: Option<String>,
    /// The problem.
    pub what: String,
}

impl Broken {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { seq: None, session: None, what: what.into() }
    }

    pub(crate) fn event(seq: u64, what: impl Into<String>) -> Self {
        Self { seq: Some(seq), session: None, what: what.into() }
    }

    /// A problem with an event whose session is known.
    pub(super) fn outlined(seq: u64, outline: &Outline<'_>, what: String) -> Self {
        Self { session: Some(outline.session.to_string()), ..Self::event(seq, what) }
    }

    fn place(seq: Option<u64>, session: Option<&str>) -> String {
        match (seq, session) {
            (Some(seq), Some(session)) => format!("event {seq} (session `{session}`): "),
            (Some(seq), None) => format!("event {seq}: "),
            (None, _) => String::new(),
        }
    }
}

/// Why a part of the verification ended early.
pub(super) enum Stop {
    Broken(Broken),
    Unread(ReadLedgerError),
}

impl From<Broken> for Stop {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<ReadLedgerError> for Stop {
    fn from(error: ReadLedgerError) -> Self {
        match error {
            ReadLedgerError::Broken { what } => Self::Broken(Broken::new(what)),
            error => Self::Unread(error),
        }
    }
}
