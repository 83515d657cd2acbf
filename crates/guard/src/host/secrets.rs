//! Secrets in the arguments of calls that a host executes.
//!
//! What stays on the machine is the user's own affair: a file that needs its key gets it. What
//! would leave the machine is asked about, and what a shell would remember is remarked upon.

use countersign_model::Digest;
use serde_json::json;

use super::before::HostedCall;
use crate::gate::{GateId, Question, Verdict};
use crate::redact::Redactor;

const ID: GateId = GateId("secrets");

/// Asks about a call of a tool of the network that carries a secret.
pub(super) fn verdict(hosted: &HostedCall) -> Option<(GateId, Verdict)> {
    let leaves = hosted.tool.effects.network == Some(true);
    let redacted = leaves.then(|| found(hosted)).flatten()?;
    let digest = Digest::of_json(&json!({
        "tool": hosted.tool.name,
        "arguments": hosted.arguments,
    }));
    let question = Question {
        gate: ID,
        digest,
        tool: hosted.tool.name.clone(),
        call: redacted,
        why: "what looks like a secret would leave this machine".to_owned(),
    };
    Some((ID, Verdict::Ask(question)))
}

/// Remarks upon a shell command that carries one.
pub(super) fn note(hosted: &HostedCall, runs_commands: bool) -> Option<String> {
    let redacted = runs_commands.then(|| found(hosted)).flatten()?;
    let shown: String = redacted.chars().take(200).collect();
    Some(format!(
        "this command holds what looks like a secret ({shown}): commands end up in histories and \
         logs; read it from a file or a variable instead"
    ))
}

/// The arguments without their secrets, where there are any.
fn found(hosted: &HostedCall) -> Option<String> {
    let redacted = Redactor::standard().redact_value(&hosted.arguments);
    (redacted != hosted.arguments).then(|| redacted.to_string())
}
