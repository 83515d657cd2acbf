//! Receipts of a ledger in one piece, which anybody verifies without it.

mod check;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_model::{CanonicalForm, Digest, ExactValue, JsonLimits, canonical_text};
use serde::{Deserialize, Serialize};

use super::body;
use super::event::{Draft, Event};
use super::export::{ExportedEvent, Provable};
use super::read::ReadLedgerError;
use super::receipt::Receipt;
use super::store::Ledger;

pub use check::{BundleMark, BundleVerification};

const FORM: &str = "counterfoil bundle";
const VERSION: u32 = CanonicalForm::WRITTEN.version();

/// Events with their proofs, the receipts that they add up to, the keys that signed them and, where
/// they are wanted, the results that they name.
///
/// Written as one line of canonical JSON in which `<` is an escape, so that it can stand in a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// What it is: `counterfoil bundle`.
    pub form: String,
    /// Of this form, which is the canonical form that it is written in: 2; 1 in older bundles.
    pub version: u32,
    /// The signed head of the tree in which the events are, in the C2SP checkpoint form.
    pub checkpoint: String,
    /// The notes in which each key of the ledger is vouched for by the one before, up to the key that
    /// signed the checkpoint.
    pub keys: Vec<String>,
    /// In their order.
    pub events: Vec<ExportedEvent>,
    /// What the events add up to, in the order in which they began.
    pub receipts: Vec<ExactValue>,
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
    #[error("the file was changed: its line endings, or text around the bundle")]
    Reframed,
    /// It is one of another version.
    #[error("it is a bundle of version {0}, and only versions 1 and 2 are known here")]
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
        let known = CanonicalForm::of_version(version).is_some();
        (line.contains(&form) && !known).then_some(Self::Version(version))
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
            let unwritten = |error: serde_json::Error| BundleError::Unwritten(error.to_string());
            let text = serde_json::to_string(receipt).map_err(unwritten)?;
            receipts.push(serde_json::from_str(&text).map_err(unwritten)?);
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
        let unwritten = |what: String| BundleError::Unwritten(what);
        let version = self.version;
        let form = CanonicalForm::of_version(version)
            .ok_or_else(|| unwritten(format!("version {version} is not known here")))?;
        let text = serde_json::to_string(self).map_err(|error| unwritten(error.to_string()))?;
        canonical_line(&text, form).ok_or_else(|| unwritten("it has no canonical form".to_owned()))
    }

    /// Reads a bundle. `None`: it is none of this version, or not written as bundles are.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let bundle: Self = serde_json::from_str(line).ok()?;
        let form = CanonicalForm::of_version(bundle.version)?;
        let whole = canonical_line(line, form).as_deref() == Some(line)
            && bundle.form == FORM
            && bundle.receipts.iter().all(|receipt| receipt.is_object())
            && bundle.results.iter().all(|result| result.text.is_some() != result.base64.is_some());
        // A digest in capital letters is read, and is not what was written.
        (whole && bundle.to_line().is_ok_and(|written| written == line)).then_some(bundle)
    }
}

/// The text in its canonical form, in which `<` is an escape.
fn canonical_line(text: &str, form: CanonicalForm) -> Option<String> {
    let bytes = canonical_text(text, form, JsonLimits::RECORDED).ok()?;
    Some(String::from_utf8(bytes).ok()?.replace('<', r"\u003c"))
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
