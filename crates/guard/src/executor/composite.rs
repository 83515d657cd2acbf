use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use counterfoil_model::{Tool, ToolErrorCategory};
use counterfoil_tools::{Scene, ToolError, ToolOutput};

use super::{
    DynExecutor, ErasedToolExecutor, ExecutorId, ExecutorKind, ExecutorOrder, ToolExecutor,
};
use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};

/// Combines all executors of a guard into one. Each tool has exactly one owner, the executor that
/// defines it, and only the owner ever sees the permit.
pub struct CompositeExecutor {
    order: ExecutorOrder,
    table: ArcSwap<Table>,
    /// Held while the table is replaced.
    replacing: Mutex<()>,
}

/// Two executors claim one tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{tool}` is claimed by `{first}` and by `{second}`")]
pub struct TwoOwners {
    /// The tool.
    pub tool: String,
    /// The executor that comes first in the order.
    pub first: ExecutorId,
    /// The other executor that claims it.
    pub second: ExecutorId,
}

impl CompositeExecutor {
    /// Combines these executors in the declared order: skill, shell, file, web, MCP, native.
    /// Executors of the same kind keep the given order.
    ///
    /// # Errors
    /// When two of them claim one tool.
    pub fn new(executors: Vec<Arc<dyn ErasedToolExecutor>>) -> Result<Self, TwoOwners> {
        Self::in_order(ExecutorOrder::default(), executors)
    }

    /// Combines these executors in a configured order.
    ///
    /// # Errors
    /// When two of them claim one tool.
    pub fn in_order(
        order: ExecutorOrder,
        executors: Vec<Arc<dyn ErasedToolExecutor>>,
    ) -> Result<Self, TwoOwners> {
        let started = |executor| Member { executor, late: false };
        let table = Table::new(&order, executors.into_iter().map(started).collect())?;
        Ok(Self { order, table: ArcSwap::from_pointee(table), replacing: Mutex::new(()) })
    }

    /// Adds an executor after the start, wrapped in a [`DynExecutor`]. Running calls keep their
    /// executor.
    ///
    /// # Errors
    /// When one of its tools already has an owner. Nothing changes then.
    pub fn register(&self, executor: Arc<dyn ErasedToolExecutor>) -> Result<(), TwoOwners> {
        let _replacing = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut members = self.table.load().members.clone();
        members.push(Member { executor: Arc::new(DynExecutor::new(executor)), late: true });
        self.table.store(Arc::new(Table::new(&self.order, members)?));
        Ok(())
    }

    /// Removes an executor that was added after the start. Returns whether there was one with this
    /// id.
    pub fn unregister(&self, id: &ExecutorId) -> bool {
        let _replacing = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut members = self.table.load().members.clone();
        let before = members.len();
        members.retain(|member| !(member.late && member.executor.id() == *id));
        let removed = members.len() != before;
        // Fewer executors cannot claim more tools than before. If they did, nothing would change.
        match Table::new(&self.order, members) {
            Ok(table) => {
                self.table.store(Arc::new(table));
                removed
            }
            Err(_) => false,
        }
    }

    /// The executors' ids, in their order.
    #[must_use]
    pub fn executors(&self) -> Vec<ExecutorId> {
        self.table.load().members.iter().map(|member| member.executor.id()).collect()
    }

    /// The kind of executor that owns a tool.
    pub(crate) fn kind(&self, tool: &str) -> Option<ExecutorKind> {
        self.owner(tool).map(|owner| owner.id().kind)
    }

    fn owner(&self, tool: &str) -> Option<Arc<dyn ErasedToolExecutor>> {
        self.table.load().owner(tool)
    }

    fn owner_or_error(&self, tool: &str) -> Result<Arc<dyn ErasedToolExecutor>, ToolError> {
        self.owner(tool).ok_or_else(|| {
            let message = format!("no executor owns the tool `{tool}`");
            ToolError::new(ToolErrorCategory::ToolNotFound, message)
        })
    }
}

/// The executors in their order, and which of them owns which tool.
struct Table {
    members: Vec<Member>,
    owners: BTreeMap<String, usize>,
}

#[derive(Clone)]
struct Member {
    executor: Arc<dyn ErasedToolExecutor>,
    /// Whether it was added after the start and can be removed again.
    late: bool,
}

impl Table {
    fn new(order: &ExecutorOrder, mut members: Vec<Member>) -> Result<Self, TwoOwners> {
        members.sort_by_key(|member| order.place(member.executor.id().kind));
        let mut owners: BTreeMap<String, usize> = BTreeMap::new();
        for (at, member) in members.iter().enumerate() {
            for tool in member.executor.tool_definitions() {
                if let Some(first) = owners.insert(tool.name.clone(), at) {
                    let second = member.executor.id();
                    let first = members.get(first).map_or(second.clone(), |m| m.executor.id());
                    return Err(TwoOwners { tool: tool.name, first, second });
                }
            }
        }
        Ok(Self { members, owners })
    }

    fn owner(&self, tool: &str) -> Option<Arc<dyn ErasedToolExecutor>> {
        let at = self.owners.get(tool)?;
        self.members.get(*at).map(|member| Arc::clone(&member.executor))
    }
}

impl ToolExecutor for CompositeExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Native, "composite")
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        let table = self.table.load();
        // INVARIANT: only tools with an owner are listed; an executor that defines more tools than
        // when it was registered cannot add them this way.
        let mut listed = Vec::new();
        for (at, member) in table.members.iter().enumerate() {
            let definitions = member.executor.tool_definitions();
            listed.extend(
                definitions.into_iter().filter(|tool| table.owners.get(&tool.name) == Some(&at)),
            );
        }
        listed
    }

    fn owns(&self, tool: &str) -> bool {
        self.table.load().owners.contains_key(tool)
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let tool = permit.call().tool().name.clone();
        let owner = self.owner_or_error(&tool)?;
        let output = owner.execute_tool_call(permit, scene).await?;
        output.map(Some).ok_or_else(|| disowned(&tool, &owner.id()))
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let tool = permit.call().tool().name.clone();
        let owner = self.owner_or_error(&tool)?;
        let output = owner.execute_tool_call_confirmed(permit, scene).await?;
        output.map(Some).ok_or_else(|| disowned(&tool, &owner.id()))
    }

    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        let tool = &call.tool().name;
        match self.owner(tool) {
            Some(owner) => owner.requires_confirmation(call, scene),
            None => Some(format!("no executor owns the tool `{tool}`")),
        }
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        self.owner(&call.tool().name)?.refusal(call, scene)
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        self.owner(tool).is_some_and(|owner| owner.is_tool_retryable(tool))
    }

    fn is_tool_speculatable(&self, tool: &str) -> bool {
        self.owner(tool).is_some_and(|owner| owner.is_tool_speculatable(tool))
    }
}

/// The owner returned that the tool is not its own. No other executor gets the call.
fn disowned(tool: &str, owner: &ExecutorId) -> ToolError {
    let message = format!("`{owner}` owns the tool `{tool}` but did not execute it");
    ToolError::new(ToolErrorCategory::PermanentFailure, message)
}
