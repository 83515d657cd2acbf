use std::path::PathBuf;

use counterfoil_ledger::TrustLevel;
use counterfoil_model::Tool;
use counterfoil_tools::{FileSettings, FileTools, Reach, Scene, ToolError, ToolOutput};

use super::{ExecutorId, ExecutorKind, ToolExecutor};
use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};

/// Reads, writes, lists and searches files in the workspace.
///
/// Access is decided on the real path, and exactly that path is opened: a link that is put there in
/// between is refused.
#[derive(Debug, Clone)]
pub struct FileExecutor(FileTools);

impl FileExecutor {
    /// Creates an executor with these settings.
    #[must_use]
    pub fn new(settings: FileSettings) -> Self {
        Self(FileTools::new(settings))
    }

    /// Protects a folder: nothing in it is read or written, whatever is configured. Meant for the
    /// folder in which the guard keeps its records and keys.
    #[must_use]
    pub fn protecting(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.protecting(folder))
    }
}

impl ToolExecutor for FileExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::File, "")
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        FileTools::definitions()
    }

    fn owns(&self, tool: &str) -> bool {
        FileTools::owns(tool)
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let reach = match scene.trust {
            TrustLevel::Trusted => Reach::Folders,
            TrustLevel::Provisional | TrustLevel::Untrusted => Reach::Workspace,
        };
        self.0.perform(permit.call().into(), scene, reach).await
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.0.perform(permit.call().into(), scene, Reach::Folders).await
    }

    /// Reading needs no confirmation, because what may be read is already decided. Writing needs
    /// none in the workspace, in a turn that is at least provisional.
    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        self.0.question(call.into(), scene)
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        self.0.refusal(call.into(), scene)
    }

    /// A tool that changes nothing the second time may be retried.
    fn is_tool_retryable(&self, tool: &str) -> bool {
        FileTools::is_idempotent(tool)
    }

    fn is_tool_speculatable(&self, tool: &str) -> bool {
        FileTools::only_reads(tool)
    }
}
