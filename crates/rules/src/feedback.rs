//! The feedback about an answer that was blocked. It quotes fabricated text, so it must never count
//! as evidence, wherever it appears in a record.

use counterfoil_model::{Finding, Message, MessageKind, Role, Severity, Transcript};

/// The opening for a model that reads it in place of its answer.
const TO_THE_MODEL: &str =
    "I apologize: my answer said things that the record of this session does not show.";

/// The opening for an agent that is about to stop.
pub const FEEDBACK_TO_AN_AGENT: &str =
    "Your message says what the record of this session does not show.";

/// The text that a model reads in place of a blocked answer: that it was blocked, why, and how to
/// resolve it.
#[must_use]
pub fn feedback(findings: &[Finding]) -> String {
    let mut text = format!(
        "{TO_THE_MODEL} I will do it again, properly, and say only what was done.\n\nDetails:"
    );
    // If there are errors, warnings are not mentioned.
    let worst = findings.iter().map(|finding| finding.severity).max();
    let severity = worst.unwrap_or(Severity::Error).max(Severity::Warning);
    for finding in findings.iter().filter(|finding| finding.severity == severity) {
        text.push_str(&format!("\n- [{}] {}", finding.code, finding.message));
    }
    text
}

/// Whether a text is such feedback, whatever its role.
#[must_use]
pub fn is_feedback(text: &str) -> bool {
    [TO_THE_MODEL, FEEDBACK_TO_AN_AGENT].iter().any(|opening| text.contains(opening))
}

/// Removes feedback from a record.
pub fn set_aside_feedback(transcript: &mut Transcript) {
    transcript.messages.iter_mut().for_each(set_feedback_aside);
}

/// Excludes a message from the record if it is feedback.
pub fn set_feedback_aside(message: &mut Message) {
    if message.role != Role::Assistant && is_feedback(&message.text) {
        message.kind = MessageKind::Injected;
        message.text.clear();
    }
}
