use std::path::PathBuf;

use counterfoil_guard::{HostEnded, HostedCall};

/// One event of a coding agent's session.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The agent's name of the event; the answer repeats it.
    pub name: String,
    /// The session.
    pub session: String,
    /// The sub-agent that it is about; `None` for the main thread.
    pub agent: Option<String>,
    /// The file that holds what was said and done: the sub-agent's own, where it is about one.
    pub transcript: Option<PathBuf>,
    /// The agent's working directory.
    pub cwd: Option<PathBuf>,
    /// The user's prompt that led here, where the agent numbers them.
    pub prompt: Option<String>,
    /// Whether the agent asks its user about calls.
    pub questions: Questions,
    /// What happened.
    pub happening: Happening,
}

/// Whether an agent asks its user about calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Questions {
    /// As far as its contract allows it.
    #[default]
    Asked,
    /// The user has switched them off: Claude Code's `bypassPermissions`, Codex's approval policy
    /// `never`, Gemini CLI's `yolo`.
    SwitchedOff,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// The agent is about to execute a tool.
    Before(HostedCall),
    /// It has executed one.
    After(HostedCall, HostEnded),
    /// The user said something.
    Prompt(String),
    /// The agent, or a sub-agent, is about to stop.
    Stop {
        /// Its last message, where the event has it: the file may lack it still.
        last: Option<String>,
        /// The agent goes on already because a hook told it to.
        again: bool,
    },
    /// A session begins, or goes on after it was compacted.
    Started,
    /// The session is over, for now.
    Ended,
    /// Anything else.
    Other,
}
