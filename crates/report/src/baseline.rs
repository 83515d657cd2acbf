use std::collections::BTreeMap;

use counterfoil_model::{Finding, Transcript};
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprint;
use crate::visible::{json_pretty, shorten};

/// The version of the file written here.
const VERSION: u32 = 1;

/// Findings that are known and accepted for now: they no longer fail a run, but are counted.
///
/// A finding made twice in one transcript stands twice; a third is new.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<Fingerprint, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// How often in one transcript.
    count: usize,
    /// For the person who reads the file: the rule, the transcript and the finding's sentence.
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
    /// Not the JSON of a baseline.
    #[error("not a baseline: {0}")]
    Json(#[from] serde_json::Error),
    /// Written by another version.
    #[error("baseline version {0} is not known here, only version {VERSION}")]
    Version(u32),
    /// A key that is no fingerprint.
    #[error("`{0}` is not a fingerprint of 32 hex digits")]
    Fingerprint(String),
}

impl Baseline {
    /// Reads what [`Baseline::to_json`] wrote.
    ///
    /// # Errors
    /// See [`BaselineError`].
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

    /// The file: JSON with a version, entries in the order of their fingerprints.
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

    /// Accepts what another one accepts.
    pub fn merge(&mut self, other: Self) {
        for (key, entry) in other.entries {
            let kept = self.entries.entry(key).or_insert_with(|| entry.clone());
            kept.count = kept.count.max(entry.count);
        }
    }

    /// The findings of one transcript that are not in the baseline, and how many are.
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

    /// The number of different findings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is accepted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
