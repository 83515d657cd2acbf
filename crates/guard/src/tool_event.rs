use counterfoil_model::Status;
use serde::Serialize;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::executor::RolledBack;
use crate::guard::Guard;
use crate::ledger::Rejected;
use crate::session::Session;

/// So many events wait for a receiver that does not keep up; then it misses the oldest, and is
/// told how many.
const WAITING: usize = 1024;

/// What happens to a call, while it happens: for a surface that shows it. What is certain stands
/// in the ledger: an event is sent once that is written, or under way where nobody waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEvent {
    /// It begins to run.
    Opened {
        /// The id of its receipt.
        execution_id: String,
        /// The session.
        session: String,
        /// The tool.
        tool: String,
    },
    /// It ended.
    Closed {
        /// The id of its receipt.
        execution_id: String,
        /// How.
        status: Status,
    },
    /// It was not executed: refused by admission or denied by a gate.
    Rejected {
        /// The id of its receipt.
        execution_id: String,
        /// The session.
        session: String,
        /// The tool.
        tool: String,
        /// `refused` or `denied`.
        status: Status,
        /// Codes of the issues or reasons.
        codes: Vec<String>,
    },
    /// What it had changed was put back.
    Rollback {
        /// The id of its receipt.
        execution_id: String,
        /// What.
        #[serde(flatten)]
        rolled_back: RolledBack,
    },
}

/// Where events are sent from.
#[derive(Debug)]
pub(crate) struct ToolEvents(Sender<ToolEvent>);

impl Default for ToolEvents {
    fn default() -> Self {
        Self(channel(WAITING).0)
    }
}

impl Rejected {
    /// What is told of it.
    pub(crate) fn told(&self, session: &Session) -> ToolEvent {
        ToolEvent::Rejected {
            execution_id: self.call.execution_id.clone(),
            session: session.id().to_owned(),
            tool: self.call.tool.clone(),
            status: self.status,
            codes: self.codes.clone(),
        }
    }
}

impl Guard {
    /// What happens to the calls of this guard from now on. A receiver that is slow misses the
    /// oldest; no call waits for one.
    #[must_use]
    pub fn events(&self) -> Receiver<ToolEvent> {
        self.sender().0.subscribe()
    }

    /// Tells whoever listens; where nobody does, there is no event.
    pub(crate) fn tell(&self, event: impl FnOnce() -> ToolEvent) {
        let sender = &self.sender().0;
        if sender.receiver_count() > 0 {
            // The last one may have gone meanwhile.
            let _ = sender.send(event());
        }
    }
}
