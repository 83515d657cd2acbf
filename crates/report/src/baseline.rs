use std::collections::BTreeMap;

use counterfoil_model::{Finding, Transcript};
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprint;
use crate::visible::{json_pretty, shorten};

/// The version of the file format that is written here.
const VERSION: u32 = 1;

/// Findings that are accepted for now: they are counted, but do not fail a run.
///
/// A finding that occurs twice in one transcript is accepted twice; a third occurrence is new.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<Fingerprint, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The number of occurrences in one transcript.
    count: usize,
    /// For people who read the file: the rule, the transcript and the finding's message.
    rule: String,
    transcript: String,
    message: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object with `version` and `findings`")]
struct File {
    version: u32,
    findings: BTreeMap<String, Entry>,
}

/// Why a baseline could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The text is not a baseline in JSON.
    #[error("not a baseline: {0}")]
    Json(#[from] serde_json::Error),
    /// The file has a version that is not known here.
    #[error("baseline version {0} is not known here, only version {VERSION}")]
    Version(u32),
    /// A key is not a fingerprint.
    #[error("`{0}` is not a fingerprint of 32 hex digits")]
    Fingerprint(String),
}

impl Baseline {
    /// Reads what [`Baseline::to_json`] wrote.
    ///
    /// # Errors
    /// Returns an error if the text is not a baseline of a known version; see [`BaselineError`].
    pub fn from_json(text: &str) -> Result<Self, BaselineError> {
        let file: File = serde_json::from_str(text)?;
        if file.version != VERSION {
            return Err(BaselineError::Version(file.version));
        }
        let mut entries = BTreeMap::new();
        for (key, entry) in file.findings {
            let Some(fingerprint) = Fingerprint::read(&key) else {
                return Err(BaselineError::Fingerprint(key));
            };
            entries.insert(fingerprint, entry);
        }
        Ok(Self { entries })
    }

    /// Returns the baseline as JSON: a version, and entries sorted by fingerprint.
    #[must_use]
    pub fn to_json(&self) -> String {
        let findings =
            self.entries.iter().map(|(key, entry)| (key.to_string(), entry.clone())).collect();
        let file = File { version: VERSION, findings };
        json_pretty(&file) + "\n"
    }

    /// Accepts the findings of one transcript.
    pub fn accept(&mut self, transcript: &Transcript, findings: &[Finding]) {
        let mut counts: BTreeMap<Fingerprint, Entry> = BTreeMap::new();
        for finding in findings {
            let entry =
                counts.entry(Fingerprint::of(&transcript.id, finding)).or_insert_with(|| Entry {
                    count: 0,
                    rule: finding.code.to_string(),
                    transcript: transcript.id.clone(),
                    message: shorten(&finding.message, 200).into_owned(),
                });
            entry.count += 1;
        }
        self.merge(Self { entries: counts });
    }

    /// Accepts everything that `other` accepts.
    pub fn merge(&mut self, other: Self) {
        for (key, entry) in other.entries {
            let kept = self.entries.entry(key).or_insert_with(|| entry.clone());
            kept.count = kept.count.max(entry.count);
        }
    }

    /// Returns the findings of a transcript that are not in the baseline, and the number of those
    /// that are.
    #[must_use]
    pub fn split(&self, transcript: &Transcript, findings: Vec<Finding>) -> (Vec<Finding>, usize) {
        let mut left: BTreeMap<&Fingerprint, usize> = BTreeMap::new();
        let before = findings.len();
        let new: Vec<Finding> = findings
            .into_iter()
            .filter(|finding| {
                let fingerprint = Fingerprint::of(&transcript.id, finding);
                let Some((key, entry)) = self.entries.get_key_value(&fingerprint) else {
                    return true;
                };
                let room = left.entry(key).or_insert(entry.count);
                let known = *room > 0;
                *room = room.saturating_sub(1);
                !known
            })
            .collect();
        let known = before - new.len();
        (new, known)
    }

    /// The number of distinct findings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the baseline accepts no findings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
