//! Snapshots for commands that a host executes: one process takes them before the command, another
//! records afterwards what it left.

use std::io;
use std::path::Path;

use globset::{Glob, GlobSet};

use super::ground::Ground;
use super::snapshot::{Kept, Snapshot, add_made, file_name, note_left};
use super::touched;
use crate::settings::TransactionSettings;

/// The maximum size of a snapshot in bytes: the host waits for it.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Why there is no snapshot for a command of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the command's changes cannot be undone: {0}")]
pub struct NoSnapshot(String);

/// Snapshots what a command of a host seems to write to, before it runs. Returns whether there was
/// anything to keep.
///
/// # Errors
/// When it cannot be copied: it is too large, or the folder is not writable.
pub fn snapshot_before(
    command: &str,
    (directory, workspace): (&Path, &Path),
    kept: &Path,
    execution_id: &str,
    most: usize,
) -> Result<bool, NoSnapshot> {
    let paths = touched(command, directory, workspace);
    if paths.is_empty() {
        return Ok(false);
    }
    let all = Glob::new("**").and_then(|all| GlobSet::new([all]));
    let scope = all.map_err(|error| NoSnapshot(error.to_string()))?;
    let settings = TransactionSettings {
        enabled: true,
        scope,
        max_bytes: Some(MOST_BYTES),
        ..TransactionSettings::default()
    };
    let mut snapshot = Snapshot::take(&paths, workspace, &settings).map_err(NoSnapshot)?;
    if snapshot.is_empty() {
        return Ok(false);
    }
    let stored = snapshot.store(kept, execution_id, most);
    stored.map_err(|error| NoSnapshot(error.to_string()))?;
    Ok(true)
}

/// Records what the command left once it has ended, so that later changes are noticed before an
/// undo.
///
/// # Errors
/// When the snapshot cannot be read or written. Without a snapshot, does nothing.
pub fn snapshot_after(kept: &Path, execution_id: &str) -> io::Result<()> {
    let place = kept.join(file_name(execution_id));
    let mut list = match Kept::read(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        list => list?,
    };
    let ground = Ground::open(&list.workspace)?;
    add_made(&ground, &mut list.entries).map_err(io::Error::other)?;
    note_left(&ground, &mut list.entries)?;
    list.write(&place)
}
