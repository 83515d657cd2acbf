use std::fmt;

use counterfoil_model::{Digest, Finding, Subject};
use serde_json::{Value, json};

/// Identifies a finding across runs: a digest of the rule, the transcript's id, and what the agent
/// said or called. Line numbers, spans and the wording of messages are not part of it, so it
/// survives moves within the log and reworded messages. Shown as 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Computes the fingerprint of a finding in the transcript with this id.
    #[must_use]
    pub fn new(transcript_id: &str, finding: &Finding) -> Self {
        let subject = match &finding.subject {
            Subject::Claim { claim, .. } => {
                let mut objects: Vec<String> =
                    claim.objects.iter().map(|object| normalised(&object.text)).collect();
                objects.sort_unstable();
                json!({ "claim": normalised(&claim.text), "objects": objects })
            }
            // The id of a call differs between runs of the same session; its position does not.
            Subject::Call(call) => json!({
                "tool": call.tool,
                "pointer": call.pointer,
                "actual": call.actual.as_deref().map(normalised),
            }),
        };
        let parts: Value = json!([1, finding.code.0, transcript_id, subject]);
        Self(Digest::of_json(&parts).to_string().chars().take(32).collect())
    }

    /// The hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let digits = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        digits.then(|| Self(text.to_ascii_lowercase()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Normalises to lower case, with single spaces between words and no punctuation around them.
fn normalised(text: &str) -> String {
    text.to_lowercase()
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
