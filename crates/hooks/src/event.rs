use std::path::PathBuf;

use counterfoil_guard::{HostEnded, HostedCall};

/// One event of a coding agent's session.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The agent's name for the event. The answer repeats it.
    pub name: String,
    /// The id of the session.
    pub session: String,
    /// The sub-agent that the event is about; `None` for the main agent.
    pub agent: Option<String>,
    /// The transcript file; the sub-agent's own if the event is about one.
    pub transcript: Option<PathBuf>,
    /// The agent's working directory.
    pub cwd: Option<PathBuf>,
    /// The id of the user's prompt that led to the event, if the agent provides one.
    pub prompt: Option<String>,
    /// Whether the agent asks its user about calls.
    pub questions: Questions,
    /// What happened.
    pub happening: Happening,
}

/// Whether an agent asks its user about calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Questions {
    /// It asks, as far as its contract allows.
    #[default]
    SwitchedOn,
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
    /// The user sent a prompt.
    Prompt(String),
    /// The agent, or a sub-agent, is about to stop.
    Stop {
        /// Its last message, if the event contains it. The file may not have it yet.
        last: Option<String>,
        /// Whether the agent only continues because a hook made it continue.
        again: bool,
    },
    /// A session begins, or continues after compaction.
    Started,
    /// The session is over, for now.
    Ended,
    /// Anything else.
    Other,
}
