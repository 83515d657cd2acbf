use std::future::Future;

use counterfoil_model::ToolErrorCategory;
use counterfoil_tools::ToolError;
use futures_util::future::{AbortHandle, Abortable};

use crate::guard::Guard;
use crate::recording::Recording;
use crate::session::Session;

impl Session {
    /// Ends calls of a session that run now, by the model's id of the call or the id of the receipt:
    /// their answer says that they were cancelled. How many there were. A call that a host executes
    /// is not one of them, nor is one that has not begun to run.
    pub fn cancel(&self, id: &str) -> usize {
        let running = self.running().cancellable(id);
        running.iter().for_each(AbortHandle::abort);
        running.len()
    }
}

impl Guard {
    /// What comes of it, if nobody cancels it before.
    pub(crate) async fn cancellable<T>(
        &self,
        session: &Session,
        recording: &Recording,
        work: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let (handle, registration) = AbortHandle::new_pair();
        let _listed = Listed::new(session, recording, handle);
        let cancelled = |_| ToolError::of(ToolErrorCategory::Cancelled, "the call was cancelled");
        Abortable::new(work, registration).await.map_err(cancelled)
    }
}

/// A call that can be cancelled as long as this lives.
struct Listed<'c> {
    session: &'c Session,
    execution_id: &'c str,
}

impl<'c> Listed<'c> {
    fn new(session: &'c Session, recording: &'c Recording, handle: AbortHandle) -> Self {
        let execution_id = recording.execution_id();
        session.running().begin_cancellable(execution_id, recording.call_id(), handle);
        Self { session, execution_id }
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.session.running().end_cancellable(self.execution_id);
    }
}
