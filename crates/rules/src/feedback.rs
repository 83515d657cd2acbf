//! What is told about an answer that was held back. It quotes what was made up, so wherever it
//! stands in a record it is nobody's word, and grounds nothing.

use counterfoil_model::{Finding, Message, MessageKind, Role, Severity, Transcript};

/// How it begins where a model reads it in the place of its answer.
const TO_THE_MODEL: &str =
    "I apologize: my answer said things that the record of this session does not show.";

/// How it begins where an agent reads it that wanted to stop.
pub const FEEDBACK_TO_AN_AGENT: &str =
    "Your message says what the record of this session does not show.";

/// What the model reads instead of an answer that was held back: that it was, why, and what would
/// settle it.
#[must_use]
pub fn feedback(findings: &[Finding]) -> String {
    let mut text = format!(
        "{TO_THE_MODEL} I will do it again, properly, and say only what was done.\n\nDetails:"
    );
    // Beside what is wrong, nobody speaks of what is merely doubtful.
    let worst = findings.iter().map(|finding| finding.severity).max();
    let told = worst.unwrap_or(Severity::Error).max(Severity::Warning);
    for finding in findings.iter().filter(|finding| finding.severity == told) {
        text.push_str(&format!("\n- [{}] {}", finding.code, finding.message));
    }
    text
}

/// Whether a text is such feedback, in whosever name it stands.
#[must_use]
pub fn is_feedback(text: &str) -> bool {
    [TO_THE_MODEL, FEEDBACK_TO_AN_AGENT].iter().any(|opening| text.contains(opening))
}

/// Takes feedback out of a record.
pub fn set_aside_feedback(transcript: &mut Transcript) {
    transcript.messages.iter_mut().for_each(set_feedback_aside);
}

/// Takes a message out of its record where it is feedback.
pub fn set_feedback_aside(message: &mut Message) {
    if message.role != Role::Assistant && is_feedback(&message.text) {
        message.kind = MessageKind::Injected;
        message.text.clear();
    }
}
