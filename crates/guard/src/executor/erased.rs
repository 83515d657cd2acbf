use counterfoil_model::Tool;
use counterfoil_tools::{Scene, ToolError, ToolOutput};

use super::{ExecutorId, ToolExecutor};
use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};
use crate::ports::BoxFuture;

/// The result of an execution: the output of the tool, or why it failed.
type Execution<'a> = BoxFuture<'a, Result<Option<ToolOutput>, ToolError>>;

/// The object-safe form of [`ToolExecutor`], for `Arc<dyn ErasedToolExecutor>`. It is implemented
/// for every executor and cannot be implemented by hand.
pub trait ErasedToolExecutor: sealed::Sealed + Send + Sync {
    /// See [`ToolExecutor::id`].
    fn id(&self) -> ExecutorId;
    /// See [`ToolExecutor::tool_definitions`].
    fn tool_definitions(&self) -> Vec<Tool>;
    /// See [`ToolExecutor::owns`].
    fn owns(&self, tool: &str) -> bool;
    /// See [`ToolExecutor::execute_tool_call`].
    fn execute_tool_call<'a>(
        &'a self,
        permit: Permit<ByPolicy>,
        scene: &'a Scene<'_>,
    ) -> Execution<'a>;
    /// See [`ToolExecutor::execute_tool_call_confirmed`].
    fn execute_tool_call_confirmed<'a>(
        &'a self,
        permit: Permit<ByApproval>,
        scene: &'a Scene<'_>,
    ) -> Execution<'a>;
    /// See [`ToolExecutor::requires_confirmation`].
    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String>;
    /// See [`ToolExecutor::refusal`].
    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError>;
    /// See [`ToolExecutor::is_tool_retryable`].
    fn is_tool_retryable(&self, tool: &str) -> bool;
    /// See [`ToolExecutor::is_tool_speculatable`].
    fn is_tool_speculatable(&self, tool: &str) -> bool;
}

mod sealed {
    pub trait Sealed {}
    #[diagnostic::do_not_recommend]
    impl<E: crate::executor::ToolExecutor> Sealed for E {}
}

impl<E: ToolExecutor> ErasedToolExecutor for E {
    fn id(&self) -> ExecutorId {
        ToolExecutor::id(self)
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        ToolExecutor::tool_definitions(self)
    }

    fn owns(&self, tool: &str) -> bool {
        ToolExecutor::owns(self, tool)
    }

    fn execute_tool_call<'a>(
        &'a self,
        permit: Permit<ByPolicy>,
        scene: &'a Scene<'_>,
    ) -> Execution<'a> {
        Box::pin(ToolExecutor::execute_tool_call(self, permit, scene))
    }

    fn execute_tool_call_confirmed<'a>(
        &'a self,
        permit: Permit<ByApproval>,
        scene: &'a Scene<'_>,
    ) -> Execution<'a> {
        Box::pin(ToolExecutor::execute_tool_call_confirmed(self, permit, scene))
    }

    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        ToolExecutor::requires_confirmation(self, call, scene)
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        ToolExecutor::refusal(self, call, scene)
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        ToolExecutor::is_tool_retryable(self, tool)
    }

    fn is_tool_speculatable(&self, tool: &str) -> bool {
        ToolExecutor::is_tool_speculatable(self, tool)
    }
}
