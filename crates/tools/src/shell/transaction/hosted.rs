//! Snapshots for commands that a host executes: one process takes them before the command, another
//! notes after it what the command left.

use std::io;
use std::path::Path;

use globset::{Glob, GlobSet};

use super::ground::Ground;
use super::snapshot::{Kept, Snapshot, add_made, file_name, note_left};
use super::touched;
use crate::settings::TransactionSettings;

/// More is not copied before a command of a host, which waits for it.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Why there is no snapshot of what a command of a host changes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what the command changes cannot be undone: {0}")]
pub struct NoSnapshot(String);

/// Keeps what a command of a host seems to write, as it is before it runs. Gives whether there is
/// something to keep.
///
/// # Errors
/// When it cannot be copied: it is too much, or the folder cannot be written.
pub fn snapshot_before(
    command: &str,
    (directory, workspace): (&Path, &Path),
    kept: &Path,
    execution_id: &str,
    most: usize,
) -> Result<bool, NoSnapshot> {
    let paths = touched(command, directory);
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

/// Notes what the command left, once it has ended: what is changed later is not undone unseen.
///
/// # Errors
/// When the snapshot cannot be read or written. Where there is none, nothing happens.
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
