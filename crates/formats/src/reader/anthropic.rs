use counterfoil_model::{Format, Message, MessageKind, Role};
use serde_json::value::RawValue;

use crate::blocks::{self, Blocks};
use crate::documents::{Shape, Values, read_values};
use crate::fields::Fields;
use crate::log_reader::Reader;
use crate::outcome_text;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};

/// Anthropic messages: a request `{system, tools, messages}`, a response, a `{request, response}`
/// pair, or a list of messages.
pub(crate) struct Anthropic;

const BLOCKS: [&str; 6] = [
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "server_tool_use",
    "web_search_tool_result",
];

impl Reader for Anthropic {
    fn format(&self) -> Format {
        Format::Anthropic
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "messages[].", "[].messages[].", "request.messages[].", "response."]
            .iter()
            .any(|prefix| sketch.is_one_of(&format!("{prefix}content[].type"), &BLOCKS))
            || sketch.has_any(&["tools[].input_schema", "[].tools[].input_schema"])
            || (sketch.has_all(&["system", "messages", "max_tokens"]))
            || (sketch.is_one_of("type", &["message"]) && sketch.has_all(&["role", "content"]))
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError> {
        read_values(self, self.format(), source, name, sink)
    }
}

impl Values for Anthropic {
    fn shape(&self, value: &RawValue) -> Shape {
        match Fields::from_value(value) {
            Some(fields) if fields.has("messages") || fields.has("request") => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return read_message(value, place, session);
        }
        let Some(mut fields) = Fields::from_value(value) else { return };
        if let Some(id) = fields.string("id").filter(|id| !id.is_empty()) {
            session.transcript.id = id.into_owned();
        }
        if let Some(mut request) = fields.object("request") {
            read_request(&mut request, place, session);
            session.leave(&request);
        }
        read_request(&mut fields, place, session);
        if let Some(response) = fields.take("response") {
            read_message(response, place, session);
        }
        session.leave(&fields);
    }
}

fn read_request(fields: &mut Fields<'_>, place: &mut Locator<'_>, session: &mut Session) {
    if let Some(raw) = fields.take("tools") {
        session.tools(raw, place.line_of(raw.get()));
    }
    if let Some(raw) = fields.take("system") {
        let line = place.line_of(raw.get());
        let text = blocks::read_blocks(raw, line, session).text;
        session.push(Message { line, ..Message::text(Role::System, text) });
    }
    for message in fields.array("messages").unwrap_or_default() {
        read_message(message, place, session);
    }
}

fn read_message(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let line = place.line_of(raw.get());
    let Some(mut fields) = Fields::from_value(raw) else {
        return session.problem(line, "a message is not an object");
    };
    let mut role = match fields.string("role").as_deref() {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some("user") => Role::User,
        other => {
            let role = other.unwrap_or("(none)");
            return session.problem(line, format!("a message has the unknown role `{role}`"));
        }
    };
    let content = fields.take("content");
    let content = content.map(|raw| blocks::read_blocks(raw, line, session)).unwrap_or_default();
    let Blocks { text, has_text, reasoning, calls, mut outcomes } = content;
    for outcome in &mut outcomes {
        // In this format, a missing mark means success.
        let is_error = outcome.is_error.unwrap_or(false);
        outcome.is_error = Some(is_error);
        outcome.refused |= is_error && outcome_text::says_refused(&outcome.text);
    }
    if role == Role::User && !outcomes.is_empty() && !has_text {
        role = Role::Tool;
    }
    let mut message = Message { line, calls, outcomes, ..Message::text(role, text) };
    if !reasoning.is_empty() {
        if !has_text && message.calls.is_empty() {
            message.kind = MessageKind::Reasoning;
            message.text = reasoning;
        } else {
            session.skip("reasoning attached to a message");
        }
    }
    fields.take("type");
    session.leave(&fields);
    session.push(message);
}
