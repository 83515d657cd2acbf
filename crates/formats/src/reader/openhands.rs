use counterfoil_model::{Arguments, Format, Gap, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::content;
use crate::documents::{Shape, Values, read_values};
use crate::ending;
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;

/// OpenHands events: a list, one per line, or the `history` of an evaluation's `output.jsonl`.
pub(crate) struct Openhands;

/// Events of version 1, which have a `kind`.
const KINDS: [&str; 5] =
    ["SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent"];

impl Reader for Openhands {
    fn format(&self) -> Format {
        Format::Openhands
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "history[].", "[].history[].", "history[][]."].iter().any(|prefix| {
            let has = |name: &str| sketch.has(&format!("{prefix}{name}"));
            (has("action") && (has("args") || has("action_risk") || has("source")))
                || (has("observation") && has("content") && (has("extras") || has("cause")))
        }) || sketch.has_all(&["history", "instance_id", "test_result"])
            || ["kind", "[].kind", "history[].kind"]
                .iter()
                .any(|path| sketch.is_one_of(path, &KINDS))
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

impl Values for Openhands {
    fn shape(&self, value: &RawValue) -> Shape {
        match Fields::from_value(value) {
            Some(fields) if fields.has("history") => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return read_events(value, place, session);
        }
        let Some(mut fields) = Fields::from_value(value) else { return };
        if let Some(id) = fields.string("instance_id") {
            session.transcript.id = id.into_owned();
        }
        for event in fields.array("history").unwrap_or_default() {
            read_events(event, place, session);
        }
        session.leave(&fields);
    }
}

/// Reads one event, or a pair of action and observation.
fn read_events(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    match fields::array(raw) {
        Some(pair) => pair.into_iter().for_each(|raw| read_event(raw, place, session)),
        None => read_event(raw, place, session),
    }
}

fn read_event(raw: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
    let line = place.line_of(raw.get());
    let Some(mut fields) = Fields::from_value(raw) else {
        return session.problem(line, "an event is not an object");
    };
    let time = fields.take("timestamp").and_then(time::millis);
    let bare = Message { line, time, ..Message::text(Role::Assistant, "") };
    if let Some(kind) = fields.string("kind") {
        read_kind(&kind, &mut fields, bare, session);
    } else if let Some(action) = fields.string("action") {
        read_action(&action, &mut fields, bare, session);
    } else if let Some(observation) = fields.string("observation") {
        read_observation(&observation, &mut fields, bare, session);
    } else {
        session.skip("event that is neither action nor observation");
    }
}

/// Reads an event of version 1.
fn read_kind(kind: &str, fields: &mut Fields<'_>, mut message: Message, session: &mut Session) {
    let line = message.line;
    match kind {
        "SystemPromptEvent" => {
            message.role = Role::System;
            message.text = text_of(fields.take("system_prompt"), line, session);
            if let Some(raw) = fields.take("tools") {
                session.tools(raw, line);
            }
        }
        "MessageEvent" => {
            let mut inner = fields.object("llm_message");
            let inner = inner.as_mut().unwrap_or(fields);
            if inner.string("role").as_deref() == Some("user") {
                message.role = Role::User;
            }
            message.text = text_of(inner.take("content"), line, session);
        }
        "ActionEvent" => read_action_event(fields, &mut message, session),
        "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => {
            if fields.string("tool_name").as_deref() == Some("finish") {
                return session.skip_named("event", "result of finish");
            }
            message.role = Role::Tool;
            message.outcomes.push(outcome_of_event(kind, fields, line, session));
        }
        "Condensation" => {
            session.gap(Gap::Compacted);
            message.kind = MessageKind::Summary;
            message.role = Role::System;
            message.text = text_of(fields.take("summary"), line, session);
        }
        kind => return session.skip_named("event", kind),
    }
    session.leave(fields);
    session.push(message);
}

/// The text of a member's blocks.
fn text_of(raw: Option<&RawValue>, line: usize, session: &mut Session) -> String {
    raw.map(|raw| blocks::read_blocks(raw, line, session).text).unwrap_or_default()
}

/// Reads the agent's thought and call, or its final message.
fn read_action_event(fields: &mut Fields<'_>, message: &mut Message, session: &mut Session) {
    let line = message.line;
    message.text = text_of(fields.take("thought"), line, session);
    let id = fields.string("tool_call_id").unwrap_or_default().into_owned();
    let tool = fields.string("tool_name").unwrap_or_default().into_owned();
    let mut call = fields.object("tool_call");
    let mut function = call.as_mut().and_then(|call| call.object("function"));
    let emitted = function.as_mut().or(call.as_mut());
    let emitted = emitted.and_then(|emitted| emitted.take_any("arguments"));
    if tool == "finish" {
        let answer = fields.object("action").and_then(|mut action| action.string("message"));
        content::join(&mut message.text, &answer.unwrap_or_default());
    } else {
        let arguments = fields::arguments(emitted.or_else(|| fields.take("action")));
        message.calls.push(ToolCall { id, tool, arguments, line });
    }
}

/// The result of a call.
fn outcome_of_event(
    kind: &str,
    fields: &mut Fields<'_>,
    line: usize,
    session: &mut Session,
) -> Outcome {
    let mut outcome = Outcome {
        call_id: fields.string("tool_call_id").unwrap_or_default().into_owned(),
        refused: kind == "UserRejectObservation",
        line,
        ..Outcome::default()
    };
    if let Some(inner) = &mut fields.object("observation") {
        let raw = ["content", "output", "text"].iter().find_map(|name| inner.take(name));
        outcome.text = text_of(raw, line, session);
        let metadata = inner.object("metadata");
        ending::read_members(&["is_error", "exit_code"], inner, &mut outcome, session);
        if let Some(mut metadata) = metadata.filter(|_| outcome.exit_code.is_none()) {
            ending::read_members(&["exit_code"], &mut metadata, &mut outcome, session);
        }
        outcome.running = outcome.exit_code == Some(STILL_RUNS);
        outcome.exit_code = outcome.exit_code.filter(|&code| code != STILL_RUNS);
        ending::read_rest(inner, &mut outcome, session);
    } else {
        outcome.text = text_of(fields.take("error"), line, session);
    }
    if kind == "AgentErrorEvent" {
        outcome.is_error = Some(true);
    }
    outcome
}

fn read_action(action: &str, fields: &mut Fields<'_>, mut message: Message, session: &mut Session) {
    let line = message.line;
    // Before November 2024, arguments were stored next to the action.
    let raw_args = fields.take("args");
    let mut nested = raw_args.and_then(Fields::from_value);
    let args = nested.as_mut().unwrap_or(fields);
    let thought = args.string("thought").unwrap_or_default().into_owned();
    match action {
        "message" => {
            message.text = args.string("content").unwrap_or_default().into_owned();
            let waits = args.boolean("wait_for_response") == Some(true);
            message.role = match fields.string("source").as_deref() {
                Some("user") => Role::User,
                Some(_) => Role::Assistant,
                None if waits => Role::Assistant,
                None => Role::User,
            };
        }
        "system" => {
            message.role = Role::System;
            message.text = args.string("content").unwrap_or_default().into_owned();
            if let Some(raw) = args.take("tools") {
                session.tools(raw, line);
            }
        }
        "finish" | "reject" => {
            let last = args.string("final_thought").unwrap_or_default();
            let answer = args.object("outputs").and_then(|mut outputs| outputs.string("content"));
            message.text = thought;
            if !last.is_empty() && last != message.text.as_str() {
                content::join(&mut message.text, &last);
            }
            if message.text.is_empty() {
                message.text =
                    answer.or_else(|| fields.string("message")).unwrap_or_default().into();
            }
        }
        "condensation" | "condensation_request" => {
            session.gap(Gap::Compacted);
            let Some(summary) = args.string("summary") else {
                return session.skip_named("action", action);
            };
            message.kind = MessageKind::Summary;
            message.text = summary.into_owned();
        }
        "recall" | "change_agent_state" | "null" | "pause" | "resume" | "stop" => {
            return session.skip_named("action", action);
        }
        tool => {
            message.text = thought;
            message.calls.push(call_of_action(tool, fields, raw_args, line));
        }
    }
    session.push(message);
}

/// The call that an action represents, as the model emitted it if that is recorded.
fn call_of_action(
    action: &str,
    fields: &mut Fields<'_>,
    raw_args: Option<&RawValue>,
    line: usize,
) -> ToolCall {
    let event = fields.number::<u64>("id");
    let emitted = fields.object("tool_call_metadata").and_then(emitted);
    let (id, tool, arguments) = match emitted {
        Some((id, name, arguments)) => (id, name, arguments),
        None => (event.map(event_id).unwrap_or_default(), action.to_owned(), None),
    };
    let arguments = arguments.unwrap_or_else(|| match raw_args {
        Some(raw) => Arguments::raw(raw.get()),
        None => flat_arguments(fields),
    });
    ToolCall { id, tool, arguments, line }
}

/// Id, name and arguments as the model emitted them.
fn emitted(mut metadata: Fields<'_>) -> Option<(String, String, Option<Arguments>)> {
    let id = metadata.string("tool_call_id")?.into_owned();
    let name = metadata.string("function_name")?.into_owned();
    let arguments = metadata
        .object("model_response")
        .and_then(|mut response| response.array("choices"))
        .into_iter()
        .flatten()
        .filter_map(|choice| Fields::from_value(choice)?.object("message")?.array("tool_calls"))
        .flatten()
        .find_map(|call| {
            let mut call = Fields::from_value(call)?;
            (call.string("id")? == id.as_str())
                .then(|| call.object("function")?.take_any("arguments"))
                .flatten()
        })
        .map(|raw| fields::arguments(Some(raw)));
    Some((id, name, arguments))
}

/// Arguments from versions that stored them next to the action.
fn flat_arguments(fields: &mut Fields<'_>) -> Arguments {
    let mut object = String::from("{");
    for name in ["command", "code", "path", "content", "url", "browser_actions"] {
        if let Some(raw) = fields.take(name) {
            if object.len() > 1 {
                object.push(',');
            }
            object.push_str(&format!("\"{name}\":{}", raw.get()));
        }
    }
    object.push('}');
    Arguments::raw(object)
}

fn event_id(id: u64) -> String {
    format!("event-{id}")
}

fn read_observation(
    observation: &str,
    fields: &mut Fields<'_>,
    mut message: Message,
    session: &mut Session,
) {
    if matches!(observation, "null" | "agent_state_changed" | "recall" | "condense") {
        return session.skip_named("observation", observation);
    }
    let text = fields.take("content").map(|raw| content::result_text(raw, session));
    let text = text.unwrap_or_default();
    let metadata = fields.object("tool_call_metadata");
    let linked = metadata.and_then(|mut metadata| metadata.string("tool_call_id"));
    let cause = fields.number::<u64>("cause");
    if observation == "error" && linked.is_none() && cause.is_none() {
        message.role = Role::User;
        message.kind = MessageKind::Injected;
        message.text = text;
        return session.push(message);
    }
    let mut outcome = Outcome {
        call_id: match (linked, cause) {
            (Some(id), _) => id.into_owned(),
            (None, Some(cause)) => event_id(cause),
            (None, None) => String::new(),
        },
        text,
        line: message.line,
        ..Outcome::default()
    };
    read_end(fields, &mut outcome, session);
    match observation {
        "error" => outcome.is_error = Some(true),
        "user_rejected" => outcome.refused = true,
        _ => {}
    }
    message.role = Role::Tool;
    message.outcomes.push(outcome);
    session.push(message);
}

/// The exit code that the shell tool reports for a command that is still running.
const STILL_RUNS: i32 = -1;

/// Reads how a call ended: `success`, and an exit code in one of several places.
fn read_end(fields: &mut Fields<'_>, outcome: &mut Outcome, session: &mut Session) {
    const CODES: [&str; 2] = ["exit_code", "returncode"];
    ending::read_members(&["success"], fields, outcome, session);
    if let Some(mut extras) = fields.object("extras") {
        if let Some(mut metadata) = extras.object("metadata") {
            ending::read_members(&CODES, &mut metadata, outcome, session);
        }
        if outcome.exit_code.is_none() {
            ending::read_members(&CODES, &mut extras, outcome, session);
        }
    }
    if outcome.exit_code.is_none() {
        ending::read_members(&CODES, fields, outcome, session);
    }
    if outcome.exit_code == Some(STILL_RUNS) {
        outcome.exit_code = None;
        outcome.running = true;
        outcome.is_error = None;
    }
}
