use std::borrow::Cow;

use counterfoil_model::{Format, Message, MessageKind, Outcome, Role};
use serde_json::value::RawValue;

use crate::blocks::{self, Blocks};
use crate::content;
use crate::documents::{Shape, Values, read_values};
use crate::ending;
use crate::fields::Fields;
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::receipts::read_receipts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;
use crate::tool_calls::read_tool_calls;
use crate::{evaluations, exchange};

/// OpenAI chat: an object with `messages`, a list of such objects, a list of messages, or any of
/// these, one per line. Counterfoil's ledger export is in this format, plus `receipts`.
pub(crate) struct OpenaiChat;

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

impl Reader for OpenaiChat {
    fn format(&self) -> Format {
        Format::OpenaiChat
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["role", "messages[].role", "[].role", "[].messages[].role"]
            .iter()
            .any(|path| sketch.is_one_of(path, &ROLES))
            || sketch.has_any(&["choices[].message", "[].choices[].message"])
            || sketch.has_all(&["messages", "tools"])
            || evaluations::recognises(sketch)
            || exchange::recognises(sketch)
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

impl Values for OpenaiChat {
    fn shape(&self, value: &RawValue) -> Shape {
        match Fields::from_value(value) {
            Some(fields) if fields.has("messages") || fields.has("choices") => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return read_message(value, place, session);
        }
        let Some(mut fields) = Fields::from_value(value) else { return };
        let line = place.line_of(value.get());
        if let Some(id) = fields.string("id").filter(|id| !id.is_empty()) {
            session.transcript.id = id.into_owned();
        }
        if fields.has("threadId") && fields.has("runId") {
            // AG-UI lists the tools of its front end, not those of the agent.
            fields.pass_over(&["tools", "context", "state", "forwardedProps"]);
        }
        if let Some(raw) = fields.take("tools").or_else(|| fields.take("functions")) {
            session.tools(raw, place.line_of(raw.get()));
        }
        match fields.take("messages").map(|raw| (raw, crate::fields::array(raw))) {
            Some((_, Some(messages))) => {
                for message in messages {
                    read_message(message, place, session);
                }
            }
            Some((raw, None)) => {
                session.problem(place.line_of(raw.get()), "`messages` is not a list");
            }
            None => {}
        }
        for choice in fields.array("choices").unwrap_or_default() {
            if let Some(message) =
                Fields::from_value(choice).and_then(|mut choice| choice.take("message"))
            {
                read_message(message, place, session);
            }
        }
        if let Some(raw) = fields.take("receipts") {
            read_receipts(raw, line, session);
        }
        session.leave(&fields);
    }
}

/// Adds exactly one message in every case, so that positions match the input.
fn read_message(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let line = place.line_of(raw.get());
    let Some(mut fields) = Fields::from_value(raw) else {
        session.problem(line, "a message is not an object");
        return session.push(placeholder(line));
    };
    let role = match fields.string("role").as_deref() {
        Some("system" | "developer") => Role::System,
        Some("user" | "human") => Role::User,
        Some("assistant" | "model" | "ai") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        other => {
            let role = other.unwrap_or("(none)");
            session.problem(line, format!("a message has the unknown role `{role}`"));
            session.skip_part("message with role", role);
            return session.push(placeholder(line));
        }
    };
    let mut content = None;
    let blocks = match fields.take("content") {
        Some(raw) if role == Role::Tool => {
            content = Some(raw);
            Blocks::default()
        }
        Some(raw) => blocks::read_blocks(raw, line, session),
        None => Blocks::default(),
    };
    let only_results = role == Role::User && !blocks.has_text && !blocks.outcomes.is_empty();
    let shown_role = if only_results { Role::Tool } else { role };
    let mut message = Message { line, ..Message::text(shown_role, blocks.text) };
    message.calls = blocks.calls;
    message.outcomes = blocks.outcomes;
    if let Some(refusal) = fields.string("refusal") {
        content::join(&mut message.text, &refusal);
    }
    if fields.take("reasoning_content").is_some() || !blocks.reasoning.is_empty() {
        session.skip("reasoning attached to a message");
    }
    message.calls.extend(read_tool_calls(&mut fields, place, session));
    message.time = fields.take("timestamp").and_then(time::millis);
    message.agent = fields.string("agent").map(Cow::into_owned);
    message.kind = if fields.boolean("is_compact_summary") == Some(true) {
        MessageKind::Summary
    } else if fields.boolean("is_meta") == Some(true) {
        MessageKind::Injected
    } else {
        MessageKind::Ordinary
    };
    if role == Role::Tool {
        message.outcomes.push(outcome(content, &mut fields, line, session));
    }
    session.leave(&fields);
    session.push(message);
}

fn placeholder(line: usize) -> Message {
    Message { line, kind: MessageKind::Injected, ..Message::text(Role::System, "") }
}

/// The result in a tool message, including the members that only Counterfoil writes.
fn outcome(
    content: Option<&RawValue>,
    fields: &mut Fields<'_>,
    line: usize,
    session: &mut Session,
) -> Outcome {
    let id = fields.string("tool_call_id").or_else(|| fields.string("toolCallId"));
    let call_id = id.unwrap_or_default().into_owned();
    let mut outcome = Outcome { call_id, line, ..Outcome::default() };
    if let Some(raw) = content {
        blocks::read_content(raw, &mut outcome, session);
    }
    // A description of an exit code that does not mean failure; the code itself is enough.
    fields.pass_over(&["name", "return_code_interpretation"]);
    outcome.unread |= fields.boolean("is_unread").unwrap_or(false);
    ending::read_ending(fields, &mut outcome, session);
    if let Some(refused) = fields.boolean("is_refused") {
        outcome.refused = refused;
    }
    outcome.running |= fields.boolean("still_running").unwrap_or(false);
    outcome.truncated = fields.boolean("is_truncated").unwrap_or(false);
    outcome.subagent_calls = fields.number("subagent_tool_uses");
    ending::read_rest(fields, &mut outcome, session);
    outcome
}
