use std::borrow::Cow;

use counterfoil_model::{Format, Gap, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::content;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Messages of a Letta agent; `message_type` gives the kind of each.
pub(crate) struct Letta;

const TYPES: [&str; 9] = [
    "system_message",
    "user_message",
    "assistant_message",
    "reasoning_message",
    "hidden_reasoning_message",
    "tool_call_message",
    "tool_return_message",
    "approval_request_message",
    "approval_response_message",
];

impl Messages for Letta {
    fn format(&self) -> Format {
        Format::Letta
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "messages[].", "[].messages[]."]
            .into_iter()
            .any(|at| sketch.is_one_of(&format!("{at}message_type"), &TYPES))
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let kind = fields.string("message_type").unwrap_or(Cow::Borrowed("without type"));
        let time = fields.take("date").and_then(time::millis);
        let role = match kind.as_ref() {
            "system_message" => Role::System,
            "user_message" => Role::User,
            _ => Role::Assistant,
        };
        let mut out = Parts::new(Message { line, time, ..Message::text(role, "") }, session);
        match kind.as_ref() {
            "system_message" | "user_message" | "assistant_message" => {
                if let Some(raw) = fields.take("content") {
                    let content = blocks::read_blocks(raw, line, out.session);
                    out.text(&content.text);
                }
            }
            "reasoning_message" => {
                out.reasoning(&fields.string("reasoning").unwrap_or_default());
            }
            "tool_call_message" | "approval_request_message" => read_calls(fields, &mut out),
            "tool_return_message" => read_returns(fields, &mut out),
            "approval_response_message" => read_approvals(fields, &mut out),
            "summary_message" => {
                let text = fields.string("summary").unwrap_or_default().into_owned();
                out.session.gap(Gap::Compacted);
                let summary = Message { line, time, ..Message::text(Role::System, text) };
                out.session.push(Message { kind: MessageKind::Summary, ..summary });
            }
            "hidden_reasoning_message" | "usage_statistics" | "stop_reason" | "event_message" => {
                return out.session.skip_named("message type", &kind);
            }
            kind => return out.session.skip_part("message type", kind),
        }
        fields.pass_over(&["id", "run_id", "step_id", "otid", "sender_id", "name", "seq_id"]);
        fields.pass_over(&["source", "signature", "is_err"]);
        out.done();
    }
}

/// Reads the call or the calls of a message; both members may contain the same call.
fn read_calls(fields: &mut Fields<'_>, out: &mut Parts<'_>) {
    let one = fields.take("tool_call");
    for raw in one.into_iter().chain(fields.array("tool_calls").unwrap_or_default()) {
        match Fields::from_value(raw) {
            Some(mut call) => {
                out.call(ToolCall {
                    id: call.string("tool_call_id").unwrap_or_default().into_owned(),
                    tool: call.string("name").unwrap_or_default().into_owned(),
                    arguments: fields::arguments(call.take("arguments")),
                    line: 0,
                });
                call.pass_over(&["type"]);
                out.session.leave(&call);
            }
            None => out.session.skip_part("tool call", "that is not an object"),
        }
    }
}

/// Reads the results: in the message itself or, for several calls, in a list.
fn read_returns(fields: &mut Fields<'_>, out: &mut Parts<'_>) {
    let list = fields.array("tool_returns").unwrap_or_default();
    if list.is_empty() || fields.has("tool_return") {
        read_return(fields, out);
    }
    for raw in list {
        read_listed(raw, out);
    }
}

fn read_listed(raw: &RawValue, out: &mut Parts<'_>) {
    match Fields::from_value(raw) {
        Some(mut returned) => {
            read_return(&mut returned, out);
            returned.pass_over(&["type"]);
            out.session.leave(&returned);
        }
        None => out.session.skip_part("tool return", "that is not an object"),
    }
}

fn read_return(fields: &mut Fields<'_>, out: &mut Parts<'_>) {
    let call_id = fields.string("tool_call_id").unwrap_or_default().into_owned();
    let mut outcome = Outcome { call_id, ..Outcome::default() };
    match fields.take("tool_return") {
        Some(raw) => blocks::read_content(raw, &mut outcome, out.session),
        None if fields.has("status") => {}
        None => ending::unread(&mut outcome, "tool_return", out.session),
    }
    for stream in ["stdout", "stderr"] {
        let Some(raw) = fields.take(stream) else { continue };
        let printed = content::result_text(raw, out.session);
        if printed != "[]" && !outcome.text.contains(&printed) {
            content::join(&mut outcome.text, &printed);
        }
    }
    ending::read_ending(fields, &mut outcome, out.session);
    ending::read_rest(fields, &mut outcome, out.session);
    out.outcome(outcome);
}

/// Reads the answers to approval requests. A denied call never ran; the results of calls that the
/// client ran are recorded here.
fn read_approvals(fields: &mut Fields<'_>, out: &mut Parts<'_>) {
    let answers = fields.array("approvals").unwrap_or_default();
    for raw in &answers {
        let Some(mut answer) = Fields::from_value(raw) else {
            out.session.skip_part("approval", "that is not an object");
            continue;
        };
        match answer.boolean("approve") {
            Some(true) => {}
            Some(false) => {
                let call_id = answer.string("tool_call_id").unwrap_or_default().into_owned();
                let text = answer.string("reason").unwrap_or_default().into_owned();
                out.outcome(Outcome { call_id, text, refused: true, ..Outcome::default() });
            }
            None if answer.has("tool_return") => read_listed(raw, out),
            None => out.session.skip_part("approval", "that is not understood"),
        }
    }
    fields.pass_over(&["approve", "approval_request_id", "reason"]);
    if answers.is_empty() {
        out.session.skip("response to an approval request");
    }
}
