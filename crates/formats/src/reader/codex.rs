use std::borrow::Cow;
use std::collections::HashMap;

use counterfoil_model::{
    Arguments, Format, Gap, Message, MessageKind, Outcome, Role, ToolCall, exit_code_of,
};

use crate::blocks;
use crate::content;
use crate::ending;
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::outcome_text;
use crate::reading::{ReadError, Reading};
use crate::responses_item::read_item;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::Source;
use crate::time;

/// Codex rollout log: one `{timestamp, type, payload}` per line.
///
/// `response_item` lines are the model's input and output; `event_msg` lines repeat them for
/// display and, except for exit codes, are only used if nothing else is there.
pub(crate) struct Codex;

const TYPES: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

impl Reader for Codex {
    fn format(&self) -> Format {
        Format::Codex
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        sketch.has("payload") && sketch.is_one_of("type", &TYPES)
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError> {
        let mut log = Log {
            session: Session::new(name, Format::Codex),
            events: Some(Session::new(name, Format::Codex)),
            named: false,
            agent: None,
            own_from: 0,
            ends: HashMap::new(),
        };
        while let Some(piece) = source.next()? {
            match Fields::parse(piece.text) {
                Ok(fields) => log.line(fields, piece.line),
                Err(error) if error.is_data() => {
                    log.session.problem(piece.line, "a line is not an object");
                }
                Err(error) => {
                    let line = piece.line;
                    log.session.unparsed(line, &error, piece.end);
                    source.broke(line, &error);
                }
            }
            log.session.problems(source.take_problems());
        }
        log.session.problems(source.take_problems());
        sink(log.finish());
        Ok(())
    }
}

struct Log {
    session: Session,
    /// Messages from display events, kept until a `response_item` makes them redundant.
    events: Option<Session>,
    named: bool,
    /// The sub-agent that this log belongs to.
    agent: Option<String>,
    /// The `ordinal` of the first line that belongs to this session. A sub-agent's log begins with
    /// the history of its parent.
    own_from: u64,
    /// Exit codes of commands, by call id.
    ends: HashMap<String, Option<i32>>,
}

impl Log {
    fn line(&mut self, mut fields: Fields<'_>, line: usize) {
        let time = fields.take("timestamp").and_then(time::millis);
        let kind = fields.string("type").unwrap_or(Cow::Borrowed("(none)"));
        let Some(mut payload) = fields.object("payload") else {
            return self.session.skip_named("line type", &kind);
        };
        let inherited = fields.number("ordinal").is_some_and(|at: u64| at < self.own_from);
        match kind.as_ref() {
            "session_meta" => self.meta(&mut payload, line),
            "response_item" if inherited => {
                let before = self.session.len();
                self.item(&mut payload, line, time);
                self.inherit(before);
            }
            "event_msg" if inherited => {
                return self.session.skip_named("line type", "event_msg from the parent");
            }
            "response_item" => self.item(&mut payload, line, time),
            "event_msg" => return self.event(&mut payload, line, time),
            "compacted" => {
                self.session.gap(Gap::Compacted);
                let text = payload.string("message").unwrap_or_default();
                let summary = Message { line, time, ..Message::text(Role::System, text) };
                self.session.push(Message { kind: MessageKind::Summary, ..summary });
                self.session.leave(&payload);
            }
            "turn_context" => {
                if let Some(model) = payload.string("model") {
                    self.session.next_model(&model);
                }
                return self.session.skip_named("line type", "turn_context");
            }
            kind => return self.session.skip_named("line type", kind),
        }
        self.session.leave(&fields);
    }

    fn meta(&mut self, payload: &mut Fields<'_>, line: usize) {
        if self.session.transcript.directory.is_none() {
            self.session.transcript.directory = payload.string("cwd").map(Cow::into_owned);
        }
        if !self.named
            && let Some(id) = payload.string("id")
        {
            self.named = true;
            match payload.string("session_id").filter(|root| *root != id) {
                // A sub-agent has its own log within the session.
                Some(root) => {
                    self.session.transcript.id = root.into_owned();
                    self.agent = Some(id.into_owned());
                }
                None => self.session.transcript.id = id.into_owned(),
            }
            self.own_from = payload.number("subagent_history_start_ordinal").unwrap_or(0);
        }
        let instructions =
            payload.take("instructions").or_else(|| payload.take("base_instructions"));
        if let Some(raw) = instructions {
            let text = blocks::read_blocks(raw, line, &mut self.session).text;
            self.session.push(Message { line, ..Message::text(Role::System, text) });
        }
        self.session.leave(payload);
    }

    fn item(&mut self, payload: &mut Fields<'_>, line: usize, time: Option<i64>) {
        let kind = payload.string("type").unwrap_or(Cow::Borrowed("(none)"));
        if matches!(kind.as_ref(), "compaction" | "context_compaction" | "compaction_summary") {
            self.session.gap(Gap::Compacted);
        }
        if !read_item(&kind, payload, line, time, &mut self.session) {
            return self.session.skip_part("item type", &kind);
        }
        let Some(message) = self.session.transcript.messages.last_mut() else { return };
        message.agent.clone_from(&self.agent);
        if message.role == Role::User && is_harness(&message.text) {
            message.kind = MessageKind::Injected;
        }
        message.outcomes.iter_mut().for_each(settle);
        if message.kind == MessageKind::Ordinary
            && let Some(events) = self.events.take()
        {
            for message in events.transcript.messages {
                self.session.skip_named("repeated by event_msg", word_for(&message));
            }
        }
    }

    /// Turns the messages, calls and results of the parent into input for the sub-agent: they count
    /// as evidence, but not as its own actions.
    fn inherit(&mut self, before: usize) {
        let mut results = false;
        for message in self.session.transcript.messages.iter_mut().skip(before) {
            message.calls.clear();
            for outcome in std::mem::take(&mut message.outcomes) {
                results = true;
                content::join(&mut message.text, &outcome.text);
            }
            if message.role != Role::System {
                message.role = Role::User;
                message.kind = MessageKind::Injected;
            }
        }
        // The sub-agent may also report what the parent's calls showed.
        if results {
            self.session.gap(Gap::UnknownCalls);
        }
    }

    fn event(&mut self, payload: &mut Fields<'_>, line: usize, time: Option<i64>) {
        let kind = payload.string("type").unwrap_or(Cow::Borrowed("(none)"));
        if kind == "exec_command_end"
            && let (Some(id), Some(raw)) = (payload.string("call_id"), payload.take("exit_code"))
        {
            self.ends.insert(id.into_owned(), exit_code_of(raw.get()));
        }
        if kind == "context_compacted" {
            self.session.gap(Gap::Compacted);
        }
        let Some(events) = &mut self.events else {
            return self.session.skip_named("repeated by event_msg", &kind);
        };
        match shown(&kind, payload, line, &mut self.session) {
            Some(message) => events.push(Message { time, agent: self.agent.clone(), ..message }),
            None => self.session.skip_named("event", &kind),
        }
    }

    fn finish(mut self) -> Reading {
        if let Some(events) = self.events.take()
            && !events.transcript.messages.is_empty()
        {
            for message in events.transcript.messages {
                self.session.push(message);
            }
        }
        let outcomes = self.session.transcript.messages.iter_mut().flat_map(|m| &mut m.outcomes);
        for outcome in outcomes.filter(|o| o.exit_code.is_none()) {
            if let Some(code) = self.ends.get(&outcome.call_id) {
                outcome.exit_code = *code;
                outcome.unread |= code.is_none();
                outcome.running = false;
            }
        }
        self.session.finish()
    }
}

/// The message that an event displays.
fn shown(
    kind: &str,
    payload: &mut Fields<'_>,
    line: usize,
    session: &mut Session,
) -> Option<Message> {
    let mut message = Message { line, ..Message::text(Role::Assistant, "") };
    match kind {
        "user_message" => {
            message.role = Role::User;
            message.text = payload.string("message")?.into_owned();
            if is_harness(&message.text) {
                message.kind = MessageKind::Injected;
            }
        }
        "agent_message" => message.text = payload.string("message")?.into_owned(),
        "agent_reasoning" => {
            message.kind = MessageKind::Reasoning;
            message.text = payload.string("text")?.into_owned();
        }
        "exec_command_begin" | "mcp_tool_call_begin" | "patch_apply_begin" | "web_search_begin" => {
            let invocation = payload.object("invocation");
            let (tool, arguments) = match invocation {
                Some(mut call) => (
                    call.string("tool").unwrap_or_default().into_owned(),
                    fields::arguments(call.take("arguments")),
                ),
                None => (
                    kind.trim_end_matches("_begin").to_owned(),
                    payload.take("command").or_else(|| payload.take("changes")).map_or_else(
                        || Arguments::raw("{}"),
                        |raw| Arguments::raw(format!("{{\"command\":{}}}", raw.get())),
                    ),
                ),
            };
            let id = payload.string("call_id")?.into_owned();
            message.calls.push(ToolCall { id, tool, arguments, line });
        }
        "exec_command_end" | "mcp_tool_call_end" | "patch_apply_end" | "web_search_end" => {
            message.role = Role::Tool;
            let text = ["aggregated_output", "formatted_output", "stdout", "result"]
                .iter()
                .find_map(|name| payload.take(name))
                .map(|raw| crate::fields::string(raw).unwrap_or(Cow::Borrowed(raw.get())))
                .unwrap_or_default()
                .into_owned();
            let call_id = payload.string("call_id")?.into_owned();
            let mut outcome = Outcome { call_id, text, line, ..Outcome::default() };
            ending::read_members(&["success", "exit_code"], payload, &mut outcome, session);
            message.outcomes.push(outcome);
        }
        _ => return None,
    }
    Some(message)
}

fn word_for(message: &Message) -> &'static str {
    match (message.role, message.kind) {
        (_, MessageKind::Reasoning) => "agent_reasoning",
        (Role::User, _) => "user_message",
        (Role::Tool, _) => "end of a call",
        _ if message.calls.is_empty() => "agent_message",
        _ => "start of a call",
    }
}

/// Reads exit codes and failures from the text of a result, which has no field for them.
fn settle(outcome: &mut Outcome) {
    const FAILURES: [&str; 5] = [
        "exec_command failed",
        "apply_patch verification failed",
        "execution error",
        "failed to parse function arguments",
        "unsupported call",
    ];
    let text = outcome.text.trim_start();
    if outcome_text::says_refused(text) {
        outcome.refused = true;
    } else if FAILURES.iter().any(|mark| text.starts_with(mark)) {
        outcome.is_error = Some(true);
    }
    outcome.truncated |= text.contains(" tokens truncated") || text.contains("[... omitted ");
}

/// Whether the harness put this text in the user's place.
fn is_harness(text: &str) -> bool {
    const MARKS: [&str; 9] = [
        "<environment_context>",
        "<user_instructions>",
        "<permissions instructions>",
        "<collaboration_mode>",
        "<turn_aborted>",
        "<user_shell_command>",
        "<skill>",
        "<subagent_notification>",
        "# AGENTS.md instructions",
    ];
    let text = text.trim_start();
    MARKS.iter().any(|mark| text.starts_with(mark))
}
