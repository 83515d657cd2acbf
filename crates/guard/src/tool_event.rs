//! What happens to calls, told to whoever listens.

use counterfoil_ledger::Opened;
use counterfoil_tools::{CallEvent, CallName, ToolEvent};
use tokio::sync::broadcast::Receiver;

use crate::guard::Guard;
use crate::session::Session;

impl Guard {
    /// What happens to the calls of this guard from now on. A receiver that is slow misses the
    /// oldest; no call waits for one.
    #[must_use]
    pub fn events(&self) -> Receiver<CallEvent> {
        self.sender().subscribe()
    }

    /// Tells whoever listens; where nobody does, there is no event.
    pub(crate) fn tell(
        &self,
        session: &Session,
        opened: &Opened,
        what: impl FnOnce() -> ToolEvent,
    ) {
        if self.sender().are_heard() {
            self.sender().send(CallName::of(session.id(), opened), what());
        }
    }
}
