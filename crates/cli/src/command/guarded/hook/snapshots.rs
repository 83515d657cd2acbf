use std::path::{Path, PathBuf};

use counterfoil_hooks::Snapshots;
use counterfoil_tools::{snapshot_after, snapshot_before};

/// The maximum number of commands that can be undone.
const KEPT: usize = 50;

/// Snapshots in the state folder.
#[derive(Debug)]
pub(super) struct SnapshotFolder(pub(super) PathBuf);

impl Snapshots for SnapshotFolder {
    fn before(
        &self,
        execution_id: &str,
        command: &str,
        directory: &Path,
        root: &Path,
    ) -> Result<(), String> {
        let taken = snapshot_before(command, (directory, root), &self.0, execution_id, KEPT);
        taken.map(drop).map_err(|error| error.to_string())
    }

    fn after(&self, execution_id: &str) -> Result<(), String> {
        snapshot_after(&self.0, execution_id).map_err(|error| error.to_string())
    }
}
