use std::collections::HashSet;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use globset::GlobSet;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::{Entry, Left, TransactionSettings, Was};

/// The list of what a snapshot holds.
pub(super) const LIST: &str = "snapshot.json";
/// More paths than this are not copied.
const MOST_PATHS: usize = 100_000;

/// Copies of files in a folder that goes with it.
#[derive(Debug)]
pub(super) struct Snapshot {
    folder: TempDir,
    pub(super) entries: Vec<Entry>,
}

struct Taking<'t> {
    folder: &'t Path,
    workspace: &'t Path,
    scope: &'t GlobSet,
    max_bytes: Option<u64>,
    bytes: u64,
    entries: Vec<Entry>,
    seen: HashSet<PathBuf>,
}

impl Snapshot {
    /// Copies what stands at the paths, folders with all that is in them.
    pub(super) fn take(
        paths: &[PathBuf],
        workspace: &Path,
        settings: &TransactionSettings,
    ) -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix(&format!("countersign-snapshot-{}-", std::process::id()))
            .tempdir();
        let folder = folder.map_err(|error| format!("no temporary folder: {error}"))?;
        let mut taking = Taking {
            folder: folder.path(),
            workspace,
            scope: &settings.scope,
            max_bytes: settings.max_bytes,
            bytes: 0,
            entries: Vec::new(),
            seen: HashSet::new(),
        };
        for path in paths {
            taking.path(path)?;
        }
        let entries = taking.entries;
        Ok(Self { folder, entries })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Moves the snapshot to where it outlives the process, and drops all but the last ones.
    pub(super) fn keep(&mut self, kept: &Path, id: &str, most: usize) -> io::Result<()> {
        for entry in &mut self.entries {
            entry.left = Some(left(&entry.path)?);
        }
        private_folder(kept)?;
        let place = kept.join(file_name(id));
        private_folder(&place)?;
        for entry in &self.entries {
            if let Was::File { copy, .. } = &entry.was {
                fs::copy(self.folder.path().join(copy), place.join(copy))?;
            }
        }
        let list = serde_json::to_vec(&self.entries)?;
        // The list comes last: a snapshot without one is none.
        let mut file = fs::File::create_new(place.join(LIST))?;
        io::Write::write_all(&mut file, &list)?;
        file.sync_all()?;
        drop_old(kept, most)
    }
}

fn drop_old(kept: &Path, most: usize) -> io::Result<()> {
    let mut found = Vec::new();
    for entry in fs::read_dir(kept)? {
        let entry = entry?;
        found.push((entry.metadata()?.modified()?, entry.path()));
    }
    found.sort();
    for (_, path) in found.iter().take(found.len().saturating_sub(most)) {
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

fn private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// The name of an execution's snapshot: ids hold characters that names do not.
pub(super) fn file_name(execution_id: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '+' };
    format!("s-{}", execution_id.chars().map(kept).collect::<String>())
}

/// What stands at a path now.
pub(super) fn left(path: &Path) -> io::Result<Left> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(Left::Absent),
        Err(error) => return Err(error),
    };
    if metadata.is_dir() {
        return Ok(Left::Folder);
    }
    if metadata.is_symlink() {
        return Ok(Left::Link { target: fs::read_link(path)? });
    }
    let mut hash = Sha256::new();
    let mut file = fs::File::open(path)?;
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => hash.update(piece.get(..count).unwrap_or_default()),
        }
    }
    Ok(Left::File { digest: countersign_model::Digest::from_bytes(hash.finalize().into()) })
}

/// There is nothing, or nothing that could be reached.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Taking<'_> {
    fn path(&mut self, path: &Path) -> Result<(), String> {
        if !self.seen.insert(path.to_owned()) {
            return Ok(());
        }
        let failed = |error: io::Error| format!("`{}`: {error}", path.display());
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return self.add(path, Was::Absent),
            Err(error) => return Err(failed(error)),
        };
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_symlink() {
            let target = fs::read_link(path).map_err(failed)?;
            // What is written through the link is what it leads to.
            let behind = path.canonicalize();
            self.add(path, Was::Link { target })?;
            return match behind {
                Ok(behind) if behind.is_file() => self.path(&behind),
                _ => Ok(()),
            };
        }
        if metadata.is_dir() {
            self.add(path, Was::Folder { mode })?;
            for entry in fs::read_dir(path).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                // Version control keeps itself.
                if entry.file_name() != ".git" {
                    self.path(&entry.path())?;
                }
            }
            return Ok(());
        }
        if !metadata.is_file() || !self.in_scope(path) {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(metadata.len());
        if self.max_bytes.is_some_and(|most| self.bytes > most) {
            let most = self.max_bytes.unwrap_or_default();
            return Err(format!("it would be larger than the {most} bytes that it may have"));
        }
        let copy = format!("{:06}", self.entries.len());
        fs::copy(path, self.folder.join(&copy)).map_err(failed)?;
        self.add(path, Was::File { copy, mode })
    }

    fn add(&mut self, path: &Path, was: Was) -> Result<(), String> {
        if self.entries.len() >= MOST_PATHS {
            return Err(format!("there are more than {MOST_PATHS} paths to copy"));
        }
        if self.in_scope(path) {
            self.entries.push(Entry { path: path.to_owned(), was, left: None });
        }
        Ok(())
    }

    fn in_scope(&self, path: &Path) -> bool {
        self.scope.is_match(path.strip_prefix(self.workspace).unwrap_or(path))
    }
}
