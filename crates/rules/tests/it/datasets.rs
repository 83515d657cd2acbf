//! Reads the optional large data sets as transcripts.

#[path = "../../../admission/tests/it/datasets.rs"]
mod tables;

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall, Transcript};
use serde_json::Value;

use tables::catalog;
pub(crate) use tables::rows;

/// A row as a transcript, with only what the call rules need.
pub(crate) fn transcript(row: &Value) -> Transcript {
    let mut transcript =
        Transcript::new(row["id"].as_str().unwrap_or_default(), Format::OpenaiChat);
    transcript.catalog = catalog(row);
    for message in row["messages"].as_array().into_iter().flatten() {
        let text = message["content"].as_str().unwrap_or_default();
        let role = match message["role"].as_str() {
            Some("system") => Role::System,
            Some("user") => Role::User,
            Some("tool") => Role::Tool,
            _ => Role::Assistant,
        };
        let mut read = Message::text(role, if role == Role::Tool { "" } else { text });
        if role == Role::Tool {
            read.outcomes.push(Outcome {
                call_id: message["tool_call_id"].as_str().unwrap_or_default().to_owned(),
                text: text.to_owned(),
                is_error: message["is_error"].as_bool(),
                exit_code: message["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()),
                running: message["still_running"].as_bool() == Some(true),
                ..Outcome::default()
            });
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let [id, tool, arguments] = [&call["id"], &function["name"], &function["arguments"]]
                .map(|text| text.as_str().unwrap_or_default());
            read.calls.push(ToolCall::new(id, tool, arguments));
        }
        transcript.messages.push(read);
    }
    transcript
}
