use counterfoil_model::{Arguments, Format, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::content;
use crate::documents::{Shape, Values, read_values};
use crate::fields::Fields;
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};

/// SWE-agent trajectory: steps of action and observation, without exit codes.
pub(crate) struct SweAgent;

/// Commands of SWE-agent itself. Anything else is a shell command.
const OWN: [&str; 24] = [
    "open",
    "goto",
    "scroll_down",
    "scroll_up",
    "create",
    "edit",
    "insert",
    "append",
    "set_cursors",
    "find_file",
    "search_dir",
    "search_file",
    "str_replace_editor",
    "submit",
    "exit_forfeit",
    "exit_error",
    "exit_cost",
    "decompile",
    "disassemble",
    "connect_start",
    "connect_sendline",
    "connect_exec",
    "connect_stop",
    "debug_start",
];

impl Reader for SweAgent {
    fn format(&self) -> Format {
        Format::SweAgent
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.has_any(&["trajectory[].action", "[].trajectory[].action"])
            || sketch.has_all(&["trajectory", "history", "environment"])
            || sketch.has_all(&["action", "observation", "response", "thought"])
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

impl Values for SweAgent {
    fn shape(&self, value: &RawValue) -> Shape {
        match Fields::from_value(value) {
            Some(fields) if fields.has("trajectory") => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return read_step(value, place, session);
        }
        let Some(mut fields) = Fields::from_value(value) else { return };
        if let Some(id) = fields.string("instance_id") {
            session.transcript.id = id.into_owned();
        }
        let steps = fields.array("trajectory").unwrap_or_default();
        for raw in fields.array("history").unwrap_or_default() {
            if !read_opening(raw, place, session) {
                break;
            }
        }
        for step in steps {
            read_step(step, place, session);
        }
        session.leave(&fields);
    }
}

/// Reads a message from before the first step. Returns `false` from the agent's first own message
/// on (demonstrations aside), because the steps repeat it.
fn read_opening(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) -> bool {
    let line = place.line_of(raw.get());
    let Some(mut fields) = Fields::from_value(raw) else {
        session.problem(line, "a message is not an object");
        return true;
    };
    let demonstration = fields.boolean("is_demo") == Some(true);
    let role = match fields.string("role").as_deref() {
        Some("system") => Role::System,
        Some("user") => Role::User,
        _ => return demonstration,
    };
    let text = fields.take("content").map(|raw| blocks::read_blocks(raw, line, session).text);
    let mut message = Message { line, ..Message::text(role, text.unwrap_or_default()) };
    if demonstration {
        message.kind = MessageKind::Injected;
    }
    session.push(message);
    true
}

fn read_step(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let line = place.line_of(raw.get());
    let Some(mut fields) = Fields::from_value(raw) else {
        return session.problem(line, "a step is not an object");
    };
    let thought = fields.string("thought").unwrap_or_default();
    let response = fields.string("response").filter(|response| !response.is_empty());
    let mut message =
        Message { line, ..Message::text(Role::Assistant, response.unwrap_or(thought)) };
    let action = fields.string("action").unwrap_or_default();
    let action = action.trim_end();
    let observation = fields.take("observation").map(|raw| content::result_text(raw, session));
    session.leave(&fields);
    if action.trim().is_empty() {
        session.push(message);
        if let Some(text) = observation.filter(|text| !text.is_empty()) {
            let observed = Message { line, ..Message::text(Role::User, text) };
            session.push(Message { kind: MessageKind::Injected, ..observed });
        }
        return;
    }
    let id = format!("step-{}", session.len());
    let word = action.split_whitespace().next().unwrap_or_default();
    let tool = if OWN.contains(&word) { word } else { "bash" };
    let arguments = serde_json::json!({ "command": action }).to_string();
    message.calls.push(ToolCall {
        id: id.clone(),
        tool: tool.to_owned(),
        arguments: Arguments::raw(arguments),
        line,
    });
    session.push(message);
    if let Some(text) = observation {
        let outcome = Outcome { call_id: id, text, line, ..Outcome::default() };
        let answer = Message { line, ..Message::text(Role::Tool, "") };
        session.push(Message { outcomes: vec![outcome], ..answer });
    }
}
