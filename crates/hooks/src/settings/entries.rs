//! The entries that are put into agents' settings: one row per event, one table per agent.

use serde_json::{Map, Value, json};

use super::command::command_line;
use super::{Extras, SessionStart, WhenMissing};
use crate::Agent;

/// A hook for one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The event's name in the agent's settings.
    pub(super) event: &'static str,
    /// The tools that it applies to; `None` if the event has no matcher.
    pub(super) matcher: Option<&'static str>,
    /// The time after which the agent gives up, in seconds.
    seconds: u64,
    /// What the agent does if the program is missing.
    pub(super) when_missing: WhenMissing,
}

const EVERY_TOOL: Option<&str> = Some("*");

const fn entry(event: &'static str, matcher: Option<&'static str>, seconds: u64) -> Entry {
    Entry { event, matcher, seconds, when_missing: WhenMissing::GoesOn }
}

const CLAUDE_CODE: [Entry; 7] = [
    entry("PreToolUse", EVERY_TOOL, 10),
    entry("PostToolUse", EVERY_TOOL, 10),
    entry("PostToolUseFailure", EVERY_TOOL, 10),
    entry("UserPromptSubmit", None, 10),
    entry("Stop", None, 30),
    entry("SubagentStop", None, 30),
    entry("SessionEnd", None, 10),
];

const CODEX: [Entry; 6] = [
    entry("PreToolUse", EVERY_TOOL, 10),
    entry("PostToolUse", EVERY_TOOL, 10),
    entry("UserPromptSubmit", None, 10),
    entry("Stop", None, 30),
    entry("SubagentStop", None, 30),
    // The maximum for this event.
    entry("SessionEnd", None, 3),
];

const GEMINI: [Entry; 5] = [
    entry("BeforeTool", EVERY_TOOL, 10),
    entry("AfterTool", EVERY_TOOL, 10),
    entry("BeforeAgent", None, 10),
    entry("AfterAgent", None, 30),
    entry("SessionEnd", None, 10),
];

/// The table of an agent.
pub(super) fn for_agent(agent: Agent) -> &'static [Entry] {
    match agent {
        Agent::ClaudeCode => &CLAUDE_CODE,
        Agent::Codex => &CODEX,
        Agent::Gemini => &GEMINI,
    }
}

/// The event at the start of a session, if the agent's types have it.
const SESSION_START: Entry = entry("SessionStart", None, 10);

/// The table of an agent, with the extras that its user wants.
pub(super) fn with(agent: Agent, extras: Extras) -> Vec<Entry> {
    let mut entries = for_agent(agent).to_vec();
    if agent == Agent::ClaudeCode {
        let before = entries.iter_mut().filter(|entry| entry.event == "PreToolUse");
        before.for_each(|entry| entry.when_missing = extras.when_missing);
        if extras.session_start == SessionStart::Protocol {
            entries.push(SESSION_START);
        }
    }
    entries
}

/// The member of a hook that determines what happens if it fails, and its value for "the tool does
/// not run".
pub(super) const ON_FAILURE: (&str, &str) = ("onFailure", "block");

impl Entry {
    /// The group for the event's list.
    pub(super) fn group(&self, agent: Agent, command: &str) -> Value {
        let mut handler = Map::new();
        // Gemini CLI disables hooks by name and measures timeouts in milliseconds.
        let timeout = match agent {
            Agent::Gemini => {
                handler.insert("name".to_owned(), json!("counterfoil"));
                self.seconds * 1000
            }
            Agent::ClaudeCode | Agent::Codex => self.seconds,
        };
        handler.insert("type".to_owned(), json!("command"));
        handler.insert("command".to_owned(), json!(command));
        handler.insert("timeout".to_owned(), json!(timeout));
        if self.when_missing == WhenMissing::Blocks {
            handler.insert(ON_FAILURE.0.to_owned(), json!(ON_FAILURE.1));
        }
        let mut group = Map::new();
        if let Some(matcher) = self.matcher {
            group.insert("matcher".to_owned(), json!(matcher));
        }
        group.insert("hooks".to_owned(), json!([handler]));
        Value::Object(group)
    }
}

/// The `hooks` object of a plugin for Claude Code: what [`super::install`] writes into empty
/// settings if the program is on `PATH`.
#[must_use]
pub fn plugin_hooks() -> Value {
    let agent = Agent::ClaudeCode;
    let command = command_line(agent, "counterfoil");
    let event = |entry: &Entry| (entry.event.to_owned(), json!([entry.group(agent, &command)]));
    Value::Object(for_agent(agent).iter().map(event).collect())
}
