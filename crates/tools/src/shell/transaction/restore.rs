use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::FileType;

use super::entry::{Entry, Was};
use super::ground::{Ground, digest};
use super::snapshot::{Kept, LIST, Snapshot, file_name};
use crate::RolledBack;

/// Why an execution cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// There is no snapshot of it.
    #[error("there is no snapshot of `{0}`")]
    NoSnapshot(String),
    /// The snapshot cannot be read.
    #[error("the snapshot of `{id}` cannot be read: {reason}")]
    Unreadable {
        /// The execution.
        id: String,
        /// The reason.
        reason: String,
    },
    /// Files have changed since.
    #[error("files changed since the command ended: {}", .0.join(", "))]
    ChangedSince(
        /// Each of the files.
        Vec<String>,
    ),
    /// Folders that the command created contain files that it did not.
    #[error("files that the command did not create are in the way: {}", .0.join(", "))]
    InTheWay(
        /// Each of the files.
        Vec<String>,
    ),
    /// Some files could not be restored.
    #[error("not all files could be restored: {}", .0.join("; "))]
    Partial(
        /// Each of the files, with the reason.
        Vec<String>,
    ),
}

/// What to do about files that have changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinceChanged {
    /// Change nothing and return an error.
    Refuse,
    /// Restore them anyway. Files that the command did not create are never touched.
    Overwrite,
}

/// Whether the folder has a snapshot of this execution.
#[must_use]
pub fn has_snapshot(kept: &Path, execution_id: &str) -> bool {
    kept.join(file_name(execution_id)).join(LIST).exists()
}

/// Undoes the changes of an execution, from the snapshots in this folder, and removes its snapshot.
///
/// # Errors
/// When there is no snapshot, when files were changed or added since, or when some could not be
/// restored: the error names each file.
pub fn undo_snapshot(
    kept: &Path,
    execution_id: &str,
    changed: SinceChanged,
) -> Result<RolledBack, UndoError> {
    let folder = kept.join(file_name(execution_id));
    let unreadable = |reason: String| UndoError::Unreadable { id: execution_id.to_owned(), reason };
    let list = match fs::File::open(folder.join(LIST)) {
        Ok(list) => list,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(UndoError::NoSnapshot(execution_id.to_owned()));
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let Kept { workspace, entries } = serde_json::from_reader(io::BufReader::new(list))
        .map_err(|error| unreadable(error.to_string()))?;
    let ground = Ground::open(&workspace)
        .map_err(|error| unreadable(format!("`{}`: {error}", workspace.display())))?;
    if changed == SinceChanged::Refuse {
        let named = |path: &Path| workspace.join(path).display().to_string();
        let others = entries.iter().filter(|e| ground.left(&e.path).ok() != e.left);
        let others: Vec<String> = others.map(|entry| named(&entry.path)).collect();
        if !others.is_empty() {
            return Err(UndoError::ChangedSince(others));
        }
        let strange: Vec<String> =
            strangers(&ground, &entries).iter().map(|path| named(path)).collect();
        if !strange.is_empty() {
            return Err(UndoError::InTheWay(strange));
        }
    }
    let done = restore(&ground, &folder, &entries).map_err(UndoError::Partial)?;
    // Undone is undone: the next one to undo is the command before. If the folder cannot be removed,
    // a second attempt finds that the files have changed.
    let _removed = fs::remove_dir_all(&folder);
    Ok(done)
}

impl Snapshot {
    /// Restores everything right after the command: whatever is in a folder that it created belongs
    /// to it.
    pub(super) fn restore(&mut self) -> Result<RolledBack, Vec<String>> {
        self.add_made().map_err(|error| vec![error])?;
        restore(&self.ground, self.folder.path(), &self.entries)
    }
}

/// Files in folders that the command created, which are not in the list.
fn strangers(ground: &Ground, entries: &[Entry]) -> Vec<std::path::PathBuf> {
    let known = |path: &Path| entries.iter().any(|entry| entry.path == path);
    let mut strange = Vec::new();
    for entry in entries.iter().filter(|entry| entry.goes_as_a_folder()) {
        let names = ground.names(&entry.path).unwrap_or_default();
        let paths = names.iter().map(|name| entry.path.join(name));
        strange.extend(paths.filter(|path| !known(path)));
    }
    strange
}

/// Restores every entry; the error names each that failed.
fn restore(ground: &Ground, copies: &Path, entries: &[Entry]) -> Result<RolledBack, Vec<String>> {
    let mut done = RolledBack::default();
    let mut failed = Vec::new();
    // First removes what was created, deepest first; then restores what was there, folders first.
    let (absent, there): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.was == Was::Absent);
    for entry in absent.into_iter().rev().chain(there) {
        match put_back(ground, copies, entry) {
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

fn put_back(ground: &Ground, copies: &Path, entry: &Entry) -> io::Result<Change> {
    let path = &entry.path;
    let now = ground.look(path)?;
    let is_folder = now.is_some_and(|now| now.kind == FileType::Directory);
    match &entry.was {
        Was::Absent if now.is_none() => Ok(Change::None),
        Was::Absent => {
            ground.remove(path, is_folder).map_err(clearer_error)?;
            Ok(Change::Deleted)
        }
        Was::Folder { mode } => {
            if is_folder && now.is_some_and(|now| now.mode == *mode) {
                return Ok(Change::None);
            }
            if now.is_some() && !is_folder {
                ground.remove(path, false)?;
            }
            ground.make_folder(path)?;
            ground.set_mode(path, *mode)?;
            Ok(Change::Restored)
        }
        Was::Link { target } => {
            let is_link = now.is_some_and(|now| now.kind == FileType::Symlink);
            if is_link && ground.read_link(path)? == *target {
                return Ok(Change::None);
            }
            if is_folder {
                ground.remove(path, true).map_err(clearer_error)?;
            }
            ground.put_link(path, target)?;
            Ok(Change::Restored)
        }
        Was::File { copy, mode, modified } => {
            let mut copy = fs::File::open(copies.join(copy))?;
            let same_mode = now.is_some_and(|now| now.mode == *mode);
            let regular = now.is_some_and(|now| now.kind == FileType::RegularFile);
            if same_mode && regular && ground.left(path)? == digest(&mut copy)? {
                return Ok(Change::None);
            }
            io::Seek::rewind(&mut copy)?;
            if is_folder {
                ground.remove(path, true).map_err(clearer_error)?;
            }
            ground.put_file(path, &mut copy, *mode, *modified)?;
            Ok(Change::Restored)
        }
    }
}

/// A clearer error for a folder that is not empty.
fn clearer_error(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::DirectoryNotEmpty => {
            io::Error::new(error.kind(), "it contains something that the command did not create")
        }
        _ => error,
    }
}
