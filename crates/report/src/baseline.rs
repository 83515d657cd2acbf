use std::collections::{BTreeMap, btree_map};

use counterfoil_model::{Finding, Transcript, WrongJson};
use serde::{Deserialize, Serialize};

use crate::checked::Accepted;
use crate::fingerprint::{Fingerprint, conversation_of};
use crate::visible::{json_pretty, shorten};

/// The version of the file format that is written here.
const VERSION: u32 = 2;

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
    /// The number of occurrences in all files, of a run or of a report.
    #[serde(skip)]
    total: usize,
    /// For people who read the file: the rule, the transcript and the finding's message.
    rule: String,
    transcript: String,
    message: String,
    /// The conversation, by its first request; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    conversation: String,
    /// The file, if a report named it. A baseline holds for every file.
    #[serde(skip)]
    path: Option<String>,
    /// Why this finding alone was accepted, and on which day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accepted: Option<String>,
}

/// A finding that was known before a run, or is known for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFinding {
    /// Its fingerprint.
    pub fingerprint: String,
    /// The rule's code.
    pub rule: String,
    /// The transcript's id.
    pub transcript: String,
    /// The file with the transcript; `None` in a baseline, which holds for every file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The message, shortened.
    pub message: String,
    /// The conversation, as a baseline names it; see [`conversation_of`].
    #[serde(skip)]
    pub conversation: Option<String>,
}

impl KnownFinding {
    /// Describes a finding of the transcript in a file.
    #[must_use]
    pub fn new(path: &str, transcript: &Transcript, finding: &Finding) -> Self {
        Self {
            fingerprint: Fingerprint::new(transcript, finding).to_string(),
            rule: finding.code.to_string(),
            transcript: transcript.id.clone(),
            path: Some(path.to_owned()),
            message: shorten(&finding.message, 200).into_owned(),
            conversation: conversation_of(transcript),
        }
    }
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
    #[error("not a baseline: {}", WrongJson::new(.0))]
    Json(#[from] serde_json::Error),
    /// The file has a version that is not known here.
    #[error(
        "unsupported baseline version {0}, expected {VERSION}; accept its findings again with \
         `--write-baseline`"
    )]
    Version(u32),
    /// A key is not a fingerprint.
    #[error("`{0}` is not a fingerprint (32 hex digits)")]
    Fingerprint(String),
    /// The text is not a report in JSON.
    #[error("not a report from `check --format json`: {}", WrongJson::new(.0))]
    Report(serde_json::Error),
}

/// The members of a report that name its findings.
#[derive(Debug, Deserialize)]
struct OldReport {
    findings: Vec<OldFinding>,
    #[serde(default)]
    summary: OldSummary,
}

#[derive(Debug, Deserialize)]
struct OldFinding {
    fingerprint: String,
    rule: OldRule,
    transcript: OldTranscript,
    message: String,
}

#[derive(Debug, Deserialize)]
struct OldRule {
    code: String,
}

#[derive(Debug, Deserialize)]
struct OldTranscript {
    id: String,
    path: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct OldSummary {
    against: Option<OldComparison>,
}

#[derive(Debug, Deserialize)]
struct OldComparison {
    same: Vec<KnownFinding>,
}

impl Entry {
    fn known(&self, key: &Fingerprint) -> KnownFinding {
        KnownFinding {
            fingerprint: key.to_string(),
            rule: self.rule.clone(),
            transcript: self.transcript.clone(),
            path: self.path.clone(),
            message: self.message.clone(),
            conversation: Some(self.conversation.clone()).filter(|name| !name.is_empty()),
        }
    }

    fn new(known: KnownFinding) -> Self {
        let KnownFinding { rule, transcript, message, path, conversation, .. } = known;
        let conversation = conversation.unwrap_or_default();
        let (reason, accepted) = (None, None);
        let (count, total) = (0, 0);
        Self { count, total, rule, transcript, message, conversation, path, reason, accepted }
    }
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

    /// Reads the findings of a report in JSON, so that a later run can be compared with it. If that
    /// report was itself a comparison, the findings that it did not show count as well.
    ///
    /// # Errors
    /// Returns an error if the text is not a report; see [`BaselineError`].
    pub fn from_report(text: &str) -> Result<Self, BaselineError> {
        let report: OldReport = serde_json::from_str(text).map_err(BaselineError::Report)?;
        let listed = report.findings.into_iter().map(|finding| KnownFinding {
            fingerprint: finding.fingerprint,
            rule: finding.rule.code,
            transcript: finding.transcript.id,
            path: finding.transcript.path,
            message: finding.message,
            conversation: None,
        });
        let same = report.summary.against.into_iter().flat_map(|against| against.same);
        // Two files may have transcripts of one id; an occurrence in one is none in the other.
        let mut files: BTreeMap<Option<String>, Self> = BTreeMap::new();
        for known in listed.chain(same) {
            let Some(fingerprint) = Fingerprint::read(&known.fingerprint) else {
                return Err(BaselineError::Fingerprint(known.fingerprint));
            };
            let file = files.entry(known.path.clone()).or_default();
            let entry = file.entries.entry(fingerprint).or_insert_with(|| Entry::new(known));
            entry.count += 1;
            entry.total += 1;
        }
        let mut all = Self::default();
        files.into_values().for_each(|file| all.merge(file));
        Ok(all)
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
            let entry = counts.entry(Fingerprint::new(transcript, finding)).or_insert_with(|| {
                Entry::new(KnownFinding {
                    path: None,
                    ..KnownFinding::new("", transcript, finding)
                })
            });
            entry.count += 1;
            entry.total += 1;
        }
        self.merge(Self { entries: counts });
    }

    /// Accepts everything that `other` accepts.
    pub fn merge(&mut self, other: Self) {
        for (key, entry) in other.entries {
            match self.entries.entry(key) {
                btree_map::Entry::Vacant(place) => {
                    place.insert(entry);
                }
                btree_map::Entry::Occupied(mut place) => {
                    let kept = place.get_mut();
                    kept.count = kept.count.max(entry.count);
                    kept.total += entry.total;
                    // An occurrence in one of several files has no path of its own.
                    kept.path = kept.path.take().filter(|path| entry.path.as_ref() == Some(path));
                }
            }
        }
    }

    /// An accepted finding of a transcript, with its reason.
    #[must_use]
    pub fn accepted(&self, transcript: &Transcript, finding: Finding) -> Accepted {
        let entry = self.entries.get(&Fingerprint::new(transcript, &finding));
        Accepted { finding, reason: entry.and_then(|entry| entry.reason.clone()) }
    }

    /// The reason for which the finding with this fingerprint was accepted.
    #[must_use]
    pub fn reason(&self, fingerprint: &str) -> Option<&str> {
        self.entries.get(&Fingerprint::read(fingerprint)?)?.reason.as_deref()
    }

    /// The number of distinct findings of which `earlier` accepts fewer occurrences.
    #[must_use]
    pub fn added_to(&self, earlier: &Self) -> usize {
        let more = |(key, entry): &(&Fingerprint, &Entry)| {
            earlier.entries.get(*key).is_none_or(|old| old.count < entry.count)
        };
        self.entries.iter().filter(more).count()
    }

    /// Returns the finding with this fingerprint, accepted for a reason on a day (`2026-11-29`), as
    /// often as it occurs here; `None` if it does not.
    #[must_use]
    pub fn with_reason(&self, fingerprint: &str, reason: &str, day: &str) -> Option<Self> {
        let (key, entry) = self.entries.iter().find(|(key, _)| key.as_str() == fingerprint)?;
        let (reason, accepted) = (Some(reason.to_owned()), Some(day.to_owned()));
        let entry = Entry { reason, accepted, ..entry.clone() };
        Some(Self { entries: BTreeMap::from([(key.clone(), entry)]) })
    }

    /// Returns what to accept after a run: the findings that `occurred`, with the reasons that they
    /// have here, and the accepted findings that the run did not look for.
    #[must_use]
    pub fn renewed(&self, mut occurred: Self, was_checked: impl Fn(&KnownFinding) -> bool) -> Self {
        for (key, entry) in &self.entries {
            if let Some(now) = occurred.entries.get_mut(key) {
                now.reason.clone_from(&entry.reason);
                now.accepted.clone_from(&entry.accepted);
            } else if !was_checked(&entry.known(key)) {
                occurred.entries.insert(key.clone(), entry.clone());
            }
        }
        occurred
    }

    /// Returns the findings that did not occur although the run looked for them, each once.
    #[must_use]
    pub fn gone(
        &self,
        occurred: &Self,
        was_checked: impl Fn(&KnownFinding) -> bool,
    ) -> Vec<KnownFinding> {
        let gone = self.entries.iter().filter(|(key, _)| !occurred.entries.contains_key(key));
        gone.map(|(key, entry)| entry.known(key)).filter(was_checked).collect()
    }

    /// Returns each occurrence of a finding that `occurred` lacks.
    #[must_use]
    pub fn missing(&self, occurred: &Self) -> Vec<KnownFinding> {
        let missing = self.entries.iter().flat_map(|(key, entry)| {
            let now = occurred.entries.get(key).map_or(0, |now| now.total);
            std::iter::repeat_n(entry.known(key), entry.total.saturating_sub(now))
        });
        missing.collect()
    }

    /// Splits the findings of a transcript: those that are not in the baseline, and those that are.
    #[must_use]
    pub fn split(
        &self,
        transcript: &Transcript,
        findings: Vec<Finding>,
    ) -> (Vec<Finding>, Vec<Finding>) {
        let mut left: BTreeMap<&Fingerprint, usize> = BTreeMap::new();
        findings.into_iter().partition(|finding| {
            let fingerprint = Fingerprint::new(transcript, finding);
            let Some((key, entry)) = self.entries.get_key_value(&fingerprint) else {
                return true;
            };
            let room = left.entry(key).or_insert(entry.count);
            let known = *room > 0;
            *room = room.saturating_sub(1);
            !known
        })
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
