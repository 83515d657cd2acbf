//! Snapshots of the files that a command seems to write to, so that they can be restored.

mod entry;
mod ground;
mod hosted;
mod restore;
mod snapshot;

use std::path::{Path, PathBuf};

use counterfoil_ledger::Requested;
use counterfoil_shell::{Effect, Script, WordKind};

use crate::scene::Scene;
use crate::settings::TransactionSettings;
use crate::{RolledBack, ToolError};

pub use hosted::{NoSnapshot, snapshot_after, snapshot_before};
pub use restore::{SinceChanged, UndoError, has_snapshot, undo_snapshot};
use snapshot::Snapshot;

/// One command between its snapshot and its end.
#[derive(Debug)]
pub(super) struct Transaction<'t> {
    settings: &'t TransactionSettings,
    snapshot: Snapshot,
}

impl<'t> Transaction<'t> {
    /// Copies what the command seems to write to. `None` if there is nothing to keep: transactions
    /// are off, the command writes nothing, or the user typed it.
    pub(super) fn begin(
        settings: &'t TransactionSettings,
        command: &str,
        directory: &Path,
        scene: &Scene<'_>,
    ) -> Result<Option<Self>, ToolError> {
        if !settings.enabled || scene.requested == Requested::ByUser {
            return Ok(None);
        }
        let paths = touched(command, directory, scene.workspace);
        if paths.is_empty() {
            return Ok(None);
        }
        match Snapshot::take(&paths, scene.workspace, settings) {
            Ok(snapshot) => Ok((!snapshot.is_empty()).then_some(Self { settings, snapshot })),
            Err(reason) if settings.required => Err(ToolError::SnapshotFailed { reason }),
            Err(reason) => {
                tracing::warn!("cannot take a snapshot of the files the command writes: {reason}");
                Ok(None)
            }
        }
    }

    /// Rolls back if the exit code asks for it; otherwise keeps the snapshot if snapshots are kept.
    pub(super) fn end(
        mut self,
        exit_code: i32,
        execution_id: &str,
        kept_in: Option<&Path>,
    ) -> Result<Option<RolledBack>, ToolError> {
        if self.settings.auto_rollback && self.settings.exit_codes.contains(&exit_code) {
            return self.snapshot.restore().map(Some).map_err(|failed| {
                let reason = failed.join("; ");
                ToolError::RollbackFailed { reason }
            });
        }
        if let Some(folder) = kept_in.filter(|_| self.settings.keep > 0)
            && let Err(error) = self.snapshot.keep(folder, execution_id, self.settings.keep)
        {
            tracing::warn!("the snapshot of `{execution_id}` could not be kept: {error}");
        }
        Ok(None)
    }
}

/// The paths that the command seems to write to. A pattern is replaced by its folder. Where the text
/// does not say which files it changes or deletes, it is the workspace.
fn touched(command: &str, directory: &Path, workspace: &Path) -> Vec<PathBuf> {
    let Ok(script) = Script::parse(command) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = Vec::new();
    for write in script.writes() {
        let text = write.path.text.as_str();
        let path = match write.path.kind {
            _ if text.starts_with('~') => continue,
            WordKind::Dynamic if write.effect == Effect::Created => continue,
            WordKind::Dynamic => "",
            WordKind::Literal => text,
            WordKind::Pattern => {
                let fixed = text.find(['*', '?', '[', '{']).unwrap_or(text.len());
                let before = text.get(..fixed).unwrap_or_default();
                before.rfind('/').and_then(|at| before.get(..=at)).unwrap_or(".")
            }
        };
        paths.push(if path.is_empty() { workspace.to_owned() } else { directory.join(path) });
    }
    if script.changes_unnamed() {
        paths.push(workspace.to_owned());
    }
    paths.sort();
    paths.dedup();
    paths
}
