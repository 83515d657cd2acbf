use std::collections::BTreeSet;
use std::sync::Arc;

use counterfoil_model::Tool;
use counterfoil_tools::{Scene, ToolError, ToolOutput};

use super::{ErasedToolExecutor, ExecutorId, ToolExecutor};
use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};

/// An executor that is added after the start, such as that of an MCP server.
///
/// It owns the tools that it defined when it was added, whatever it defines later. Everything else
/// is delegated to the inner executor.
pub struct DynExecutor {
    inner: Arc<dyn ErasedToolExecutor>,
    names: BTreeSet<String>,
}

impl DynExecutor {
    /// Wraps an executor, with the tools that it defines now.
    #[must_use]
    pub fn new(inner: Arc<dyn ErasedToolExecutor>) -> Self {
        let names = inner.tool_definitions().into_iter().map(|tool| tool.name).collect();
        Self { inner, names }
    }
}

impl ToolExecutor for DynExecutor {
    fn id(&self) -> ExecutorId {
        self.inner.id()
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        let mut tools = self.inner.tool_definitions();
        tools.retain(|tool| self.names.contains(&tool.name));
        tools
    }

    fn owns(&self, tool: &str) -> bool {
        self.names.contains(tool) && self.inner.owns(tool)
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.inner.execute_tool_call(permit, scene).await
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.inner.execute_tool_call_confirmed(permit, scene).await
    }

    // INVARIANT: always delegates. A wrapper that answers "no confirmation needed" would open every
    // tool behind it.
    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        self.inner.requires_confirmation(call, scene)
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        self.inner.refusal(call, scene)
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        self.inner.is_tool_retryable(tool)
    }

    fn is_tool_speculatable(&self, tool: &str) -> bool {
        self.inner.is_tool_speculatable(tool)
    }
}
