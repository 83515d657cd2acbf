use std::borrow::Cow;

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Sessions of Goose: a line about the session followed by one message per line, or an export with
/// the messages in `conversation`.
pub(crate) struct Goose;

impl Messages for Goose {
    fn format(&self) -> Format {
        Format::Goose
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
            // The first line of the session.
            session.transcript.directory = fields.string("working_dir").map(Cow::into_owned);
            fields.take("description");
            return session.skip("session metadata line");
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
    let Some(mut block) = Fields::from_value(raw) else {
        let line = out.line();
        return out.session.problem(line, "a content block is not an object");
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
                    arguments: fields::arguments(value.take_any("arguments")),
                    line: 0,
                }),
                None => out.session.skip_part("content block", "toolRequest without a call"),
            }
        }
        "toolResponse" => {
            let call_id = block.string("id").unwrap_or_default().into_owned();
            let mut outcome = Outcome { call_id, ..Outcome::default() };
            match block.object("toolResult") {
                Some(result) => read_result(result, &mut outcome, out.session),
                None => ending::unread(&mut outcome, "toolResult", out.session),
            }
            out.outcome(outcome);
        }
        "toolConfirmationRequest" | "contextLengthExceeded" | "summarizationRequested" => {
            return out.session.skip_named("content block", &kind);
        }
        kind => return out.session.skip_part("content block", kind),
    }
    block.pass_over(&["metadata", "annotations", "_meta", "signature"]);
    out.session.leave(&block);
}

/// Reads a result: `value` is a list of contents, or the response of an MCP server.
fn read_result(mut result: Fields<'_>, outcome: &mut Outcome, session: &mut Session) {
    match result.string("status").as_deref() {
        // A response from the server says nothing about the command it ran.
        Some("success") | None => {}
        word => ending::read_word(word, outcome, session),
    }
    ending::read_members(&["error"], &mut result, outcome, session);
    match result.take("value").map(|value| (value, Fields::from_value(value))) {
        Some((_, Some(mut answer))) if answer.has("content") => {
            if let Some(raw) = answer.take("content") {
                blocks::read_content(raw, outcome, session);
            }
            let failed = outcome.is_error;
            ending::read_members(&["isError"], &mut answer, outcome, session);
            outcome.is_error = outcome.is_error.filter(|is_error| *is_error).or(failed);
        }
        Some((value, _)) => blocks::read_content(value, outcome, session),
        None if outcome.is_error == Some(true) || outcome.refused => {}
        None => ending::unread(outcome, "value", session),
    }
}
