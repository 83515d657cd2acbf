use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use counterfoil_model::{Format, Gap, Message, MessageKind, Outcome, Role};
use serde_json::value::RawValue;

use crate::blocks::{self, Blocks};
use crate::fields::{self, Fields};
use crate::log_reader::Reader;
use crate::outcome_text;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::{Locator, Source};
use crate::time;

/// Claude Code session log: one object per line. Also reads a sub-agent's file, and a single
/// document with `loglines`.
pub(crate) struct ClaudeCode;

/// Line types that no other format has.
const OWN_TYPES: [&str; 8] = [
    "file-history-snapshot",
    "queue-operation",
    "ai-title",
    "custom-title",
    "last-prompt",
    "permission-mode",
    "summary",
    "progress",
];

impl Reader for ClaudeCode {
    fn format(&self) -> Format {
        Format::ClaudeCode
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        let spoken = |prefix: &str| {
            let at = |name: &str| format!("{prefix}{name}");
            sketch.is_one_of(&at("type"), &["user", "assistant"])
                && sketch.is_one_of(&at("message.role"), &["user", "assistant"])
        };
        spoken("")
            || spoken("[].")
            || spoken("loglines[].")
            || (sketch.is_one_of("type", &["user", "assistant", "system", "attachment"])
                && sketch.has_all(&["uuid", "parentUuid"]))
            || (sketch.is_one_of("type", &OWN_TYPES)
                && sketch.has_any(&["sessionId", "leafUuid", "messageId", "uuid"]))
            || (sketch.is_one_of("type", &["result"])
                && sketch.has_all(&["session_id", "num_turns", "is_error"]))
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError> {
        let mut log = Log::new(name);
        while let Some(piece) = source.next()? {
            let read = if piece.text.starts_with('{') {
                Fields::parse(piece.text).map(|fields| {
                    log.object(fields, &mut Locator::new(piece.text, piece.line), piece.line);
                })
            } else {
                serde_json::from_str::<&RawValue>(piece.text)
                    .map(|raw| log.list(raw, &mut Locator::new(piece.text, piece.line)))
            };
            if let Err(error) = read {
                let line = piece.line;
                log.session.unparsed(line, &error, piece.end);
                source.broke(line, &error);
            }
            log.session.problems(source.take_problems());
        }
        log.session.problems(source.take_problems());
        sink(log.finish(source.continues));
        Ok(())
    }
}

struct Log {
    session: Session,
    named: bool,
    chain: Chain,
}

impl Log {
    fn new(name: &str) -> Self {
        Self {
            session: Session::new(name, Format::ClaudeCode),
            named: false,
            chain: Chain::default(),
        }
    }

    /// Reads a line, or a document whose `loglines` are the lines.
    fn object(&mut self, mut fields: Fields<'_>, place: &mut Locator<'_>, line: usize) {
        match fields.take("loglines") {
            Some(raw) => {
                self.list(raw, place);
                self.session.leave(&fields);
            }
            None => self.entry(fields, line, None),
        }
    }

    fn list(&mut self, raw: &RawValue, place: &mut Locator<'_>) {
        let line = place.line_of(raw.get());
        let Some(list) = fields::array(raw) else {
            return self.session.problem(line, "a line is not an object");
        };
        for raw in list {
            let line = place.line_of(raw.get());
            match Fields::from_value(raw) {
                Some(fields) => self.entry(fields, line, None),
                None => self.session.problem(line, "a line is not an object"),
            }
        }
    }

    fn entry(&mut self, mut fields: Fields<'_>, line: usize, inside: Option<&str>) {
        let kind = fields.string("type").unwrap_or(Cow::Borrowed("(none)"));
        match kind.as_ref() {
            "user" | "assistant" => {}
            "progress" => return self.progress(&mut fields, line),
            "attachment" => return self.attachment(&mut fields, line),
            "system" => {
                let subtype = fields.string("subtype").unwrap_or(Cow::Borrowed("(none)"));
                self.chain.add(&mut fields);
                if matches!(subtype.as_ref(), "compact_boundary" | "microcompact_boundary") {
                    self.session.gap(Gap::Compacted);
                }
                return self.session.skip_named("line type system", &subtype);
            }
            "result" if self.session.len() == 0 => return self.lone_answer(&mut fields, line),
            kind => return self.session.skip_named("line type", kind),
        }
        if !self.named
            && let Some(id) = fields.string("sessionId")
        {
            self.session.transcript.id = id.into_owned();
            self.session.transcript.directory = fields.string("cwd").map(Cow::into_owned);
            self.named = true;
        }
        if inside.is_none() {
            self.chain.add(&mut fields);
        }
        let role = if kind == "user" { Role::User } else { Role::Assistant };
        self.message(&mut fields, role, line, inside);
        self.session.leave(&fields);
    }

    /// Reads the result that a run prints at the end, without the preceding messages.
    fn lone_answer(&mut self, fields: &mut Fields<'_>, line: usize) {
        if let Some(id) = fields.string("session_id") {
            self.session.transcript.id = id.into_owned();
        }
        self.session.gap(Gap::CutStart);
        let text = fields.string("result").unwrap_or_default();
        self.session.push(Message { line, ..Message::text(Role::Assistant, text) });
    }

    fn message(&mut self, fields: &mut Fields<'_>, role: Role, line: usize, inside: Option<&str>) {
        let Some(mut inner) = fields.object("message") else {
            return self.session.problem(line, "the line has no `message` object");
        };
        let Some(content) = inner.take("content") else {
            return self.session.problem(line, "the message has no `content`");
        };
        let blocks = blocks::read_blocks(content, line, &mut self.session);
        inner.take("role");
        inner.take("id");
        let model = inner.string("model");
        let synthetic = model.as_deref() == Some("<synthetic>");
        let sidechain = fields.boolean("isSidechain") == Some(true);
        let agent = fields
            .string("agentId")
            .or(inside.map(Cow::Borrowed))
            .or(sidechain.then_some(Cow::Borrowed("sidechain")))
            .map(Cow::into_owned);
        let meta = fields.boolean("isMeta") == Some(true);
        let summary = fields.boolean("isCompactSummary") == Some(true);
        let time = fields.take("timestamp").and_then(time::millis);
        let details = fields.take("toolUseResult");
        self.session.leave(&inner);
        if let Some(model) = model.filter(|_| !synthetic) {
            self.session.next_model(&model);
        }

        let Blocks { text, has_text, reasoning, calls, outcomes } = blocks;
        let bare = Message { line, time, agent, ..Message::text(role, "") };
        if !outcomes.is_empty() {
            self.results(outcomes, details, bare.clone());
            if !has_text {
                return;
            }
        }
        if summary {
            self.session.gap(Gap::Compacted);
        }
        let kind = if summary {
            MessageKind::Summary
        } else if meta || synthetic || (role == Role::User && is_harness(&text)) {
            MessageKind::Injected
        } else if !reasoning.is_empty() && !has_text && calls.is_empty() {
            return self.session.push(Message {
                kind: MessageKind::Reasoning,
                text: reasoning,
                ..bare
            });
        } else {
            MessageKind::Ordinary
        };
        if !reasoning.is_empty() {
            self.session.skip("reasoning attached to a message");
        }
        self.session.push(Message { kind, text, calls, ..bare });
    }

    /// Adds the results of calls. `details` belong to the result if there is only one.
    fn results(&mut self, mut outcomes: Vec<Outcome>, details: Option<&RawValue>, bare: Message) {
        outcomes.iter_mut().for_each(settle);
        let mut worker = None;
        if let ([outcome], Some(details)) = (outcomes.as_mut_slice(), details) {
            worker = add_details(outcome, details);
        }
        if outcomes.iter().any(|o| o.subagent_calls.is_some_and(|calls| calls > 0))
            && !self.has_agent(worker.as_deref())
        {
            self.session.gap(Gap::UnrecordedSubagent);
        }
        self.session.push(Message { role: Role::Tool, outcomes, ..bare });
    }

    /// Whether the log contains messages of this sub-agent, or of any sub-agent if the id is
    /// unknown.
    fn has_agent(&self, id: Option<&str>) -> bool {
        self.session.transcript.messages.iter().rev().any(|message| match (&message.agent, id) {
            (Some(agent), Some(id)) => agent == id,
            (agent, None) => agent.is_some(),
            (None, Some(_)) => false,
        })
    }

    /// Reads a sub-agent's progress line, which contains one of its messages.
    fn progress(&mut self, fields: &mut Fields<'_>, line: usize) {
        self.chain.add(fields);
        let Some(mut inner) = fields.object("data") else {
            return self.session.skip_named("line type progress", "(none)");
        };
        let kind = inner.string("type").unwrap_or(Cow::Borrowed("(none)"));
        if kind == "agent_progress"
            && let Some(message) = inner.object("message")
        {
            let agent = inner.string("agentId").unwrap_or(Cow::Borrowed("sidechain"));
            return self.entry(message, line, Some(&agent));
        }
        self.session.skip_named("line type progress", &kind);
    }

    /// Attachments come from the harness, except what the user typed while the agent was working.
    fn attachment(&mut self, fields: &mut Fields<'_>, line: usize) {
        self.chain.add(fields);
        let Some(mut inner) = fields.object("attachment") else {
            return self.session.skip_named("line type attachment", "(none)");
        };
        let kind = inner.string("type").unwrap_or(Cow::Borrowed("(none)"));
        if kind == "queued_command"
            && let Some(prompt) = inner.take("prompt")
        {
            let text = blocks::read_blocks(prompt, line, &mut self.session).text;
            let kind =
                if is_harness(&text) { MessageKind::Injected } else { MessageKind::Ordinary };
            let time = fields.take("timestamp").and_then(time::millis);
            return self.session.push(Message {
                line,
                time,
                kind,
                ..Message::text(Role::User, text)
            });
        }
        self.session.skip_named("line type attachment", &kind);
    }

    fn finish(mut self, continues: bool) -> Reading {
        if !continues && self.chain.first_dangles() {
            self.session.transcript.completeness.add(Gap::CutStart, 0);
        }
        if self.chain.has_cycle() {
            self.session.problem(0, "`parentUuid` forms a cycle; the lines are kept in file order");
        }
        self.session.finish()
    }
}

/// Reads the exit code and refusals from the text of a result. A missing mark means success here.
fn settle(outcome: &mut Outcome) {
    let is_error = outcome.is_error.unwrap_or(false);
    outcome.is_error = Some(is_error);
    if is_error {
        outcome.exit_code = outcome_text::number_after(&outcome.text, "Exit code ")
            .or_else(|| outcome_text::number_after(&outcome.text, "Error: Exit code "));
        outcome.refused = outcome.exit_code.is_none() && outcome_text::says_refused(&outcome.text);
    } else if outcome.text.starts_with("Command running in background with ID") {
        outcome.running = true;
    }
}

/// Markers of relevant members in the details of a shell command. Inside a string their quotes
/// would be escaped.
const TELLING: [&[u8]; 5] = [
    b"\"backgroundTaskId\"",
    b"\"interrupted\":true",
    b"\"interrupted\": true",
    b"\"returnCodeInterpretation\"",
    b"\"truncated\"",
];

/// Reads `toolUseResult`, which repeats the result in a tool-specific shape; only what the result
/// itself lacks is taken. Returns the id of the sub-agent that did the work.
fn add_details(outcome: &mut Outcome, raw: &RawValue) -> Option<String> {
    let text = raw.get().as_bytes();
    let shell = raw.get().starts_with("{\"stdout\":");
    // Most of it is long and repeats the text of the result, so search for markers before parsing.
    if shell && !TELLING.iter().any(|mark| memchr::memmem::find(text, mark).is_some()) {
        if !outcome.running && outcome.is_error == Some(false) {
            outcome.exit_code = outcome.exit_code.or(Some(0));
        }
        return None;
    }
    let mut details = Fields::from_value(raw)?;
    outcome.subagent_calls = details.number("totalToolUseCount");
    outcome.truncated |= details.boolean("truncated") == Some(true);
    if details.has("backgroundTaskId")
        || details.string("status").as_deref() == Some("async_launched")
    {
        outcome.running = true;
    }
    let interrupted = details.boolean("interrupted") == Some(true);
    let interpreted = details.has("returnCodeInterpretation");
    let shell = details.has("stdout") && details.has("stderr");
    if shell && !outcome.running && !interrupted && !interpreted && outcome.is_error == Some(false)
    {
        outcome.exit_code = outcome.exit_code.or(Some(0));
    }
    details.string("agentId").map(Cow::into_owned)
}

/// Whether the harness put this text on a user line: reminders, local commands and their output,
/// notes about interruptions.
fn is_harness(text: &str) -> bool {
    const ENVELOPES: [&str; 14] = [
        "<command-name>",
        "<command-message>",
        "<command-args>",
        "<local-command-",
        "<bash-input>",
        "<bash-stdout>",
        "<bash-stderr>",
        "<task-notification>",
        "<user-prompt-submit-hook>",
        "<background-task",
        "Caveat: The messages below were generated by the user while running local commands",
        "[Request interrupted by user",
        "Stop hook feedback:",
        "SubagentStop hook feedback:",
    ];
    let text = text.trim_start();
    if ENVELOPES.iter().any(|mark| text.starts_with(mark)) {
        return true;
    }
    let mut rest = text;
    let mut any = false;
    while let Some(inner) = rest.strip_prefix("<system-reminder>") {
        let Some((_, after)) = inner.split_once("</system-reminder>") else { return true };
        rest = after.trim_start();
        any = true;
    }
    any && rest.is_empty()
}

/// The tree of `uuid` and `parentUuid`, as hashes.
#[derive(Default)]
struct Chain {
    parents: HashMap<u64, Option<u64>>,
    first_parent: Option<u64>,
    forward: Vec<u64>,
}

impl Chain {
    fn add(&mut self, fields: &mut Fields<'_>) {
        let Some(id) = fields.string("uuid").map(|id| hashed(&id)) else { return };
        let parent = fields.string("parentUuid").map(|id| hashed(&id));
        if self.parents.is_empty() {
            self.first_parent = parent;
        }
        if let Some(parent) = parent
            && (parent == id || !self.parents.contains_key(&parent))
        {
            self.forward.push(id);
        }
        self.parents.entry(id).or_insert(parent);
    }

    fn holds(&self, id: u64) -> bool {
        self.parents.contains_key(&id)
    }

    fn first_dangles(&self) -> bool {
        self.first_parent.is_some_and(|parent| !self.holds(parent))
    }

    /// Whether the chain contains a cycle. A cycle requires a line whose parent comes later, so
    /// only those are followed.
    fn has_cycle(&self) -> bool {
        let mut clear: HashMap<u64, usize> = HashMap::new();
        self.forward.iter().enumerate().any(|(walk, &start)| {
            let mut at = start;
            loop {
                match clear.insert(at, walk) {
                    Some(earlier) if earlier == walk => return true,
                    Some(_) => return false,
                    None => {}
                }
                match self.parents.get(&at) {
                    Some(Some(parent)) => at = *parent,
                    _ => return false,
                }
            }
        })
    }
}

fn hashed(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
