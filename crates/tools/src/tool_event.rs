use std::sync::Arc;

use counterfoil_ledger::{Opened, Phase, Rejected, TraceContext};
use counterfoil_model::{Origin, Status, ToolErrorCategory};
use counterfoil_redact::Redactor;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::output::RolledBack;

/// The number of events buffered for a slow receiver; beyond it the receiver misses the oldest, and
/// learns how many.
const WAITING: usize = 1024;

/// Progress of a call, for display. The ledger is authoritative: an event is sent once its record
/// is written, or is under way if nothing waits for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallEvent {
    /// The call.
    #[serde(flatten)]
    pub call: CallName,
    /// The event.
    #[serde(flatten)]
    pub what: ToolEvent,
}

/// Identifies the call of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallName {
    /// The id of its receipt.
    pub execution_id: String,
    /// The session.
    pub session: String,
    /// The model's id of the call; empty if it gave none.
    pub call_id: String,
    /// The sub-agent that makes it; `None` for the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The phase of the agent's cycle.
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
    /// It starts to run.
    Opened,
    /// It made progress.
    Progress {
        /// The amount done, out of `total` if known. Never decreases.
        done: f64,
        /// The total amount.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// A description.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// It printed something, in whole lines unless they are too long.
    Output {
        /// The stream.
        stream: OutputStream,
        /// The text, with secrets redacted line by line.
        text: String,
    },
    /// It ended.
    Closed {
        /// The status.
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
    /// Its changes were rolled back.
    Rollback {
        /// What was rolled back.
        #[serde(flatten)]
        rolled_back: RolledBack,
    },
}

/// The output streams of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The sending end for events.
#[derive(Debug, Clone)]
pub struct ToolEvents(Sender<CallEvent>);

impl Default for ToolEvents {
    fn default() -> Self {
        Self(channel(WAITING).0)
    }
}

impl ToolEvents {
    /// Subscribes to events from now on. A slow receiver misses the oldest; calls never wait for
    /// receivers.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<CallEvent> {
        self.0.subscribe()
    }

    /// Whether there are receivers.
    #[must_use]
    pub fn are_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Sends an event to the receivers.
    pub fn send(&self, call: CallName, what: ToolEvent) {
        // The last receiver may be gone by now.
        let _ = self.0.send(CallEvent { call, what });
    }
}

/// Lets a tool report its progress to the receivers, without waiting for them. Issued with the
/// permit.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<(ToolEvents, Arc<CallName>)>);

impl Progress {
    /// Reports progress of this call to these events.
    #[must_use]
    pub fn new(events: ToolEvents, call: CallName) -> Self {
        Self(Some((events, Arc::new(call))))
    }

    /// The call; `None` if there is none.
    #[must_use]
    pub fn call(&self) -> Option<&CallName> {
        self.0.as_ref().map(|(_, call)| &**call)
    }

    /// Whether there are receivers: check this before doing work only for a report.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.0.as_ref().is_some_and(|(events, _)| events.are_heard())
    }

    /// Reports the amount done, out of `total` if known. The message is redacted here.
    pub fn step(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        self.tell(|| {
            let message = message.map(|text| Redactor::standard().redact(text).into_owned());
            ToolEvent::Progress { done, total, message }
        });
    }

    /// Reports output. It is redacted here, as far as this text alone shows a secret: one that is
    /// split over several texts is missed.
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
    /// The name of an execution's call in this session.
    #[must_use]
    pub fn new(session: &str, opened: &Opened) -> Self {
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
