use std::borrow::Cow;

use countersign_model::{Format, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::{Shape, Values, read_values};
use crate::fields::{self, Fields};
use crate::outcome_text;
use crate::read::{ReadError, Reading};
use crate::reader::Reader;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;

/// Gemini CLI chat: `{sessionId, messages}` with call and result together in `toolCalls`, its
/// messages one a line, or a saved list of `{role, parts}`.
pub(crate) struct GeminiCli;

impl Reader for GeminiCli {
    fn format(&self) -> Format {
        Format::GeminiCli
    }

    fn looks_for(&self) -> &'static str {
        "`sessionId` and `projectHash` with `messages` of `type` user or gemini"
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.is_one_of("messages[].type", &["gemini"])
            || sketch.is_one_of("type", &["gemini"])
            || sketch.has_all(&["sessionId", "projectHash"])
            || (sketch.has("[].parts") && sketch.is_one_of("[].role", &["user", "model"]))
            || (sketch.has("contents[].parts") && sketch.has("contents[].role"))
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

impl Values for GeminiCli {
    fn shape(&self, value: &RawValue) -> Shape {
        match Fields::of(value) {
            Some(fields) if fields.has("messages") || fields.has("contents") => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return read_message(value, place, session);
        }
        let Some(mut fields) = Fields::of(value) else { return };
        if let Some(id) = fields.string("sessionId") {
            session.transcript.id = id.into_owned();
        }
        if let Some(raw) = fields.take("tools") {
            session.tools(raw, place.line_of(raw.get()));
        }
        if let Some(mut instruction) = fields.object("systemInstruction")
            && let Some(raw) = instruction.take("parts")
        {
            let line = place.line_of(raw.get());
            let text = blocks::read_blocks(raw, line, session).text;
            session.push(Message { line, ..Message::text(Role::System, text) });
        }
        let messages = fields.array("messages").or_else(|| fields.array("contents"));
        for message in messages.unwrap_or_default() {
            read_message(message, place, session);
        }
        session.leave(&fields);
    }
}

fn read_message(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let line = place.line_of(raw.get());
    let Some(mut fields) = Fields::of(raw) else {
        return session.problem(line, "a message is not an object");
    };
    if let Some(raw) = fields.take("parts") {
        let model = fields.string("role").as_deref() == Some("model");
        read_parts(raw, if model { Role::Assistant } else { Role::User }, line, session);
        return session.leave(&fields);
    }
    let kind = fields.string("type").unwrap_or(Cow::Borrowed("(none)"));
    let role = match kind.as_ref() {
        "user" => Role::User,
        "gemini" => Role::Assistant,
        "(none)" => {
            // The first line of the log of one message a line.
            if let Some(id) = fields.string("sessionId") {
                session.transcript.id = id.into_owned();
            }
            return session.leave(&fields);
        }
        kind => return session.skip_named("message type", kind),
    };
    let time = fields.take("timestamp").and_then(time::millis);
    let bare = Message { line, time, ..Message::text(role, "") };
    let thoughts = thoughts(&mut fields);
    if !thoughts.is_empty() {
        session.push(Message { kind: MessageKind::Reasoning, text: thoughts, ..bare.clone() });
    }
    let text = fields.take("content").map(|raw| blocks::read_blocks(raw, line, session).text);
    let mut message = Message { text: text.unwrap_or_default(), ..bare.clone() };
    let mut outcomes = Vec::new();
    for raw in fields.array("toolCalls").unwrap_or_default() {
        let line = place.line_of(raw.get());
        match Fields::of(raw) {
            Some(mut call) => {
                read_call(&mut call, line, session, &mut message.calls, &mut outcomes);
                session.leave(&call);
            }
            None => session.problem(line, "a tool call is not an object"),
        }
    }
    fields.take("id");
    session.leave(&fields);
    session.push(message);
    if !outcomes.is_empty() {
        session.push(Message { role: Role::Tool, outcomes, ..bare });
    }
}

fn thoughts(fields: &mut Fields<'_>) -> String {
    let mut text = String::new();
    for raw in fields.array("thoughts").unwrap_or_default() {
        let Some(mut thought) = Fields::of(raw) else { continue };
        for name in ["subject", "description"] {
            blocks::join(&mut text, &thought.string(name).unwrap_or_default());
        }
    }
    text
}

/// A call with its result.
fn read_call(
    call: &mut Fields<'_>,
    line: usize,
    session: &mut Session,
    calls: &mut Vec<ToolCall>,
    outcomes: &mut Vec<Outcome>,
) {
    let id = call.string("id").unwrap_or_default().into_owned();
    let tool = call.string("name").unwrap_or_default().into_owned();
    calls.push(ToolCall {
        id: id.clone(),
        tool,
        arguments: blocks::arguments(call.take_any("args")),
        line,
    });
    let mut text = String::new();
    if let Some(raw) = call.take("result") {
        let parts = fields::array(raw).unwrap_or_else(|| vec![raw]);
        for part in parts {
            blocks::join(&mut text, &response_text(part, session));
        }
    }
    let status = call.string("status");
    let mut outcome = Outcome {
        call_id: id,
        exit_code: text
            .lines()
            .rev()
            .take(8)
            .find_map(|line| outcome_text::number_after(line, "Exit Code: ")),
        text,
        line,
        ..Outcome::default()
    };
    match status.as_deref() {
        Some("success") => outcome.is_error = Some(false),
        Some("error") => outcome.is_error = Some(true),
        Some("cancelled") => outcome.refused = true,
        Some("executing" | "scheduled" | "validating" | "awaiting_approval") => {
            outcome.running = true;
        }
        // No status and no result: nothing came back.
        None if outcome.text.is_empty() => return,
        _ => {}
    }
    outcomes.push(outcome);
}

/// The text of a `functionResponse`, or of any other part.
fn response_text(raw: &RawValue, session: &mut Session) -> String {
    let Some(mut part) = Fields::of(raw) else { return blocks::result_text(raw, session) };
    if let Some(mut response) = part.object("functionResponse") {
        let Some(inner) = response.take("response") else { return String::new() };
        let Some(mut members) = Fields::of(inner) else {
            return blocks::result_text(inner, session);
        };
        let text = members.take("output").or_else(|| members.take("error"));
        return text
            .map_or_else(|| inner.get().to_owned(), |raw| blocks::result_text(raw, session));
    }
    part.string("text").map_or_else(|| raw.get().to_owned(), Cow::into_owned)
}

/// A message of the API: `{role, parts}`.
fn read_parts(raw: &RawValue, role: Role, line: usize, session: &mut Session) {
    let mut message = Message { line, ..Message::text(role, "") };
    let mut thoughts = String::new();
    for part in fields::array(raw).unwrap_or_else(|| vec![raw]) {
        let Some(mut fields) = Fields::of(part) else {
            let text = fields::string(part).unwrap_or_default();
            blocks::join(&mut message.text, &text);
            continue;
        };
        if let Some(text) = fields.string("text") {
            let thought = fields.boolean("thought") == Some(true);
            blocks::join(if thought { &mut thoughts } else { &mut message.text }, &text);
        } else if let Some(mut call) = fields.object("functionCall") {
            message.calls.push(ToolCall {
                id: call.string("id").unwrap_or_default().into_owned(),
                tool: call.string("name").unwrap_or_default().into_owned(),
                arguments: blocks::arguments(call.take_any("args")),
                line,
            });
        } else if let Some(response) = fields.object("functionResponse") {
            let mut response = response;
            let call_id = response.string("id").unwrap_or_default().into_owned();
            let text = response_text(part, session);
            message.outcomes.push(Outcome { call_id, text, line, ..Outcome::default() });
        }
        session.leave(&fields);
    }
    if !message.outcomes.is_empty() && message.text.is_empty() {
        message.role = Role::Tool;
    }
    if !thoughts.is_empty() {
        let thought = Message { line, ..Message::text(role, thoughts) };
        session.push(Message { kind: MessageKind::Reasoning, ..thought });
    }
    session.push(message);
}
