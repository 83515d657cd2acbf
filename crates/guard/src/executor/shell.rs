use std::path::PathBuf;
use std::sync::Arc;

use counterfoil_model::Tool;
use counterfoil_sandbox::Sandbox;
use counterfoil_tools::{Scene, ShellPolicyHandle, ShellTools, ToolError, ToolOutput};

use super::{ExecutorId, ExecutorKind, ToolExecutor};
use crate::admitted::Admitted;
use crate::gate::{Basis, ByApproval, ByPolicy, Permit};
use crate::ports::SessionEnd;

/// Runs shell commands with Bash.
///
/// The blocklist is checked again on every way to execution, under the policy in force when the
/// command starts; the command keeps that policy until it ends.
#[derive(Debug, Clone)]
pub struct ShellExecutor(ShellTools);

impl ShellExecutor {
    /// Runs commands under this policy, which the gates should share. Commands are not confined.
    #[must_use]
    pub fn new(policy: ShellPolicyHandle) -> Self {
        Self(ShellTools::new(policy))
    }

    /// Runs commands in this sandbox.
    #[must_use]
    pub fn confined(self, sandbox: Sandbox) -> Self {
        Self(self.0.confined(sandbox))
    }

    /// Keeps the latest snapshots in this folder, as many as the settings say.
    #[must_use]
    pub fn keeping_snapshots(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.keeping_snapshots(folder))
    }

    /// The callback that must be called when a session ends, so that none of its processes keeps
    /// running.
    #[must_use]
    pub fn session_end(&self) -> SessionEnd {
        let tools = self.0.clone();
        Arc::new(move |session| tools.end_session(session))
    }

    /// Spends the permit by running its command.
    async fn spend<B: Basis>(
        &self,
        permit: Permit<B>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        if !self.0.owns(&permit.call().tool().name) {
            return Ok(None);
        }
        let recorded = (permit.execution_id(), permit.progress());
        self.0.perform(permit.call().into(), recorded, scene).await.map(Some)
    }
}

impl ToolExecutor for ShellExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Shell, "")
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        self.0.definitions()
    }

    fn owns(&self, tool: &str) -> bool {
        self.0.owns(tool)
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.spend(permit, scene).await
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.spend(permit, scene).await
    }

    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        self.0.question(call.into(), scene)
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        self.0.refusal(call.into(), scene)
    }

    /// A command that fails may already have had an effect.
    fn is_tool_retryable(&self, _tool: &str) -> bool {
        false
    }

    fn is_tool_speculatable(&self, _tool: &str) -> bool {
        false
    }
}
