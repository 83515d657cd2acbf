use counterfoil_model::{Arguments, Format, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::documents::{Shape, Values, read_values};
use crate::ending;
use crate::fields::Fields;
use crate::log_reader::Reader;
use crate::outcome_text;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;
use crate::tool_calls::read_tool_calls;

/// mini-swe-agent trajectory: `{info, messages, trajectory_format}`. Commands are tool calls, or
/// fenced blocks in the text whose output comes back as a user message.
pub(crate) struct MiniSweAgent;

impl Reader for MiniSweAgent {
    fn format(&self) -> Format {
        Format::MiniSweAgent
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.has("info.mini_version")
            || (sketch.has("trajectory_format") && sketch.has("messages"))
            || (sketch.has_all(&["info.model_stats", "info.config"]) && !sketch.has("trajectory"))
            || (sketch.has_all(&["info.exit_status", "messages[].role"])
                && !sketch.has("trajectory"))
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

impl Values for MiniSweAgent {
    fn shape(&self, value: &RawValue) -> Shape {
        match Fields::from_value(value) {
            Some(fields) if fields.has("role") => Shape::Part,
            _ => Shape::Session,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return read_message(value, place, session);
        }
        let line = place.line_of(value.get());
        let Some(mut fields) = Fields::from_value(value) else {
            return session.problem(line, "a trajectory is not an object");
        };
        if let Some(id) = fields.string("instance_id") {
            session.transcript.id = id.into_owned();
        }
        let config = fields.object("info").and_then(|mut info| info.object("config"));
        let model = config.and_then(|mut config| config.object("model"));
        if let Some(name) = model.and_then(|mut model| model.string("model_name")) {
            session.model(&name);
        }
        for message in fields.array("messages").unwrap_or_default() {
            read_message(message, place, session);
        }
        session.leave(&fields);
    }
}

fn read_message(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let line = place.line_of(raw.get());
    let Some(mut fields) = Fields::from_value(raw) else {
        return session.problem(line, "a message is not an object");
    };
    let text = fields.take("content").map(|raw| blocks::read_blocks(raw, line, session).text);
    let text = text.unwrap_or_default();
    let mut extra = fields.object("extra");
    let time = extra.as_mut().and_then(|extra| extra.take("timestamp")).and_then(time::millis);
    let mut message = Message { line, time, ..Message::text(Role::Assistant, "") };
    let role = fields.string("role").unwrap_or_default();
    match role.as_ref() {
        "system" => (message.role, message.text) = (Role::System, text),
        "assistant" => {
            message.text = text;
            message.calls = read_tool_calls(&mut fields, place, session);
            if message.calls.is_empty()
                && let Some(command) = fenced_command(&message.text)
            {
                let arguments = serde_json::json!({ "command": command }).to_string();
                message.calls.push(ToolCall {
                    id: format!("step-{}", session.len()),
                    tool: "bash".to_owned(),
                    arguments: Arguments::raw(arguments),
                    line,
                });
            }
        }
        // The end of the run takes the place of the last command's result.
        "tool" | "exit" => {
            let id = fields.string("tool_call_id").map(std::borrow::Cow::into_owned);
            let id = id.unwrap_or_else(|| session.latest_call());
            message.role = Role::Tool;
            message.outcomes.push(outcome(id, text, extra.as_mut(), line, session));
        }
        "user" if text.starts_with("<returncode>") || extra_has_code(extra.as_ref()) => {
            message.role = Role::Tool;
            let id = session.latest_call();
            message.outcomes.push(outcome(id, text, extra.as_mut(), line, session));
        }
        "user" => {
            message.role = Role::User;
            // Of the messages in the user's place, only the first is the task.
            if session.transcript.messages.iter().any(|m| m.role == Role::Assistant) {
                message.kind = MessageKind::Injected;
            }
            message.text = text;
        }
        role => {
            session.problem(line, format!("a message has the unknown role `{role}`"));
            return;
        }
    }
    session.leave(&fields);
    session.push(message);
}

fn extra_has_code(extra: Option<&Fields<'_>>) -> bool {
    extra.is_some_and(|extra| extra.has("returncode"))
}

fn outcome(
    call_id: String,
    text: String,
    extra: Option<&mut Fields<'_>>,
    line: usize,
    session: &mut Session,
) -> Outcome {
    let truncated = text.contains("<output_head>") || text.contains("<elided_chars>");
    let mut outcome = Outcome { truncated, call_id, text, line, ..Outcome::default() };
    if let Some(extra) = extra {
        ending::read_members(&["returncode"], extra, &mut outcome, session);
    }
    if outcome.exit_code.is_none() {
        outcome.exit_code = outcome_text::number_in_head(&outcome.text, "<returncode>");
    }
    outcome
}

/// The command in the only fenced shell block. If there are several, the agent runs none of them.
fn fenced_command(text: &str) -> Option<&str> {
    let mut found = None;
    let mut rest = text;
    while let Some(at) = rest.find("```") {
        let after = rest.get(at + 3..)?;
        let (language, body) = after.split_once('\n')?;
        let (body, tail) = body.split_once("```")?;
        if matches!(language.trim(), "bash" | "sh" | "mswea_bash_command") {
            if found.is_some() {
                return None;
            }
            found = Some(body.trim());
        }
        rest = tail;
    }
    found
}
