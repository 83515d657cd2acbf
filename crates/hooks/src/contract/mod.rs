//! What each agent sends and understands: one contract a file, in one table.

mod claude_code;
mod codex;
mod gemini;

use counterfoil_formats::read_lenient_exact;
use counterfoil_model::{Agent, ExactValue, Format};
use serde_json::Value;

use crate::answer::Answer;
use crate::event::{Event, Happening};
use crate::twice::twice;

/// What an agent sends and understands.
trait Contract: Sync {
    fn read(&self, sent: &ExactValue) -> Result<Event, ReadEventError>;
    /// The name of the event before a tool runs.
    fn before(&self) -> &'static str;
    /// What goes to standard output for the event of this name; `None` is nothing.
    fn write(&self, event: &str, answer: &Answer) -> Option<Value>;
    /// The form of its transcripts, and whether they only ever grow.
    fn transcripts(&self) -> (Format, bool);
}

/// Why an event could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadEventError {
    /// It is not JSON.
    #[error("the event is not JSON: {0}")]
    NotJson(String),
    /// It is no object.
    #[error("the event is not a JSON object")]
    NotAnObject,
    /// A member stands twice: which of them the agent reads is not known.
    #[error("the event has `{member}` twice in one object")]
    Twice {
        /// Its name.
        member: String,
        /// The name of the event, where it may be about a tool that is going to run: then it is
        /// refused.
        before: Option<&'static str>,
    },
    /// Something is missing that every event has.
    #[error("the event has no `{0}`")]
    Missing(&'static str),
}

fn of(agent: Agent) -> &'static dyn Contract {
    match agent {
        Agent::ClaudeCode => &claude_code::ClaudeCode,
        Agent::Codex => &codex::Codex,
        Agent::Gemini => &gemini::Gemini,
    }
}

/// Takes apart what an agent sent.
///
/// # Errors
/// When it is no event. Members that are not known are left alone.
pub fn read_event(agent: Agent, text: &[u8]) -> Result<Event, ReadEventError> {
    let sent = read_lenient_exact(text).map_err(|e| ReadEventError::NotJson(e.to_string()))?;
    let event = of(agent).read(&sent);
    let Some(member) = twice(text) else { return event };
    let is_before =
        event.is_err() || event.is_ok_and(|event| matches!(event.happening, Happening::Before(_)));
    let before = (is_before || member == "hook_event_name").then(|| of(agent).before());
    Err(ReadEventError::Twice { member, before })
}

/// What goes to standard output: one JSON object, or nothing. `event` is the name of the event;
/// empty where it could not be read.
#[must_use]
pub fn write_answer(agent: Agent, event: &str, answer: &Answer) -> Option<String> {
    of(agent).write(event, answer).map(|value| value.to_string())
}

/// The form of an agent's transcripts, and whether they only ever grow.
pub(crate) fn transcripts(agent: Agent) -> (Format, bool) {
    of(agent).transcripts()
}
