use std::borrow::Cow;

use counterfoil_model::{Format, Gap, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::content;
use crate::documents::{Shape, Values, read_values};
use crate::ending;
use crate::fields::{self, Fields};
use crate::gemini_parts::{self, read_answer, response_text};
use crate::log_reader::Reader;
use crate::outcome_text;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;

/// Gemini CLI chat: `{sessionId, messages}` with call and result together in `toolCalls`, the
/// messages one per line, or a saved list of `{role, parts}`.
pub(crate) struct GeminiCli;

/// The tool a sub-agent calls to finish, with its report as the argument.
const LAST_WORD: &str = "complete_task";

impl Reader for GeminiCli {
    fn format(&self) -> Format {
        Format::GeminiCli
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
        match Fields::from_value(value) {
            Some(fields) if fields.has("messages") || fields.has("contents") => Shape::Session,
            _ => Shape::Part,
        }
    }

    fn read_value(&self, value: &RawValue, place: &mut Locator<'_>, session: &mut Session) {
        if self.shape(value) == Shape::Part {
            return read_message(value, place, session);
        }
        let Some(mut fields) = Fields::from_value(value) else { return };
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
    let Some(mut fields) = Fields::from_value(raw) else {
        return session.problem(line, "a message is not an object");
    };
    if let Some(raw) = fields.take("parts") {
        let role = gemini_parts::role(fields.string("role").as_deref());
        gemini_parts::read_parts(raw, Message { line, ..Message::text(role, "") }, session);
        return session.leave(&fields);
    }
    let role = match fields.string("type").as_deref() {
        Some("user") => Role::User,
        Some("gemini") => Role::Assistant,
        None => return read_head(&mut fields, place, session),
        Some(kind) => return session.skip_named("message type", kind),
    };
    let time = fields.take("timestamp").and_then(time::millis);
    let bare = Message { line, time, ..Message::text(role, "") };
    let thoughts = thoughts(&mut fields);
    let id = fields.string("id").map(Cow::into_owned);
    let again = id.as_ref().is_some_and(|id| session.positions.contains_key(id));
    if !thoughts.is_empty() && !again {
        session.push(Message { kind: MessageKind::Reasoning, text: thoughts, ..bare.clone() });
    }
    let mut message = bare.clone();
    let mut outcomes = Vec::new();
    if let Some(raw) = fields.take("content") {
        read_content(raw, &mut message, &mut outcomes, session);
    }
    if role == Role::User && message.text.starts_with("<session_context>") {
        message.kind = MessageKind::Injected;
    }
    for raw in fields.array("toolCalls").unwrap_or_default() {
        let line = place.line_of(raw.get());
        match Fields::from_value(raw) {
            Some(mut call) => {
                read_call(&mut call, line, session, &mut message, &mut outcomes);
                session.leave(&call);
            }
            None => session.problem(line, "a tool call is not an object"),
        }
    }
    session.leave(&fields);
    add(message, id, session);
    add_outcomes(outcomes, bare, session);
}

/// Reads the first line of a line-by-line log, or a change to the session.
fn read_head(fields: &mut Fields<'_>, place: &mut Locator<'_>, session: &mut Session) {
    if let Some(id) = fields.string("sessionId") {
        session.transcript.id = id.into_owned();
    }
    if let Some(mut set) = fields.object("$set") {
        for message in set.array("messages").unwrap_or_default() {
            read_message(message, place, session);
        }
        session.leave(&set);
    }
    session.leave(fields);
}

/// Adds results that were not recorded before, as a message of their own.
fn add_outcomes(mut outcomes: Vec<Outcome>, bare: Message, session: &mut Session) {
    outcomes.retain(|outcome| !session.positions.contains_key(&outcome.call_id));
    for outcome in outcomes.iter().filter(|outcome| !outcome.running) {
        session.positions.insert(outcome.call_id.clone(), session.len());
    }
    if outcomes.iter().any(|outcome| outcome.subagent_calls.is_some_and(|calls| calls > 0)) {
        session.gap(Gap::UnrecordedSubagent);
    }
    if !outcomes.is_empty() {
        session.push(Message { role: Role::Tool, outcomes, ..bare });
    }
}

/// Adds a message, or merges it into the earlier message with the same id.
fn add(message: Message, id: Option<String>, session: &mut Session) {
    let before = id.as_ref().and_then(|id| session.positions.get(id).copied());
    if let Some(earlier) = before.and_then(|at| session.transcript.messages.get_mut(at)) {
        for call in message.calls {
            if !earlier.calls.iter().any(|known| known.id == call.id) {
                earlier.calls.push(call);
            }
        }
        if !message.text.is_empty() {
            earlier.text = message.text;
        }
        return;
    }
    if message.role == Role::User && message.text.is_empty() {
        return;
    }
    if let Some(id) = id {
        session.positions.insert(id, session.len());
    }
    session.push(message);
}

/// Reads the content of a message: text, or a list of parts. Results in the parts repeat those
/// already stored with their calls.
fn read_content(
    raw: &RawValue,
    message: &mut Message,
    outcomes: &mut Vec<Outcome>,
    session: &mut Session,
) {
    let Some(parts) = fields::array(raw) else {
        message.text = blocks::read_blocks(raw, message.line, session).text;
        return;
    };
    for part in parts {
        let Some(mut response) =
            Fields::from_value(part).and_then(|mut f| f.object("functionResponse"))
        else {
            let text = blocks::read_blocks(part, message.line, session).text;
            content::join(&mut message.text, &text);
            continue;
        };
        let call_id = response.string("id").unwrap_or_default().into_owned();
        if !session.positions.contains_key(&call_id) {
            let mut outcome = Outcome { call_id, line: message.line, ..Outcome::default() };
            read_answer(&mut response, &mut outcome, session);
            outcomes.push(outcome);
        }
    }
}

fn thoughts(fields: &mut Fields<'_>) -> String {
    let mut text = String::new();
    for raw in fields.array("thoughts").unwrap_or_default() {
        let Some(mut thought) = Fields::from_value(raw) else { continue };
        for name in ["subject", "description"] {
            content::join(&mut text, &thought.string(name).unwrap_or_default());
        }
    }
    text
}

/// Reads a call with its result.
fn read_call(
    call: &mut Fields<'_>,
    line: usize,
    session: &mut Session,
    message: &mut Message,
    outcomes: &mut Vec<Outcome>,
) {
    let id = call.string("id").unwrap_or_default().into_owned();
    let tool = call.string("name").unwrap_or_default().into_owned();
    let args = call.take_any("args");
    if tool == LAST_WORD {
        // A sub-agent reports its final answer through a call that does nothing else.
        for part in ["result", "status", "resultDisplay"] {
            call.take(part);
        }
        let report = args.and_then(Fields::from_value).and_then(|mut args| args.take("result"));
        content::join(&mut message.text, &report.map(report_of).unwrap_or_default());
        // Its response is not a tool result.
        session.positions.insert(id, session.len());
        return;
    }
    message.calls.push(ToolCall { id: id.clone(), tool, arguments: fields::arguments(args), line });
    let mut text = String::new();
    if let Some(raw) = call.take("result") {
        let parts = fields::array(raw).unwrap_or_else(|| vec![raw]);
        for part in parts {
            content::join(&mut text, &response_text(part, session));
        }
    }
    let status = call.string("status");
    let progress = call.object("resultDisplay").filter(|shown| shown.has("isSubagentProgress"));
    let mut outcome = Outcome {
        subagent_calls: progress.and_then(calls_of),
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
        _ if outcome_text::says_refused(&outcome.text) => outcome.refused = true,
        Some("error") => outcome.is_error = Some(true),
        Some("cancelled") => outcome.refused = true,
        Some("executing" | "scheduled" | "validating" | "awaiting_approval") => {
            outcome.running = true;
        }
        // Without status and result, nothing came back.
        None if outcome.text.is_empty() => return,
        None => {}
        Some(_) => ending::unread(&mut outcome, "status", session),
    }
    outcomes.push(outcome);
}

/// The report of a sub-agent: a string, or the `response` of an object.
fn report_of(raw: &RawValue) -> String {
    if let Some(text) = fields::string(raw) {
        return text.into_owned();
    }
    let Some(mut members) = Fields::from_value(raw) else { return raw.get().to_owned() };
    match members.string("response") {
        Some(text) => text.into_owned(),
        None => raw.get().to_owned(),
    }
}

/// The number of calls in a sub-agent's recent activities; `None` if these are inconclusive. The
/// log keeps only the latest activities.
fn calls_of(mut progress: Fields<'_>) -> Option<u64> {
    const ALL: usize = 2;
    let activities = progress.array("recentActivity")?;
    let (mut calls, mut words, mut others) = (0, 0, 0);
    for activity in &activities {
        let Some(mut activity) = Fields::from_value(activity) else { continue };
        match (activity.string("type").as_deref(), activity.string("content").as_deref()) {
            (Some("tool_call"), Some(LAST_WORD)) => words += 1,
            (Some("tool_call"), _) => calls += 1,
            _ => others += 1,
        }
    }
    // A rejected final answer is followed by a thought about it.
    (calls > 0 || others < words && others <= ALL).then_some(calls)
}
