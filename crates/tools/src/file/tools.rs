use std::path::PathBuf;
use std::sync::Arc;

use counterfoil_ledger::TrustLevel;
use counterfoil_model::{Tool, ToolErrorCategory};

use super::TOOLS;
use super::place::{Place, Roots};
use super::stop::{GiveUp, Stop};
use super::tool::{FileTool, Reach, Work};
use crate::FileSettings;
use crate::scene::Scene;
use crate::wanted::Wanted;
use crate::{ToolError, ToolOutput};

/// Reads, writes, lists and searches files beneath the workspace. The guard decides who may do so.
///
/// The policy checks the canonical path, and exactly that path is opened: a link added in between
/// is refused.
#[derive(Debug, Clone)]
pub struct FileTools {
    settings: Arc<FileSettings>,
}

impl FileTools {
    /// Creates the tools with these settings.
    #[must_use]
    pub fn new(settings: FileSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    /// Forbids reading and writing in this folder, whatever is configured. Used for the folder of
    /// the guard's records and keys.
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
        call: Wanted<'_>,
        scene: &Scene<'_>,
        tool: &FileTool,
        reach: Reach,
    ) -> Result<Place, ToolError> {
        let (arguments, settings) = (call.arguments, self.settings.as_ref());
        let roots = &Roots::new(scene.workspace, &settings.directories)?;
        Work { arguments, roots, settings, reach, stop: &Stop::default() }.place(tool.need)
    }

    /// Performs one call within its reach; `None` if the tool is not a file tool.
    ///
    /// # Errors
    /// When it cannot be performed.
    pub async fn perform(
        &self,
        call: Wanted<'_>,
        scene: &Scene<'_>,
        reach: Reach,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let Some(tool) = tool(call.tool) else { return Ok(None) };
        let (arguments, settings) = (call.arguments.clone(), Arc::clone(&self.settings));
        let (workspace, stop) = (scene.workspace.to_owned(), Arc::new(Stop::default()));
        // INVARIANT: once this future is dropped, nothing is written.
        let giving_up = GiveUp(Arc::clone(&stop));
        let working = tokio::task::spawn_blocking(move || {
            let roots = &Roots::new(&workspace, &settings.directories)?;
            let (arguments, settings, stop) = (&arguments, settings.as_ref(), stop.as_ref());
            (tool.run)(&Work { arguments, roots, settings, reach, stop })
        });
        let ended = working.await;
        drop(giving_up);
        let broken = |_| {
            ToolError::new(ToolErrorCategory::PermanentFailure, "the tool stopped unexpectedly")
        };
        ended.map_err(broken)?.map(Some)
    }
}

fn tool(name: &str) -> Option<&'static FileTool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl FileTools {
    /// The definitions of the tools.
    #[must_use]
    pub fn definitions() -> Vec<Tool> {
        TOOLS.iter().map(FileTool::definition).collect()
    }

    /// Whether a tool of this name is a file tool.
    #[must_use]
    pub fn owns(name: &str) -> bool {
        tool(name).is_some()
    }

    /// Why a person has to approve this call first.
    ///
    /// Reading needs no approval, because the policy settles it. Writing in the workspace needs
    /// none in a turn that is at least provisional.
    #[must_use]
    pub fn question(&self, call: Wanted<'_>, scene: &Scene<'_>) -> Option<String> {
        let name = call.tool;
        let Some(tool) = tool(name) else {
            return Some(format!("`{name}` is not a tool of this executor"));
        };
        if !tool.need.writes() || scene.trust == TrustLevel::Trusted {
            return None;
        }
        if scene.trust == TrustLevel::Untrusted {
            return Some("untrusted content led to this call, which writes a file".to_owned());
        }
        match self.place(call, scene, tool, Reach::Folders) {
            Ok(place) if place.in_workspace => None,
            Ok(_) => Some("the call writes outside the workspace".to_owned()),
            // It cannot have an effect: the executor refuses it for the same reason.
            Err(_) => None,
        }
    }

    /// Why it would be refused even with approval, as far as is known in advance.
    #[must_use]
    pub fn refusal(&self, call: Wanted<'_>, scene: &Scene<'_>) -> Option<ToolError> {
        self.place(call, scene, tool(call.tool)?, Reach::Folders).err()
    }

    /// Whether repeating a call of the tool changes nothing.
    #[must_use]
    pub fn is_idempotent(name: &str) -> bool {
        tool(name).is_some_and(|tool| tool.idempotent)
    }

    /// Whether a tool writes nothing.
    #[must_use]
    pub fn only_reads(name: &str) -> bool {
        tool(name).is_some_and(|tool| !tool.need.writes())
    }
}
