use std::future::Future;

use counterfoil_model::ToolErrorCategory;
use counterfoil_tools::ToolError;
use futures_util::future::{AbortHandle, Abortable};

use crate::guard::Guard;
use crate::recording::Recording;
use crate::session::Session;

impl Session {
    /// Cancels running calls of this session, by the model's call id or by the receipt id, and
    /// returns how many there were. Their answers say that they were cancelled. Calls that a host
    /// executes and calls that have not started are not affected.
    pub fn cancel(&self, id: &str) -> usize {
        let running = self.running().cancellable(id);
        running.iter().for_each(AbortHandle::abort);
        running.len()
    }
}

impl Guard {
    /// Runs a future until it ends or someone cancels it.
    pub(crate) async fn cancellable<T>(
        &self,
        session: &Session,
        recording: &Recording,
        work: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let (handle, registration) = AbortHandle::new_pair();
        let _listed = Listed::new(session, recording, handle);
        let cancelled = |_| ToolError::new(ToolErrorCategory::Cancelled, "the call was cancelled");
        Abortable::new(work, registration).await.map_err(cancelled)
    }
}

/// Keeps a call cancellable for as long as it lives.
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
