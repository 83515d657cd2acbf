//! Events about calls, for subscribers.

use counterfoil_ledger::Opened;
use counterfoil_tools::{CallEvent, CallName, ToolEvent};
use tokio::sync::broadcast::Receiver;

use crate::guard::Guard;
use crate::session::Session;

impl Guard {
    /// Subscribes to the events about this guard's calls from now on. A slow receiver misses the
    /// oldest events; no call waits for one.
    #[must_use]
    pub fn events(&self) -> Receiver<CallEvent> {
        self.sender().subscribe()
    }

    /// Sends an event to the subscribers. Without subscribers, the event is not even created.
    pub(crate) fn tell(
        &self,
        session: &Session,
        opened: &Opened,
        what: impl FnOnce() -> ToolEvent,
    ) {
        if self.sender().are_heard() {
            self.sender().send(CallName::new(session.id(), opened), what());
        }
    }
}
