use std::path::PathBuf;
use std::sync::Arc;

use counterfoil_ledger::TrustLevel;
use counterfoil_model::{Tool, ToolErrorCategory};

use super::TOOLS;
use super::place::{Place, Roots};
use super::stop::{GiveUp, Stop};
use super::tool::{FileTool, Reach, Work};
use crate::admitted::Admitted;
use crate::executor::FileSettings;
use crate::executor::{ExecutorId, ExecutorKind, ToolError, ToolExecutor, ToolOutput};
use crate::gate::{ByApproval, ByPolicy, Permit};
use crate::scene::Scene;

/// Reads, writes, lists and searches files beneath the workspace.
///
/// Which paths may be used is decided on the real path, and what is opened is exactly that path: a
/// link that somebody puts there in between is refused.
#[derive(Debug, Clone)]
pub struct FileExecutor {
    settings: Arc<FileSettings>,
}

impl FileExecutor {
    /// Works under these settings.
    #[must_use]
    pub fn new(settings: FileSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    /// The same, but nothing in this folder is read or written, whatever is configured: for the
    /// folder in which the guard keeps its records and keys.
    #[must_use]
    pub fn protecting(self, folder: impl Into<PathBuf>) -> Self {
        let folder: PathBuf = folder.into();
        let mut settings = FileSettings::clone(&self.settings);
        settings.policy.protected.push(folder.canonicalize().unwrap_or(folder));
        Self { settings: Arc::new(settings) }
    }

    /// The place that a call is about, if it may be used.
    fn place(
        &self,
        call: &Admitted,
        scene: &Scene<'_>,
        tool: &FileTool,
        reach: Reach,
    ) -> Result<Place, ToolError> {
        let (arguments, settings) = (call.arguments(), self.settings.as_ref());
        let roots = &Roots::new(scene.workspace, &settings.directories)?;
        Work { arguments, roots, settings, reach, stop: &Stop::default() }.place(tool.need)
    }

    async fn run(
        &self,
        call: &Admitted,
        scene: &Scene<'_>,
        reach: Reach,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let Some(tool) = tool(&call.tool().name) else { return Ok(None) };
        let (arguments, settings) = (call.arguments().clone(), Arc::clone(&self.settings));
        let (workspace, stop) = (scene.workspace.to_owned(), Arc::new(Stop::default()));
        // INVARIANT: once this future is dropped, nothing is written any more.
        let giving_up = GiveUp(Arc::clone(&stop));
        let working = tokio::task::spawn_blocking(move || {
            let roots = &Roots::new(&workspace, &settings.directories)?;
            let (arguments, settings, stop) = (&arguments, settings.as_ref(), stop.as_ref());
            (tool.run)(&Work { arguments, roots, settings, reach, stop })
        });
        let ended = working.await;
        drop(giving_up);
        let broken = |_| ToolError::of(ToolErrorCategory::PermanentFailure, "the tool broke off");
        ended.map_err(broken)?.map(Some)
    }
}

fn tool(name: &str) -> Option<&'static FileTool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl ToolExecutor for FileExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::File, "")
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        TOOLS.iter().map(FileTool::definition).collect()
    }

    fn owns(&self, name: &str) -> bool {
        tool(name).is_some()
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
        self.run(permit.call(), scene, reach).await
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.run(permit.call(), scene, Reach::Folders).await
    }

    /// Reading asks nobody: what it may see is settled. Writing asks nobody in the workspace, in a
    /// turn that is at least provisional.
    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        let name = &call.tool().name;
        let Some(tool) = tool(name) else {
            return Some(format!("`{name}` is not this executor's tool"));
        };
        if !tool.need.writes() || scene.trust == TrustLevel::Trusted {
            return None;
        }
        if scene.trust == TrustLevel::Untrusted {
            return Some("content from strangers led to it, and it writes".to_owned());
        }
        match self.place(call, scene, tool, Reach::Folders) {
            Ok(place) if place.in_workspace => None,
            Ok(_) => Some("it writes outside the workspace".to_owned()),
            // It cannot have an effect: the executor refuses it for the same reason.
            Err(_) => None,
        }
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        self.place(call, scene, tool(&call.tool().name)?, Reach::Folders).err()
    }

    /// A tool that changes nothing the second time may be tried again.
    fn is_tool_retryable(&self, name: &str) -> bool {
        tool(name).is_some_and(|tool| tool.idempotent)
    }

    fn is_tool_speculatable(&self, name: &str) -> bool {
        tool(name).is_some_and(|tool| !tool.need.writes())
    }
}
