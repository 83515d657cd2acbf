use std::borrow::Cow;

use counterfoil_model::{Format, Gap, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Rows of Crush's message table: `parts` is a list of `type` and `data`, or that list as JSON
/// text, as stored in the column.
pub(crate) struct Crush;

const KINDS: [&str; 7] =
    ["text", "reasoning", "tool_call", "tool_result", "finish", "image_url", "binary"];

impl Messages for Crush {
    fn format(&self) -> Format {
        Format::Crush
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "messages[]."].into_iter().any(|at| {
            let has = |member: &str| sketch.has(&format!("{at}{member}"));
            let typed =
                has("parts[].data") && sketch.is_one_of(&format!("{at}parts[].type"), &KINDS);
            let is_row = has("finished_at") && has("parts") && !has("parts[].type");
            has("role") && has("session_id") && (typed || is_row)
        })
    }

    fn names_session(&self) -> Option<&'static str> {
        Some("session_id")
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let role = match fields.string("role").as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool") => Role::Tool,
            Some("system") => Role::System,
            other => {
                let role = other.unwrap_or("(none)");
                session.problem(line, format!("a message has the unknown role `{role}`"));
                return session.skip_part("message with role", role);
            }
        };
        if let Some(id) = fields.string("session_id")
            && session.len() == 0
        {
            session.transcript.id = id.into_owned();
        }
        if let Some(model) = fields.string("model") {
            session.next_model(&model);
        }
        let mut kind = MessageKind::Ordinary;
        if fields.take("is_summary_message").is_some_and(|raw| matches!(raw.get(), "1" | "true")) {
            session.gap(Gap::Compacted);
            kind = MessageKind::Summary;
        }
        let time = fields.take("created_at").and_then(time::millis);
        fields.pass_over(&["id", "updated_at", "finished_at", "provider"]);
        let bare = Message { line, time, kind, ..Message::text(role, "") };
        match fields.take("parts") {
            Some(raw) => read_parts(raw, bare, session),
            None => session.skip("message without parts"),
        }
    }
}

/// Reads the parts of a message: a list, or JSON text with a list.
fn read_parts(raw: &RawValue, bare: Message, session: &mut Session) {
    let text = fields::string(raw).unwrap_or(Cow::Borrowed(raw.get()));
    let Ok(parts) = serde_json::from_str::<Vec<&RawValue>>(&text) else {
        session.problem(bare.line, "the parts of a message are not a list");
        return session.skip_part("message", "whose parts are not a list");
    };
    let mut out = Parts::new(bare, session);
    for raw in parts {
        read_part(raw, &mut out);
    }
    out.done();
}

fn read_part(raw: &RawValue, out: &mut Parts<'_>) {
    let line = out.line();
    let Some(mut part) = Fields::from_value(raw) else {
        return out.session.problem(line, "a part of a message is not an object");
    };
    let kind = part.string("type").unwrap_or(Cow::Borrowed("without type"));
    let Some(mut data) = part.object("data") else {
        return out.session.skip_part("message part without data", &kind);
    };
    match kind.as_ref() {
        "text" => out.text(&data.string("text").unwrap_or_default()),
        "reasoning" => {
            out.reasoning(&data.string("thinking").unwrap_or_default());
            return;
        }
        "tool_call" => {
            data.pass_over(&["provider_executed", "finished", "type"]);
            out.call(ToolCall {
                id: data.string("id").unwrap_or_default().into_owned(),
                tool: data.string("name").unwrap_or_default().into_owned(),
                arguments: fields::arguments(data.take("input")),
                line: 0,
            });
        }
        "tool_result" => {
            let call_id = data.string("tool_call_id").unwrap_or_default().into_owned();
            let mut outcome = Outcome { call_id, ..Outcome::default() };
            if let Some(raw) = data.take("content") {
                blocks::read_content(raw, &mut outcome, out.session);
            }
            // A picture or a file, and the tool's display data.
            data.pass_over(&["name", "mime_type", "metadata", "data"]);
            ending::read_ending(&mut data, &mut outcome, out.session);
            ending::read_rest(&data, &mut outcome, out.session);
            out.outcome(outcome);
        }
        "finish" | "image_url" | "binary" => {
            return out.session.skip_named("message part", &kind);
        }
        kind => return out.session.skip_part("message part", kind),
    }
    out.session.leave(&data);
    out.session.leave(&part);
}
