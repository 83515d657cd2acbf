use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use counterfoil_admission::{Admission, AdmissionSettings, CatalogIssue};
use counterfoil_ledger::Draft;
use counterfoil_model::{Catalog, Digest};

use crate::call::CallError;
use crate::executor::{CompositeExecutor, ErasedToolExecutor, ExecutorId, ToolExecutor, TwoOwners};
use crate::export::tool_list;
use crate::guard::Guard;
use crate::session::Session;

/// The tools of a guard at one time: what it lists, and what calls are held against.
pub(crate) struct Toolset {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) issues: Vec<CatalogIssue>,
    pub(crate) admission: Admission,
    /// Of every available tool.
    pub(crate) names: Arc<BTreeSet<String>>,
    /// The list as sessions record it.
    pub(crate) list: Vec<u8>,
    pub(crate) digest: Digest,
}

/// An executor cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// One of its tools has an owner.
    #[error(transparent)]
    TwoOwners(#[from] TwoOwners),
    /// The guard began without a tool: it judges the calls of a host, which is asked for
    /// confirmation itself.
    #[error("a guard that was built without tools judges the calls of a host and takes none")]
    ForHost,
}

impl Toolset {
    pub(crate) fn of(executor: &CompositeExecutor, settings: &AdmissionSettings) -> Self {
        let (catalog, _) = Catalog::known(ToolExecutor::tool_definitions(executor));
        let (admission, issues) = Admission::compile(&catalog, settings.clone());
        let available = catalog.iter().filter(|tool| tool.available);
        let names = Arc::new(available.map(|tool| tool.name.clone()).collect());
        let list = tool_list(&catalog).to_string().into_bytes();
        let digest = Digest::of_bytes(&list);
        Self { catalog: Arc::new(catalog), issues, admission, names, list, digest }
    }
}

impl Guard {
    /// Adds the tools of an executor to a guard that runs, behind a
    /// [`DynExecutor`](crate::DynExecutor). Sessions have them from their next call on, and calls
    /// that run keep the executor they run on.
    ///
    /// # Errors
    /// When one of its tools has an owner, or the guard is a host's; then nothing changes.
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

    /// Takes the tools of an executor away again that was registered while the guard ran; whether
    /// there was one of this id.
    pub fn unregister(&self, id: &ExecutorId) -> bool {
        let _registering = self.registering().lock().unwrap_or_else(PoisonError::into_inner);
        let removed = self.executor().unregister(id);
        if removed {
            self.take_up();
        }
        removed
    }

    fn take_up(&self) {
        let tools = Toolset::of(self.executor(), &self.settings().admission);
        self.swap_tools(tools);
    }

    /// Records which tools there are, where that changed since the session's record says so.
    pub(crate) async fn list_tools(
        &self,
        session: &Session,
        tools: &Toolset,
    ) -> Result<(), CallError> {
        if !session.record().lists_others(tools.digest) {
            return Ok(());
        }
        let (digest, list) = (tools.digest, tools.list.clone());
        let model = session.model().map(str::to_owned);
        let parent = session.parent().map(str::to_owned);
        let draft = Draft::Began { tools: digest, model, parent, at: self.clock().wall() };
        let event = self.ledger().append(session.id(), draft, vec![list.clone()]).await;
        session.note(event.map_err(CallError::NotRecorded)?, vec![list]);
        session.record().lists(digest);
        Ok(())
    }
}
