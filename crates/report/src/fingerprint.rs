use std::fmt;

use counterfoil_model::{Digest, Finding, Subject};
use serde_json::{Value, json};

/// What makes a finding the same finding in the next run: the rule, the transcript's id, and what
/// the agent said or called. Lines, spans and wording of messages do not enter, so it survives
/// moves within the log and a reworded message. Shown as 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a finding in the transcript of this id.
    #[must_use]
    pub fn of(transcript_id: &str, finding: &Finding) -> Self {
        let subject = match &finding.subject {
            Subject::Claim { claim, .. } => {
                let mut objects: Vec<String> =
                    claim.objects.iter().map(|object| normalised(&object.text)).collect();
                objects.sort_unstable();
                json!({ "claim": normalised(&claim.text), "objects": objects })
            }
            // The id of a call differs from run to run of the same session; its place does not.
            Subject::Call(call) => json!({
                "tool": call.tool,
                "pointer": call.pointer,
                "actual": call.actual.as_deref().map(normalised),
            }),
        };
        let parts: Value = json!([1, finding.code.0, transcript_id, subject]);
        Self(Digest::of_json(&parts).to_string().chars().take(32).collect())
    }

    /// The digits.
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

/// Lower case, one blank between words, no punctuation around them.
fn normalised(text: &str) -> String {
    text.to_lowercase()
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
