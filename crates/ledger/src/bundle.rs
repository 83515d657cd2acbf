//! A self-contained file of receipts that anyone can verify without the ledger.

mod check;
mod sessions;
mod verification;

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

pub use verification::{BundleMark, BundleVerification};

const FORM: &str = "counterfoil bundle";
const VERSION: u32 = CanonicalForm::WRITTEN.version();

/// Events with their proofs, their receipts, the keys that signed them and, on request, the results
/// that they name.
///
/// Written as one line of canonical JSON in which `<` is escaped, so that it can be embedded in a
/// page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// The file type: `counterfoil bundle`.
    pub form: String,
    /// The version of the format, which is also that of its canonical form: 2; 1 in older bundles.
    pub version: u32,
    /// The signed head of the tree that contains the events, in the C2SP checkpoint form.
    pub checkpoint: String,
    /// The notes in which each key of the ledger certifies the next one, up to the key that signed
    /// the checkpoint.
    pub keys: Vec<String>,
    /// The events in ledger order.
    pub events: Vec<ExportedEvent>,
    /// The receipts of the events, in the order in which the executions began.
    pub receipts: Vec<ExactValue>,
    /// Texts and results that the events name, sorted by digest.
    pub results: Vec<BundleResult>,
    /// The sessions that are complete between two places.
    pub sessions: Vec<BundleSession>,
}

/// A text or result. Exactly one of `text` and `base64` is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleResult {
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// The bytes, if they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes, if they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// A session in which no event between two places is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleSession {
    /// Its name.
    pub session: String,
    /// The place in the session of its first event here, from 1.
    pub first: u64,
    /// The place of its last event here.
    pub last: u64,
}

/// Why a file cannot be judged: it is not a bundle that this version reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoBundle {
    /// It is not a bundle.
    #[error("it is not a bundle")]
    Else,
    /// Its line endings, or the text around the bundle, were changed on the way.
    #[error("the file was modified (line endings or text around the bundle)")]
    Reframed,
    /// It is a bundle of an unknown version.
    #[error("bundle version {0} is not supported; supported versions are 1 and 2")]
    Version(u32),
}

impl NoBundle {
    /// Why a text cannot be read as a bundle. `None` if it is a bundle that was changed.
    fn diagnose(line: &str) -> Option<Self> {
        // Editors and mail add a byte order mark, blanks and other line endings.
        let bare = line.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        if bare != line && Bundle::read(bare).is_some() {
            return Some(Self::Reframed);
        }
        let form = format!("\"{FORM}\"");
        if !line.starts_with("{\"checkpoint\":") && !line.contains(&form) {
            return Some(Self::Else);
        }
        // Members are sorted by name, and this is the last one.
        let (_, version) = line.strip_suffix('}')?.rsplit_once("\"version\":")?;
        let plain = |number: &u32| number.to_string() == version && version.len() < 10;
        let version = version.parse().ok().filter(plain)?;
        let known = CanonicalForm::of_version(version).is_some();
        (line.contains(&form) && !known).then_some(Self::Version(version))
    }
}

/// Why a bundle could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The ledger could not be read.
    #[error(transparent)]
    Ledger(#[from] ReadLedgerError),
    /// Nothing was found to put into it.
    #[error("the ledger has {0}")]
    Nothing(String),
    /// The session has events, but none since the given time.
    #[error("the session `{0}` has events, but none since the given time")]
    NothingSince(String),
    /// What was read cannot be serialised.
    #[error("the bundle cannot be written: {0}")]
    Unwritten(String),
}

impl Bundle {
    /// Makes a bundle of the wanted events, under a checkpoint that is signed now.
    ///
    /// # Errors
    /// When something wanted is missing, or the ledger cannot be read.
    pub fn create(
        ledger: &Ledger,
        wanted: &Provable,
        with_results: bool,
    ) -> Result<Self, BundleError> {
        let proved = ledger.prove(wanted)?;
        let mut events = Vec::new();
        for exported in &proved.events {
            let event = body::read(exported.body.as_bytes());
            events.push(event.map_err(|error| BundleError::Unwritten(error.to_string()))?);
        }
        let sums = Sums::from_events(&events);
        let mut sessions = Vec::new();
        match wanted {
            Provable::Session { name, since } => {
                let (Some(first), Some(last)) = (events.first(), events.last()) else {
                    let whole = Provable::Session { name: name.clone(), since: None };
                    return Err(if since.is_some() && !ledger.prove(&whole)?.events.is_empty() {
                        BundleError::NothingSince(name.clone())
                    } else {
                        BundleError::Nothing(format!("no events of the session `{name}`"))
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
            // Retention deletes results before it deletes events.
            if let Some(bytes) = ledger.result(&digest)? {
                results.push(BundleResult::new(digest, bytes));
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
            .ok_or_else(|| unwritten(format!("version {version} is not supported")))?;
        let text = serde_json::to_string(self).map_err(|error| unwritten(error.to_string()))?;
        canonical_line(&text, form).ok_or_else(|| unwritten("it has no canonical form".to_owned()))
    }

    /// Reads a bundle. `None` if its version is unknown, or it is not written exactly as bundles
    /// are.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let bundle: Self = serde_json::from_str(line).ok()?;
        let form = CanonicalForm::of_version(bundle.version)?;
        let whole = canonical_line(line, form).as_deref() == Some(line)
            && bundle.form == FORM
            && bundle.receipts.iter().all(|receipt| receipt.is_object())
            && bundle.results.iter().all(|result| result.text.is_some() != result.base64.is_some());
        // A digest in capital letters can be parsed, but is not what was written.
        (whole && bundle.to_line().is_ok_and(|written| written == line)).then_some(bundle)
    }
}

/// The text in canonical form, with `<` escaped.
fn canonical_line(text: &str, form: CanonicalForm) -> Option<String> {
    let bytes = canonical_text(text, form, JsonLimits::RECORDED).ok()?;
    Some(String::from_utf8(bytes).ok()?.replace('<', r"\u003c"))
}

impl BundleResult {
    fn new(digest: Digest, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { digest, text: Some(text), base64: None },
            Err(error) => {
                let base64 = Some(STANDARD.encode(error.as_bytes()));
                Self { digest, text: None, base64 }
            }
        }
    }

    /// The bytes; `None` if they are not encoded as required.
    fn bytes(&self) -> Option<Vec<u8>> {
        match (&self.text, &self.base64) {
            (Some(text), None) => Some(text.clone().into_bytes()),
            (None, Some(base64)) => STANDARD.decode(base64).ok(),
            _ => None,
        }
    }
}

/// The receipts of events, execution by execution.
#[derive(Default)]
struct Sums {
    /// The receipts in the order in which the executions began.
    receipts: Vec<Receipt>,
    /// Executions that began more than once.
    twice: Vec<String>,
    /// Events of executions whose beginning is missing, with the execution id.
    headless: Vec<(u64, String)>,
}

impl Sums {
    fn from_events(events: &[Event]) -> Self {
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
        sums.receipts = groups.iter().filter_map(|group| Receipt::from_events(group)).collect();
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
