//! Adds and removes tools while a guard runs.

use std::sync::{Arc, PoisonError};

use counterfoil_ledger::{AppendError, Draft};

use crate::executor::{ErasedToolExecutor, ExecutorId, TwoOwners};
use crate::guard::Guard;
use crate::session::Session;
use crate::toolset::Toolset;

/// Why an executor cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// One of its tools already has an owner.
    #[error(transparent)]
    TwoOwners(#[from] TwoOwners),
    /// The guard was built without tools: it judges the calls of a host, and the host asks for
    /// confirmation itself.
    #[error("this guard only judges the calls of a host, so no tools can be registered")]
    ForHost,
}

impl Guard {
    /// Adds the tools of an executor to a running guard, wrapped in a
    /// [`DynExecutor`](crate::DynExecutor). Sessions have them from their next call on, and running
    /// calls keep their executor.
    ///
    /// # Errors
    /// When one of its tools already has an owner, or the guard judges calls of a host. Nothing
    /// changes then.
    pub fn register(
        &self,
        executor: impl ErasedToolExecutor + 'static,
    ) -> Result<(), RegisterError> {
        if self.is_for_host() {
            return Err(RegisterError::ForHost);
        }
        let _registering = self.registering().lock().unwrap_or_else(PoisonError::into_inner);
        self.executor().register(Arc::new(executor))?;
        self.take_up();
        Ok(())
    }

    /// Removes the tools of an executor that was registered while the guard was running. Returns
    /// whether there was one with this id.
    pub fn unregister(&self, id: &ExecutorId) -> bool {
        let _registering = self.registering().lock().unwrap_or_else(PoisonError::into_inner);
        let removed = self.executor().unregister(id);
        if removed {
            self.take_up();
        }
        removed
    }

    fn take_up(&self) {
        let tools = Toolset::new(self.executor(), &self.settings().admission);
        self.swap_tools(tools);
    }

    /// Records the list of tools if it differs from the list in the session's record.
    pub(crate) async fn list_tools(
        &self,
        session: &Session,
        tools: &Toolset,
    ) -> Result<(), AppendError> {
        if !session.record().lists_others(tools.digest) {
            return Ok(());
        }
        let (digest, list) = (tools.digest, tools.list.clone());
        let model = session.model().map(str::to_owned);
        let parent = session.parent().map(str::to_owned);
        let draft = Draft::Began { tools: digest, model, parent, at: self.clock().wall() };
        let event = self.ledger().append(session.id(), draft, vec![list.clone()]).await;
        session.note(event?, vec![list]);
        session.record().lists(digest);
        Ok(())
    }
}
