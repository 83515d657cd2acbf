//! Records what a request shows: messages, and the results that a client reports for its calls.

use std::collections::BTreeMap;

use counterfoil_guard::{AppendError, CallError, HostEnded, HostedCall, Surroundings};
use counterfoil_model::{
    Digest, Message, MessageKind, Origin, Outcome, Role, Status, ToolCall, ToolErrorCategory,
};
use serde_json::Value;

use crate::outcomes::outcomes;
use crate::sessions::Seen;
use crate::shown::Shown;

/// Something could not be recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotRecorded {
    #[error(transparent)]
    Message(#[from] AppendError),
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Records what is new in a request. If `first`, it is the first one of its session, and everything
/// is new.
pub(crate) async fn record(seen: &Seen, shown: &Shown, first: bool) -> Result<(), NotRecorded> {
    let _in_order = seen.recording.lock().await;
    let messages = &shown.transcript.messages;
    let calls: BTreeMap<&str, &ToolCall> =
        messages.iter().flat_map(|message| &message.calls).map(|c| (c.id.as_str(), c)).collect();
    let new = if first { 0 } else { shown.new };
    let again = is_again(seen, messages.len(), messages.get(new..).unwrap_or_default());
    for (at, message) in messages.iter().enumerate() {
        if at >= new && !again {
            record_message(seen, message).await?;
        }
    }
    for (key, outcome) in outcomes(messages) {
        let call = calls.get(outcome.call_id.as_str()).copied();
        ended(seen, shown, call, (key, outcome)).await?;
    }
    Ok(())
}

/// Whether the same request was made before, because clients retry.
fn is_again(seen: &Seen, count: usize, new: &[Message]) -> bool {
    let texts: Vec<&str> = new.iter().map(|message| message.text.as_str()).collect();
    let digest = Digest::of_bytes(format!("{count} {}", texts.join("\n\0")).as_bytes());
    seen.state().heard.replace(digest) == Some(digest)
}

async fn record_message(seen: &Seen, message: &Message) -> Result<(), AppendError> {
    let text = message.text.trim();
    if text.is_empty() || message.role == Role::Tool || message.kind == MessageKind::Reasoning {
        return Ok(());
    }
    // Messages of a harness are not attributed to the user.
    let role = match message.kind {
        MessageKind::Ordinary => message.role,
        _ => Role::System,
    };
    seen.session.hear(role, text).await
}

/// Records the receipt of a call as its client reports it. The receipt says who executed it.
async fn ended(
    seen: &Seen,
    shown: &Shown,
    call: Option<&ToolCall>,
    (key, outcome): (String, &Outcome),
) -> Result<(), CallError> {
    if seen.state().reported.contains_key(&key) {
        return Ok(());
    }
    let unknown = || ToolCall::new(&outcome.call_id, "unknown", "{}");
    let hosted = HostedCall::of_unknown(call.cloned().unwrap_or_else(unknown), Origin::External);
    let hosted = match shown.tools.get(&hosted.call.tool) {
        Some(tool) => hosted.of_tool(tool.clone()),
        None => hosted,
    };
    let (status, category) = match outcome {
        Outcome { running: true, .. } => (Status::Open, None),
        Outcome { refused: true, .. } => (Status::Denied, Some(ToolErrorCategory::PolicyBlocked)),
        Outcome { is_error: Some(true), .. } => {
            (Status::Failed, Some(ToolErrorCategory::PermanentFailure))
        }
        // How it ended is not known, so no receipt says that it succeeded.
        Outcome { unread: true, .. } => (Status::Open, None),
        _ => (Status::Completed, None),
    };
    let ended = HostEnded {
        status,
        category,
        result: Value::String(outcome.text.clone()),
        exit_code: outcome.exit_code,
        truncated: outcome.truncated,
    };
    seen.session.after(&hosted, &Surroundings::default(), ended).await?;
    if status != Status::Open {
        let digest = Digest::of_bytes(outcome.text.as_bytes());
        seen.state().reported.insert(key, Some(digest));
    }
    Ok(())
}
