//! Receipts of a ledger in one piece, which anybody verifies without it.

mod check;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_model::{Digest, canonical_bytes, canonical_bytes_of};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body;
use super::event::{Draft, Event};
use super::export::{ExportedEvent, Provable};
use super::read::ReadLedgerError;
use super::receipt::Receipt;
use super::store::Ledger;

pub use check::{BundleMark, BundleVerification};

const FORM: &str = "counterfoil bundle";
const VERSION: u32 = 1;

/// Events with their proofs, the receipts that they add up to, the keys that signed them and, where
/// they are wanted, the results that they name.
///
/// Written as one line of canonical JSON in which `<` is an escape, so that it can stand in a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// What it is: `counterfoil bundle`.
    pub form: String,
    /// Of this form: 1.
    pub version: u32,
    /// The signed head of the tree in which the events are, in the C2SP checkpoint form.
    pub checkpoint: String,
    /// The notes in which each key of the ledger is vouched for by the one before, up to the key that
    /// signed the checkpoint.
    pub keys: Vec<String>,
    /// In their order.
    pub events: Vec<ExportedEvent>,
    /// What the events add up to, in the order in which they began.
    pub receipts: Vec<Value>,
    /// Texts and results that the events name, in the order of their digests.
    pub results: Vec<BundleResult>,
    /// The sessions of which everything is here, from one place to another.
    pub sessions: Vec<BundleSession>,
}

/// A text or result: one of `text` and `base64` is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleResult {
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// The bytes, where they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// A session of which no event between two places is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleSession {
    /// Its name.
    pub session: String,
    /// The place in the session of its first event here, from 1.
    pub first: u64,
    /// That of its last event here.
    pub last: u64,
}

/// Why nothing can be said of a file: it is no bundle that this version reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoBundle {
    /// It is something else.
    #[error("it is not a bundle")]
    Else,
    /// Something on its way changed its line ends, or what stands around it.
    #[error("it is not as it was written: its line ends, or what stands around it, were changed")]
    Reframed,
    /// It is one of another version.
    #[error("it is a bundle of version {0}, and only version 1 is known here")]
    Version(u32),
}

impl NoBundle {
    /// What a text is that cannot be read as a bundle. `None`: a bundle that was changed.
    fn of(line: &str) -> Option<Self> {
        // Editors and mail add a mark of the encoding, blanks and other line ends.
        let bare = line.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        if bare != line && Bundle::read(bare).is_some() {
            return Some(Self::Reframed);
        }
        let form = format!("\"{FORM}\"");
        if !line.starts_with("{\"checkpoint\":") && !line.contains(&form) {
            return Some(Self::Else);
        }
        // The members stand in the order of their names, and this is the last one.
        let (_, version) = line.strip_suffix('}')?.rsplit_once("\"version\":")?;
        let plain = |number: &u32| number.to_string() == version && version.len() < 10;
        let version = version.parse().ok().filter(plain)?;
        (line.contains(&form) && version != VERSION).then_some(Self::Version(version))
    }
}

/// Why no bundle was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The ledger could not be read.
    #[error(transparent)]
    Ledger(#[from] ReadLedgerError),
    /// There is nothing to put into it.
    #[error("the ledger has {0}")]
    Nothing(String),
    /// The session has events, and none since then.
    #[error("the session `{0}` has events, and none since the given time")]
    NothingSince(String),
    /// What was read cannot be written.
    #[error("the bundle cannot be written: {0}")]
    Unwritten(String),
}

impl Bundle {
    /// Makes the bundle of what is wanted, under a checkpoint that is signed now.
    ///
    /// # Errors
    /// When something that is wanted is not there, or the ledger cannot be read.
    pub fn of(ledger: &Ledger, wanted: &Provable, with_results: bool) -> Result<Self, BundleError> {
        let proved = ledger.prove(wanted)?;
        let mut events = Vec::new();
        for exported in &proved.events {
            let event = body::read(exported.body.as_bytes());
            events.push(event.map_err(|error| BundleError::Unwritten(error.to_string()))?);
        }
        let sums = Sums::of(&events);
        let mut sessions = Vec::new();
        match wanted {
            Provable::Session { name, since } => {
                let (Some(first), Some(last)) = (events.first(), events.last()) else {
                    let whole = Provable::Session { name: name.clone(), since: None };
                    return Err(if since.is_some() && !ledger.prove(&whole)?.events.is_empty() {
                        BundleError::NothingSince(name.clone())
                    } else {
                        BundleError::Nothing(format!("no event of the session `{name}`"))
                    });
                };
                let (first, last) = (first.session_seq, last.session_seq);
                sessions.push(BundleSession { session: name.clone(), first, last });
            }
            Provable::Executions(ids) => {
                let known = |id: &&String| sums.receipts.iter().all(|r| r.execution_id != **id);
                if let Some(id) = ids.iter().find(known) {
                    return Err(BundleError::Nothing(format!("no execution `{id}`")));
                }
            }
        }
        let mut receipts = Vec::new();
        for receipt in &sums.receipts {
            let value = serde_json::to_value(receipt);
            receipts.push(value.map_err(|error| BundleError::Unwritten(error.to_string()))?);
        }
        let mut results = Vec::new();
        for digest in named(&events).into_iter().filter(|_| with_results) {
            // Retention drops results before it drops events.
            if let Some(bytes) = ledger.result(&digest)? {
                results.push(BundleResult::of(digest, bytes));
            }
        }
        Ok(Self {
            form: FORM.to_owned(),
            version: VERSION,
            checkpoint: proved.checkpoint.to_string(),
            keys: proved.keys,
            events: proved.events,
            receipts,
            results,
            sessions,
        })
    }

    /// The line that [`Self::read`] reads.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_line(&self) -> Result<String, BundleError> {
        let bytes = canonical_bytes_of(self);
        let bytes = bytes.map_err(|error| BundleError::Unwritten(error.to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).replace('<', r"\u003c"))
    }

    /// Reads a bundle. `None`: it is none of this version, or not written as bundles are.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let canonical = String::from_utf8(canonical_bytes(&value)).ok()?;
        let bundle: Self = serde_json::from_value(value).ok()?;
        let whole = canonical.replace('<', r"\u003c") == line
            && bundle.form == FORM
            && bundle.version == VERSION
            && bundle.receipts.iter().all(Value::is_object)
            && bundle.results.iter().all(|result| result.text.is_some() != result.base64.is_some());
        // A digest in capital letters is read, and is not what was written.
        (whole && bundle.to_line().is_ok_and(|written| written == line)).then_some(bundle)
    }
}

impl BundleResult {
    fn of(digest: Digest, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { digest, text: Some(text), base64: None },
            Err(error) => {
                let base64 = Some(STANDARD.encode(error.as_bytes()));
                Self { digest, text: None, base64 }
            }
        }
    }

    /// The bytes; `None` where they are not written as they have to be.
    fn bytes(&self) -> Option<Vec<u8>> {
        match (&self.text, &self.base64) {
            (Some(text), None) => Some(text.clone().into_bytes()),
            (None, Some(base64)) => STANDARD.decode(base64).ok(),
            _ => None,
        }
    }
}

/// What events add up to, execution by execution.
#[derive(Default)]
struct Sums {
    /// In the order in which they began.
    receipts: Vec<Receipt>,
    /// Executions that began again.
    twice: Vec<String>,
    /// Events of executions whose beginning is not among them, with the execution.
    headless: Vec<(u64, String)>,
}

impl Sums {
    fn of(events: &[Event]) -> Self {
        let mut sums = Self::default();
        let mut groups: Vec<Vec<Event>> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for event in events {
            if let Some(id) = event.draft.opens() {
                if places.insert(id.to_owned(), groups.len()).is_some() {
                    sums.twice.push(id.to_owned());
                }
                groups.push(vec![event.clone()]);
            } else if let Some(id) = event.draft.follows() {
                match places.get(id).and_then(|at| groups.get_mut(*at)) {
                    Some(group) => group.push(event.clone()),
                    None => sums.headless.push((event.seq, id.to_owned())),
                }
            }
        }
        sums.receipts = groups.iter().filter_map(|group| Receipt::of(group)).collect();
        sums
    }
}

/// The digests of texts and results that events name.
fn named(events: &[Event]) -> BTreeSet<Digest> {
    let of = |event: &Event| match &event.draft {
        Draft::Began { tools, .. } => Some(*tools),
        draft => draft.needs(),
    };
    events.iter().filter_map(of).collect()
}
