//! What each agent sends and understands: one contract per file, in one table.

mod claude_code;
mod codex;
mod gemini;

use counterfoil_formats::read_lenient_exact;
use counterfoil_model::{Agent, ExactValue, Format, WrongJson};
use serde_json::Value;

use crate::answer::Answer;
use crate::event::{Event, Happening};
use crate::twice::twice;

/// Reads an agent's events and writes answers to them.
trait Contract: Sync {
    fn read(&self, sent: &ExactValue) -> Result<Event, ReadEventError>;
    /// The name of the event before a tool runs.
    fn before(&self) -> &'static str;
    /// The value to write to standard output for the event with this name; `None` writes nothing.
    fn write(&self, event: &str, answer: &Answer) -> Option<Value>;
    /// The format of the agent's transcripts, and whether they are append-only.
    fn transcripts(&self) -> (Format, bool);
}

/// Why an event could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadEventError {
    /// It is not JSON.
    #[error("the event is not JSON: {0}")]
    NotJson(String),
    /// It is not an object.
    #[error("the event is not a JSON object")]
    NotAnObject,
    /// A member occurs twice, and it is not known which one the agent reads.
    #[error("the event has the key `{member}` twice in one object")]
    Twice {
        /// The name of the member.
        member: String,
        /// The name of the event before a tool, if this event may be one. The tool is refused then.
        before: Option<&'static str>,
    },
    /// A member is missing that every event has.
    #[error("the event has no `{0}`")]
    Missing(&'static str),
}

fn for_agent(agent: Agent) -> &'static dyn Contract {
    match agent {
        Agent::ClaudeCode => &claude_code::ClaudeCode,
        Agent::Codex => &codex::Codex,
        Agent::Gemini => &gemini::Gemini,
    }
}

/// Parses what an agent sent.
///
/// # Errors
/// When it is not an event. Unknown members are ignored.
pub fn read_event(agent: Agent, text: &[u8]) -> Result<Event, ReadEventError> {
    let sent = read_lenient_exact(text)
        .map_err(|error| ReadEventError::NotJson(WrongJson::new(&error).to_string()))?;
    let event = for_agent(agent).read(&sent);
    let Some(member) = twice(text) else { return event };
    let is_before =
        event.is_err() || event.is_ok_and(|event| matches!(event.happening, Happening::Before(_)));
    let before = (is_before || member == "hook_event_name").then(|| for_agent(agent).before());
    Err(ReadEventError::Twice { member, before })
}

/// The text for standard output: one JSON object, or nothing. `event` is the name of the event;
/// empty if it could not be read.
#[must_use]
pub fn write_answer(agent: Agent, event: &str, answer: &Answer) -> Option<String> {
    for_agent(agent).write(event, answer).map(|value| value.to_string())
}

/// The format of an agent's transcripts, and whether they are append-only.
pub(crate) fn transcripts(agent: Agent) -> (Format, bool) {
    for_agent(agent).transcripts()
}
