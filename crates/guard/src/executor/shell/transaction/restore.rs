use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::snapshot::{LIST, Snapshot, file_name, is_absent, left};
use super::{Entry, Was};
use crate::executor::RolledBack;

/// Why an execution cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// Nothing is kept of it.
    #[error("there is no snapshot of `{0}`")]
    NoSnapshot(String),
    /// What is kept cannot be read.
    #[error("the snapshot of `{id}` cannot be read: {reason}")]
    Unreadable {
        /// The execution.
        id: String,
        /// Why not.
        reason: String,
    },
    /// Somebody changed files since.
    #[error("changed since the command ended: {}", .0.join(", "))]
    ChangedSince(
        /// Each of the files.
        Vec<String>,
    ),
    /// Files are not as they were, in part.
    #[error("not everything could be put back: {}", .0.join("; "))]
    Partial(
        /// Each of the files, with the reason.
        Vec<String>,
    ),
}

/// What to do about files that were changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinceChanged {
    /// Leave everything as it is, and say so.
    Refuse,
    /// Put it back all the same.
    Overwrite,
}

/// Puts back what an execution changed, from the snapshots in this folder.
///
/// # Errors
/// Where there is no snapshot, where files were changed since, and where not all could be put
/// back: each file is named.
pub fn undo_snapshot(
    kept: &Path,
    execution_id: &str,
    changed: SinceChanged,
) -> Result<RolledBack, UndoError> {
    let folder = kept.join(file_name(execution_id));
    let unreadable = |reason: String| UndoError::Unreadable { id: execution_id.to_owned(), reason };
    let list = match fs::File::open(folder.join(LIST)) {
        Ok(list) => list,
        Err(error) if is_absent(&error) => {
            return Err(UndoError::NoSnapshot(execution_id.to_owned()));
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let entries: Vec<Entry> = serde_json::from_reader(io::BufReader::new(list))
        .map_err(|error| unreadable(error.to_string()))?;
    if changed == SinceChanged::Refuse {
        let others = entries.iter().filter(|entry| left(&entry.path).ok() != entry.left);
        let others: Vec<String> = others.map(|entry| entry.path.display().to_string()).collect();
        if !others.is_empty() {
            return Err(UndoError::ChangedSince(others));
        }
    }
    restore(&folder, &entries).map_err(UndoError::Partial)
}

impl Snapshot {
    /// Puts everything back.
    pub(super) fn restore(&self) -> Result<RolledBack, Vec<String>> {
        restore(self.folder(), &self.entries)
    }
}

/// Puts every entry back; each that could not be is named.
fn restore(folder: &Path, entries: &[Entry]) -> Result<RolledBack, Vec<String>> {
    let mut done = RolledBack::default();
    let mut failed = Vec::new();
    // What was made goes first, the deepest first; then what was there comes, folders first.
    let (absent, there): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.was == Was::Absent);
    for entry in absent.into_iter().rev().chain(there) {
        match put_back(folder, entry) {
            Ok(Change::None) => {}
            Ok(Change::Restored) => done.restored += 1,
            Ok(Change::Deleted) => done.deleted += 1,
            Err(error) => failed.push(format!("{}: {error}", entry.path.display())),
        }
    }
    if failed.is_empty() { Ok(done) } else { Err(failed) }
}

enum Change {
    None,
    Restored,
    Deleted,
}

fn put_back(folder: &Path, entry: &Entry) -> io::Result<Change> {
    let path = &entry.path;
    let now = match path.symlink_metadata() {
        Ok(metadata) => Some(metadata),
        Err(error) if is_absent(&error) => None,
        Err(error) => return Err(error),
    };
    let is_dir = now.as_ref().is_some_and(fs::Metadata::is_dir);
    match &entry.was {
        Was::Absent => match now {
            None => Ok(Change::None),
            Some(_) if is_dir => fs::remove_dir_all(path).map(|()| Change::Deleted),
            Some(_) => fs::remove_file(path).map(|()| Change::Deleted),
        },
        Was::Folder { mode } => {
            if is_dir && now.is_some_and(|now| now.permissions().mode() & 0o7777 == *mode) {
                return Ok(Change::None);
            }
            if !is_dir {
                clear(path)?;
                fs::create_dir_all(path)?;
            }
            fs::set_permissions(path, fs::Permissions::from_mode(*mode))?;
            Ok(Change::Restored)
        }
        Was::Link { target } => {
            if fs::read_link(path).is_ok_and(|now| now == *target) {
                return Ok(Change::None);
            }
            replace(path, is_dir, |beside| symlink(target, beside))
        }
        Was::File { copy, mode } => {
            let copy = folder.join(copy);
            let same_mode =
                now.as_ref().is_some_and(|now| now.permissions().mode() & 0o7777 == *mode);
            let regular = now.is_some_and(|now| now.is_file());
            if same_mode && regular && left(path)? == left(&copy)? {
                return Ok(Change::None);
            }
            replace(path, is_dir, |beside| {
                fs::copy(&copy, beside)?;
                fs::set_permissions(beside, fs::Permissions::from_mode(*mode))?;
                fs::File::open(beside)?.sync_all()
            })
        }
    }
}

/// Makes the new one beside the path and renames it over: at no time is half of it there.
fn replace(
    path: &Path,
    is_dir: bool,
    make: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<Change> {
    let parent = path.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    fs::create_dir_all(parent)?;
    let beside = tempfile::Builder::new().prefix(".countersign-undo-").tempdir_in(parent)?;
    let new = beside.path().join("new");
    make(&new)?;
    if is_dir {
        // A folder cannot be renamed over: it steps aside, and goes with what stands beside.
        fs::rename(path, beside.path().join("old"))?;
    }
    fs::rename(&new, path)?;
    Ok(Change::Restored)
}

/// Removes what stands where a folder belongs.
fn clear(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}
