use std::borrow::Cow;
use std::collections::HashMap;

use counterfoil_model::{Arguments, Format, Gap, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::content;
use crate::documents::{Shape, Values, read_values};
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;

/// ChatGPT export: conversations whose messages form a tree. Reads the branch that was shown last.
/// The export does not contain everything the assistant did.
pub(crate) struct Chatgpt;

impl Reader for Chatgpt {
    fn format(&self) -> Format {
        Format::Chatgpt
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.has_all(&["[].mapping", "[].title"]) || sketch.has_all(&["mapping", "title"])
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

impl Values for Chatgpt {
    fn shape(&self, _value: &RawValue) -> Shape {
        Shape::Session
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        let line = place.line_of(value.get());
        let Some(mut fields) = Fields::from_value(value) else {
            return session.problem(line, "a conversation is not an object");
        };
        let id = fields.string("conversation_id").or_else(|| fields.string("id"));
        if let Some(id) = id {
            session.transcript.id = id.into_owned();
        }
        session.gap(Gap::LossyFormat);
        let Some(mapping) = fields.object("mapping") else {
            return session.problem(line, "a conversation has no `mapping`");
        };
        for raw in branch(&mapping, fields.string("current_node")) {
            let line = place.line_of(raw.get());
            if let Some(mut message) = Fields::from_value(raw) {
                read_message(&mut message, line, session);
            }
        }
    }
}

/// The messages from the root to the current node, or to the node that was read last if there is no
/// current one.
fn branch<'a>(mapping: &Fields<'a>, current: Option<Cow<'_, str>>) -> Vec<&'a RawValue> {
    let mut last = None;
    let mut nodes: HashMap<String, (Option<String>, Option<&'a RawValue>)> = HashMap::new();
    for (id, raw) in mapping.left() {
        let Some(mut node) = Fields::from_value(raw) else { continue };
        last = Some(id.to_owned());
        let parent = node.string("parent").map(Cow::into_owned);
        nodes.insert(id.to_owned(), (parent, node.take("message")));
    }
    let mut messages = Vec::new();
    let mut next = current.map(Cow::into_owned).or(last);
    // Visited nodes are removed, so a cycle ends the loop.
    while let Some((parent, message)) = next.and_then(|id| nodes.remove(&id)) {
        messages.extend(message);
        next = parent;
    }
    messages.reverse();
    messages
}

fn read_message(fields: &mut Fields<'_>, line: usize, session: &mut Session) {
    let mut author = fields.object("author");
    let role = author.as_mut().and_then(|author| author.string("role"));
    let role = match role.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::System,
    };
    let time = fields.take("create_time").and_then(time::millis);
    let recipient = fields.string("recipient").filter(|recipient| recipient != "all");
    if let Some(model) =
        fields.object("metadata").and_then(|mut metadata| metadata.string("model_slug"))
    {
        session.next_model(&model);
    }
    let Some(mut content) = fields.object("content") else { return };
    let kind = content.string("content_type").unwrap_or(Cow::Borrowed("(none)"));
    let mut text = String::new();
    for part in content.array("parts").unwrap_or_default() {
        match fields::string(part) {
            Some(part) => content::join(&mut text, &part),
            None => session.skip_named("message part", "media"),
        }
    }
    if let Some(only) = content.string("text").or_else(|| content.string("result")) {
        content::join(&mut text, &only);
    }
    let mut message = Message { line, time, ..Message::text(role, "") };
    match (role, recipient) {
        (Role::Assistant, Some(tool)) => {
            let tool = tool.into_owned();
            let arguments = if text.trim_start().starts_with('{') {
                text
            } else {
                serde_json::json!({ "code": text }).to_string()
            };
            let arguments = Arguments::raw(arguments);
            message.calls.push(ToolCall { id: String::new(), tool, arguments, line });
        }
        (Role::Tool, _) => {
            message.outcomes.push(Outcome { text, line, ..Outcome::default() });
        }
        _ => {
            message.text = text;
            if matches!(kind.as_ref(), "thoughts" | "reasoning_recap") {
                message.kind = MessageKind::Reasoning;
            }
            if message.text.is_empty() {
                return;
            }
        }
    }
    session.push(message);
}
