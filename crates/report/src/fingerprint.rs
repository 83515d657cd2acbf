use std::fmt;

use counterfoil_model::{Digest, Finding, Message, MessageKind, Role, Subject, Transcript};
use serde_json::{Value, json};

/// Identifies a finding across runs: a digest of the rule, the conversation up to the finding, and
/// what the agent said or called. Names of files and sessions, line numbers, spans and the wording
/// of messages are not part of it, so it survives moves and reworded messages. Shown as 32 hex
/// digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Computes the fingerprint of a finding in this transcript.
    #[must_use]
    pub fn new(transcript: &Transcript, finding: &Finding) -> Self {
        let subject = match &finding.subject {
            Subject::Claim { claim, .. } => {
                let mut objects: Vec<String> =
                    claim.objects.iter().map(|object| normalised(&object.text)).collect();
                objects.sort_unstable();
                json!({ "claim": normalised(&claim.text), "objects": objects })
            }
            Subject::Call(call) => json!({
                "tool": call.tool,
                "pointer": call.pointer,
                "actual": call.actual.as_deref().map(normalised),
            }),
        };
        let parts: Value =
            json!([2, finding.code.0, conversation(transcript, finding.turn), subject]);
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

/// A name for a conversation that is independent of files: a digest of the user's first request;
/// `None` if there is none.
#[must_use]
pub fn conversation_of(transcript: &Transcript) -> Option<String> {
    let first = transcript.messages.iter().find(asks)?;
    Some(Digest::of_json(&json!(first.text)).to_string().chars().take(16).collect())
}

fn asks(message: &&Message) -> bool {
    message.role == Role::User && message.kind == MessageKind::Ordinary
}

/// The first and the latest request of the user, and the latest calls by id and tool.
fn conversation(transcript: &Transcript, turn: usize) -> Value {
    /// Enough to tell conversations apart; all calls of a long one would take long for each finding.
    const CALLS: usize = 16;
    let before = transcript.messages.get(..turn).unwrap_or(&transcript.messages);
    let requests = [before.iter().find(asks), before.iter().rev().find(asks)];
    let requests = requests.map(|message| message.map(|message| message.text.as_str()));
    let calls = before.iter().rev().flat_map(|message| &message.calls).take(CALLS);
    let calls: Vec<[&str; 2]> = calls.map(|call| [call.id.as_str(), call.tool.as_str()]).collect();
    json!({ "asked": requests, "calls": calls })
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
