//! Recomputing a ledger: what was changed, cut or put in is named.

mod chain;
mod logged;
mod signed;
mod stored;

use super::body::Outline;
use super::key::PublicKey;
use super::log::{Read, Record};
use super::note::Checkpoint;
use super::read::ReadLedgerError;
use super::tables::Tables;
use chain::Chain;
use signed::Signed;

/// What a ledger is held against, kept elsewhere: whoever holds the file and its key can write
/// another history, but not one that fits these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// A checkpoint of this ledger: what it covers can be neither changed nor cut.
    pub checkpoint: Option<Checkpoint>,
    /// A key of this ledger: it, or a key that it vouched for, must have signed what is there.
    pub public_keys: Vec<PublicKey>,
}

/// What verification found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// The first event that is there: retention dropped those before.
    pub first: u64,
    /// Events that were verified.
    pub events: u64,
    /// Sessions that they belong to.
    pub sessions: u64,
    /// Signed checkpoints that were verified.
    pub checkpoints: u64,
    /// How many of the ledger's events the last of them covers. A change to events after it would
    /// not be found.
    pub signed: u64,
    /// Stored results that were verified.
    pub results: u64,
    /// Results that retention dropped, of events that are still there.
    pub results_dropped: u64,
    /// How often an event was written at an earlier time than the one before it.
    pub clock_went_back: u64,
    /// What a checkpoint from elsewhere showed.
    pub checkpoint: HeldAgainst,
    /// What a public key from elsewhere showed.
    pub public_key: HeldAgainst,
    /// The first thing that is wrong.
    pub broken: Option<Broken>,
}

impl Verification {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.broken.is_none()
    }
}

/// What holding a ledger against something from elsewhere showed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HeldAgainst {
    /// Nothing was given.
    #[default]
    Nothing,
    /// It fits.
    Fits,
    /// It does not fit; `broken` says why, or something else is wrong before that.
    DoesNotFit,
    /// It cannot be said: retention dropped what would be needed.
    NotCheckable,
}

/// Something in a ledger that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", Self::place(*seq, session.as_deref()))]
pub struct Broken {
    /// The event.
    pub seq: Option<u64>,
    /// Its session.
    pub session: Option<String>,
    /// In what way.
    pub what: String,
}

impl Broken {
    fn new(what: impl Into<String>) -> Self {
        Self { seq: None, session: None, what: what.into() }
    }

    pub(super) fn event(seq: u64, what: impl Into<String>) -> Self {
        Self { seq: Some(seq), session: None, what: what.into() }
    }

    /// The same, of an event whose session is known.
    fn outlined(seq: u64, outline: &Outline<'_>, what: String) -> Self {
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
enum Stop {
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

/// Verifies the whole ledger, with what stands only in its log. The tables must stay as they are
/// meanwhile.
pub(super) fn verify(
    tables: &impl Tables,
    log: Read,
    expected: &Expected,
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, ReadLedgerError> {
    let mut found = Verification::default();
    match run(tables, log, expected, progress, &mut found) {
        Ok(()) => Ok(found),
        Err(Stop::Broken(broken)) => Ok(Verification { broken: Some(broken), ..found }),
        Err(Stop::Unread(error)) => Err(error),
    }
}

fn run(
    tables: &impl Tables,
    log: Read,
    expected: &Expected,
    progress: &mut dyn FnMut(u64),
    found: &mut Verification,
) -> Result<(), Stop> {
    if expected.checkpoint.is_some() {
        found.checkpoint = HeldAgainst::DoesNotFit;
    }
    if !expected.public_keys.is_empty() {
        found.public_key = HeldAgainst::DoesNotFit;
    }
    tables.verify_definitions()?;
    let names = tables.names()?;
    let [origin] = names.as_slice() else {
        return Err(Broken::new("the ledger does not have one name").into());
    };
    let notes = log.records.iter().filter_map(|record| match record {
        Record::Checkpoint(note) => Some(note.as_str()),
        Record::Event(..) => None,
    });
    let signed = Signed::read(tables, origin, notes)?;
    signed.hold_against(origin, expected, found)?;
    let mut chain = Chain::begin(tables, origin, &signed, expected.checkpoint.as_ref(), found)?;
    chain.verify_events(progress)?;
    chain.verify_log(&log)?;
    progress(chain.events());
    chain.end()
}
