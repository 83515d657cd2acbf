use std::borrow::Cow;

use counterfoil_model::{Format, Message, MessageKind, Outcome, Role, ToolCall};
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

/// Message histories of Pydantic AI: requests and responses made of parts.
pub(crate) struct PydanticAi;

impl Messages for PydanticAi {
    fn format(&self) -> Format {
        Format::PydanticAi
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.has_any(&[
            "[].parts[].part_kind",
            "messages[].parts[].part_kind",
            "parts[].part_kind",
        ])
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let response = fields.string("kind").as_deref() == Some("response");
        let time = fields.take("timestamp").and_then(time::millis);
        let role = if response { Role::Assistant } else { Role::User };
        let bare = Message { line, time, ..Message::text(role, "") };
        if let Some(text) = fields.string("instructions") {
            let is_known = |m: &Message| m.role == Role::System && m.text == text;
            if !session.transcript.messages.iter().any(is_known) {
                session.push(Message { line, ..Message::text(Role::System, text) });
            }
        }
        let mut out = Parts::new(bare, session);
        for raw in fields.array("parts").unwrap_or_default() {
            read_part(raw, &mut out);
        }
        out.done();
    }
}

fn read_part(raw: &RawValue, out: &mut Parts<'_>) {
    let line = out.line();
    let Some(mut part) = Fields::from_value(raw) else {
        return out.session.problem(line, "a part of a message is not an object");
    };
    let kind = part.string("part_kind").unwrap_or(Cow::Borrowed("without kind"));
    match kind.as_ref() {
        "text" | "user-prompt" => {
            let text = part.take("content").map(|raw| text_of(raw, out)).unwrap_or_default();
            out.text(&text);
        }
        "thinking" => out.reasoning(&part.string("content").unwrap_or_default()),
        "system-prompt" => {
            let text = part.string("content").unwrap_or_default();
            out.session.push(Message { line, ..Message::text(Role::System, text) });
        }
        "tool-call" | "builtin-tool-call" => {
            let args = part.take("args");
            out.call(ToolCall {
                id: part.string("tool_call_id").unwrap_or_default().into_owned(),
                tool: part.string("tool_name").unwrap_or_default().into_owned(),
                arguments: fields::arguments(args),
                line: 0,
            });
        }
        "tool-return" | "builtin-tool-return" => {
            let mut outcome = outcome(&mut part, out);
            ending::read_ending(&mut part, &mut outcome, out.session);
            ending::read_rest(&part, &mut outcome, out.session);
            out.outcome(outcome);
        }
        // Feedback to the model when arguments or an answer failed validation.
        "retry-prompt" if part.has("tool_name") => {
            let outcome = outcome(&mut part, out);
            out.outcome(Outcome { is_error: Some(true), ..outcome });
        }
        "retry-prompt" => {
            let text = part.take("content").map(|raw| content::result_text(raw, out.session));
            let kind = MessageKind::Injected;
            let text = text.unwrap_or_default();
            out.session.push(Message { line, kind, ..Message::text(Role::User, text) });
        }
        kind => out.session.skip_part("message part", kind),
    }
}

fn outcome(part: &mut Fields<'_>, out: &mut Parts<'_>) -> Outcome {
    let call_id = part.string("tool_call_id").unwrap_or_default().into_owned();
    let mut outcome = Outcome { call_id, ..Outcome::default() };
    if let Some(raw) = part.take("content") {
        blocks::read_content(raw, &mut outcome, out.session);
    }
    outcome
}

/// The text of a string, or of a list of strings and media.
fn text_of(raw: &RawValue, out: &mut Parts<'_>) -> String {
    let mut text = String::new();
    for part in fields::array(raw).unwrap_or_else(|| vec![raw]) {
        match fields::string(part) {
            Some(part) => content::join(&mut text, &part),
            None => out.session.skip_named("message part", "media"),
        }
    }
    text
}
