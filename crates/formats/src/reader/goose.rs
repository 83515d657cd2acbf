use std::borrow::Cow;

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::Messages;
use crate::fields::Fields;
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Sessions of Goose: one message a line behind a line about the session, or an export whose
/// `conversation` is the list of messages.
pub(crate) struct Goose;

impl Messages for Goose {
    fn format(&self) -> Format {
        Format::Goose
    }

    fn looks_for(&self) -> &'static str {
        "messages whose `content` holds `toolRequest` or `toolResponse`, or a line with `working_dir`"
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        let kinds = ["toolRequest", "toolResponse"];
        ["content[].type", "[].content[].type", "conversation[].content[].type"]
            .iter()
            .any(|place| sketch.is_one_of(place, &kinds))
            || sketch.has_all(&["working_dir", "conversation[].role"])
    }

    fn lists(&self) -> &'static [&'static str] {
        &["conversation", "messages"]
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let Some(role) = fields.string("role") else {
            // The first line.
            session.transcript.directory = fields.string("working_dir").map(Cow::into_owned);
            fields.take("description");
            return session.skip("line about the session");
        };
        let role = if role == "assistant" { Role::Assistant } else { Role::User };
        let time = fields.take("created").and_then(time::millis);
        let bare = Message { line, time, ..Message::text(role, "") };
        let mut out = Parts::new(bare, session);
        for raw in fields.array("content").unwrap_or_default() {
            read_block(raw, &mut out);
        }
        out.done();
    }
}

fn read_block(raw: &RawValue, out: &mut Parts<'_>) {
    let Some(mut block) = Fields::of(raw) else {
        let line = out.line();
        return out.session.problem(line, "a block of the content is not an object");
    };
    let kind = block.string("type").unwrap_or(Cow::Borrowed("without type"));
    match kind.as_ref() {
        "text" => out.text(&block.string("text").unwrap_or_default()),
        "thinking" | "reasoning" => out.reasoning(&block.string("thinking").unwrap_or_default()),
        "toolRequest" | "frontendToolRequest" => {
            let id = block.string("id").unwrap_or_default().into_owned();
            let value = block.object("toolCall").and_then(|mut call| call.object("value"));
            match value {
                Some(mut value) => out.call(ToolCall {
                    id,
                    tool: value.string("name").unwrap_or_default().into_owned(),
                    arguments: blocks::arguments(value.take_any("arguments")),
                    line: 0,
                }),
                None => out.session.skip_part("content block", "toolRequest without a call"),
            }
        }
        "toolResponse" => {
            let call_id = block.string("id").unwrap_or_default().into_owned();
            let (text, is_error) =
                block.object("toolResult").map(|result| told(result, out)).unwrap_or_default();
            out.outcome(Outcome { call_id, text, is_error, ..Outcome::default() });
        }
        "toolConfirmationRequest" | "contextLengthExceeded" | "summarizationRequested" => {
            return out.session.skip_named("content block", &kind);
        }
        kind => return out.session.skip_part("content block", kind),
    }
    block.pass_over(&["metadata", "annotations", "_meta", "signature"]);
    out.session.leave(&block);
}

/// The text of a result and whether it is an error: `value` is the list of contents, or what an
/// MCP server answered.
fn told(mut result: Fields<'_>, out: &mut Parts<'_>) -> (String, Option<bool>) {
    if result.string("status").as_deref() == Some("error") {
        return (result.string("error").unwrap_or_default().into_owned(), Some(true));
    }
    // That the server answered says nothing of the command that it ran.
    let Some(value) = result.take("value") else { return (String::new(), None) };
    match Fields::of(value) {
        Some(mut answer) if answer.has("content") => {
            let content = answer.take("content");
            let text = content.map(|raw| blocks::result_text(raw, out.session));
            (text.unwrap_or_default(), answer.boolean("isError").filter(|failed| *failed))
        }
        _ => (blocks::result_text(value, out.session), None),
    }
}
