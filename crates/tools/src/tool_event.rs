use std::sync::Arc;

use counterfoil_ledger::{Opened, Phase, Rejected, TraceContext};
use counterfoil_model::{Origin, Status, ToolErrorCategory};
use counterfoil_redact::Redactor;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::output::RolledBack;

/// So many events wait for a receiver that does not keep up; then it misses the oldest, and is
/// told how many.
const WAITING: usize = 1024;

/// What happens to a call, while it happens: for a surface that shows it. What is certain stands
/// in the ledger: an event is sent once that is written, or under way where nobody waits for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallEvent {
    /// The call.
    #[serde(flatten)]
    pub call: CallName,
    /// What happens to it.
    #[serde(flatten)]
    pub what: ToolEvent,
}

/// Which call an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallName {
    /// The id of its receipt.
    pub execution_id: String,
    /// The session.
    pub session: String,
    /// The model's id of the call; empty when it gave none.
    pub call_id: String,
    /// The sub-agent that makes it; `None` for the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// When in the agent's cycle it is made.
    pub phase: Phase,
    /// The tool.
    pub tool: String,
    /// Where that tool comes from.
    pub origin: Origin,
    /// The trace that the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEvent {
    /// It begins to run.
    Opened,
    /// It has come so far.
    Progress {
        /// How much is done: of `total`, where that is known. Never less than before.
        done: f64,
        /// How much there is to do.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// In words.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// It printed this, in whole lines where those are not too long.
    Output {
        /// Where to.
        stream: OutputStream,
        /// What, without the secrets that a line shows.
        text: String,
    },
    /// It ended.
    Closed {
        /// How.
        status: Status,
        /// Why it did not complete.
        #[serde(skip_serializing_if = "Option::is_none")]
        category: Option<ToolErrorCategory>,
    },
    /// It was not executed: refused by admission or denied by a gate.
    Rejected {
        /// `refused` or `denied`.
        status: Status,
        /// Codes of the issues or reasons.
        codes: Vec<String>,
    },
    /// What it had changed was put back.
    Rollback {
        /// What.
        #[serde(flatten)]
        rolled_back: RolledBack,
    },
}

/// Where a command prints something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Where events are sent from.
#[derive(Debug, Clone)]
pub struct ToolEvents(Sender<CallEvent>);

impl Default for ToolEvents {
    fn default() -> Self {
        Self(channel(WAITING).0)
    }
}

impl ToolEvents {
    /// What is told from now on. A receiver that is slow misses the oldest; no call waits for one.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<CallEvent> {
        self.0.subscribe()
    }

    /// Whether somebody listens.
    #[must_use]
    pub fn are_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Tells whoever listens.
    pub fn send(&self, call: CallName, what: ToolEvent) {
        // The last receiver may have gone meanwhile.
        let _ = self.0.send(CallEvent { call, what });
    }
}

/// With what a tool tells, while it works, how far it is: to whoever listens, and nobody waits for
/// them. It comes with the permit.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<(ToolEvents, Arc<CallName>)>);

impl Progress {
    /// Tells these events what is said of this call.
    #[must_use]
    pub fn new(events: ToolEvents, call: CallName) -> Self {
        Self(Some((events, Arc::new(call))))
    }

    /// The call that it is about; `None` where nobody made one.
    #[must_use]
    pub fn call(&self) -> Option<&CallName> {
        self.0.as_ref().map(|(_, call)| &**call)
    }

    /// Whether somebody listens: whoever has to work for what is told asks first.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.0.as_ref().is_some_and(|(events, _)| events.are_heard())
    }

    /// So much is done, of `total` where that is known. Redacted here.
    pub fn step(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        self.tell(|| {
            let message = message.map(|text| Redactor::standard().redact(text).into_owned());
            ToolEvent::Progress { done, total, message }
        });
    }

    /// This was printed. Redacted here, as far as one text shows a secret: what is cut into
    /// several is not seen.
    pub fn output(&self, stream: OutputStream, text: &str) {
        let clean = || Redactor::standard().redact(text).into_owned();
        self.tell(|| ToolEvent::Output { stream, text: clean() });
    }

    fn tell(&self, what: impl FnOnce() -> ToolEvent) {
        if let Some((events, call)) = self.0.as_ref().filter(|(events, _)| events.are_heard()) {
            events.send(CallName::clone(call), what());
        }
    }
}

impl CallName {
    /// That of an execution in this session.
    #[must_use]
    pub fn of(session: &str, opened: &Opened) -> Self {
        Self {
            execution_id: opened.execution_id.clone(),
            session: session.to_owned(),
            call_id: opened.call_id.clone(),
            caller: opened.caller_id.clone(),
            phase: opened.phase,
            tool: opened.tool.clone(),
            origin: opened.origin.clone(),
            trace: opened.trace.clone(),
        }
    }
}

impl From<&Rejected> for ToolEvent {
    fn from(rejected: &Rejected) -> Self {
        Self::Rejected { status: rejected.status, codes: rejected.codes.clone() }
    }
}
