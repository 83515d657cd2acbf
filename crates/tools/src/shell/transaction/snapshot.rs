use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use globset::GlobSet;
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::entry::{Entry, Was};
use super::ground::Ground;
use crate::settings::TransactionSettings;

/// The file with the list of a snapshot.
pub(super) const LIST: &str = "snapshot.json";
/// The maximum number of paths in a snapshot.
const MOST_PATHS: usize = 100_000;

/// Copies of files in a temporary folder.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) folder: TempDir,
    pub(super) ground: Ground,
    workspace: PathBuf,
    pub(super) entries: Vec<Entry>,
}

/// The list of a snapshot that outlives its process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The canonical path of the workspace.
    pub(super) workspace: PathBuf,
    /// The former state, by path in the workspace.
    pub(super) entries: Vec<Entry>,
}

struct Taking<'t> {
    ground: &'t Ground,
    folder: &'t Path,
    workspace: &'t Path,
    scope: &'t GlobSet,
    max_bytes: Option<u64>,
    bytes: u64,
    entries: Vec<Entry>,
    seen: HashSet<PathBuf>,
}

impl Snapshot {
    /// Copies what is at the paths, including everything in folders. Skips what is outside the
    /// workspace.
    pub(super) fn take(
        paths: &[PathBuf],
        workspace: &Path,
        settings: &TransactionSettings,
    ) -> Result<Self, String> {
        let opened = workspace.canonicalize().and_then(|real| Ok((Ground::open(&real)?, real)));
        let (ground, workspace) =
            opened.map_err(|error| format!("`{}`: {error}", workspace.display()))?;
        let folder = tempfile::Builder::new()
            .prefix(&format!("counterfoil-snapshot-{}-", std::process::id()))
            .tempdir();
        let folder =
            folder.map_err(|error| format!("cannot create a temporary folder: {error}"))?;
        let mut taking = Taking {
            ground: &ground,
            folder: folder.path(),
            workspace: &workspace,
            scope: &settings.scope,
            max_bytes: settings.max_bytes,
            bytes: 0,
            entries: Vec::new(),
            seen: HashSet::new(),
        };
        for path in paths {
            if let Some(path) = beneath(path, &workspace) {
                taking.absent_folders(&path)?;
                taking.path(&path)?;
            }
        }
        let entries = taking.entries;
        Ok(Self { folder, ground, workspace, entries })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lists everything in folders that the command created, so that nothing else is removed with
    /// them.
    pub(super) fn add_made(&mut self) -> Result<(), String> {
        add_made(&self.ground, &mut self.entries)
    }

    /// Moves the snapshot to permanent storage, and deletes all but the latest ones.
    pub(super) fn keep(&mut self, kept: &Path, id: &str, most: usize) -> io::Result<()> {
        self.add_made().map_err(io::Error::other)?;
        note_left(&self.ground, &mut self.entries)?;
        self.store(kept, id, most)
    }

    /// Stores the snapshot before the command has run.
    pub(super) fn store(&mut self, kept: &Path, id: &str, most: usize) -> io::Result<()> {
        private_folder(kept)?;
        let place = kept.join(file_name(id));
        private_folder(&place)?;
        for entry in &self.entries {
            if let Was::File { copy, .. } = &entry.was {
                fs::copy(self.folder.path().join(copy), place.join(copy))?;
            }
        }
        let entries = std::mem::take(&mut self.entries);
        Kept { workspace: self.workspace.clone(), entries }.write(&place)?;
        drop_old(kept, most)
    }
}

impl Kept {
    pub(super) fn read(place: &Path) -> io::Result<Self> {
        let list = fs::File::open(place.join(LIST))?;
        Ok(serde_json::from_reader(io::BufReader::new(list))?)
    }

    /// Writes the list last and atomically: a snapshot without a list is invalid.
    pub(super) fn write(&self, place: &Path) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(place)?;
        io::Write::write_all(&mut file, &serde_json::to_vec(self)?)?;
        file.as_file().sync_all()?;
        file.persist(place.join(LIST)).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Records what is at every path after the command has ended.
pub(super) fn note_left(ground: &Ground, entries: &mut [Entry]) -> io::Result<()> {
    for entry in entries {
        entry.left = Some(ground.left(&entry.path)?);
    }
    Ok(())
}

/// Lists everything in folders that a command created.
pub(super) fn add_made(ground: &Ground, entries: &mut Vec<Entry>) -> Result<(), String> {
    let mut seen: HashSet<PathBuf> = entries.iter().map(|e| e.path.clone()).collect();
    let mut at = 0;
    while let Some(entry) = entries.get(at) {
        at += 1;
        let failed = |error: io::Error| format!("{}: {error}", entry.path.display());
        let is_folder = |kind: FileType| kind == FileType::Directory;
        let made = !matches!(entry.was, Was::Folder { .. })
            && ground.look(&entry.path).map_err(failed)?.is_some_and(|s| is_folder(s.kind));
        if !made {
            continue;
        }
        let path = entry.path.clone();
        for name in ground.names(&path).map_err(failed)? {
            let path = path.join(name);
            if seen.insert(path.clone()) {
                entries.push(Entry { path, was: Was::Absent, left: None });
            }
        }
        if entries.len() > MOST_PATHS {
            return Err(format!("the command created more than {MOST_PATHS} paths"));
        }
    }
    // A folder precedes its content, so that it is removed after it.
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
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

/// The file name of an execution's snapshot: ids contain characters that file names must not.
pub(super) fn file_name(execution_id: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '+' };
    format!("s-{}", execution_id.chars().map(kept).collect::<String>())
}

/// The path in the workspace that a path leads to, with the links in its folders resolved now;
/// `None` if it leads outside.
fn beneath(path: &Path, workspace: &Path) -> Option<PathBuf> {
    let mut there = PathBuf::new();
    // A missing path has no canonical form: its name is appended to the existing part.
    for part in path.components() {
        match part {
            Component::ParentDir => {
                there.pop();
            }
            Component::CurDir => {}
            Component::Normal(name) => {
                if let Ok(real) = there.canonicalize() {
                    there = real;
                }
                there.push(name);
            }
            Component::RootDir | Component::Prefix(_) => there.push(part),
        }
    }
    there.strip_prefix(workspace).ok().map(Path::to_owned)
}

impl Taking<'_> {
    /// Records the parent folders of a path that do not exist yet.
    fn absent_folders(&mut self, path: &Path) -> Result<(), String> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        for folder in above.into_iter().filter(|folder| !folder.as_os_str().is_empty()) {
            let seen = self.ground.look(folder).map_err(|e| failed(folder, &e))?;
            if seen.is_none() && self.seen.insert(folder.to_owned()) {
                self.add(folder, Was::Absent)?;
            }
        }
        Ok(())
    }

    fn path(&mut self, path: &Path) -> Result<(), String> {
        if !self.seen.insert(path.to_owned()) {
            return Ok(());
        }
        let seen = self.ground.look(path).map_err(|error| failed(path, &error))?;
        let Some(seen) = seen else { return self.add(path, Was::Absent) };
        match seen.kind {
            FileType::Symlink => {
                let target = self.ground.read_link(path).map_err(|error| failed(path, &error))?;
                self.add(path, Was::Link { target })?;
                // Writing through the link changes its target.
                let leads_to = self.workspace.join(path).canonicalize().ok();
                let leads_to = leads_to.filter(|place| place.is_file());
                let leads_to = leads_to.as_deref().and_then(|place| beneath(place, self.workspace));
                leads_to.map_or(Ok(()), |place| self.path(&place))
            }
            FileType::Directory => {
                self.add(path, Was::Folder { mode: seen.mode })?;
                for name in self.ground.names(path).map_err(|error| failed(path, &error))? {
                    // Version control is its own backup.
                    if name != ".git" {
                        self.path(&path.join(name))?;
                    }
                }
                Ok(())
            }
            FileType::RegularFile if self.in_scope(path) => {
                self.bytes = self.bytes.saturating_add(seen.bytes);
                if let Some(most) = self.max_bytes.filter(|most| self.bytes > *most) {
                    return Err(format!("the snapshot would exceed the limit of {most} bytes"));
                }
                let copy = format!("{:06}", self.entries.len());
                self.copy(path, &copy).map_err(|error| failed(path, &error))?;
                self.add(path, Was::File { copy, mode: seen.mode, modified: Some(seen.modified) })
            }
            _ => Ok(()),
        }
    }

    fn copy(&self, path: &Path, copy: &str) -> io::Result<()> {
        let mut from = self.ground.read(path)?;
        let mut to = fs::File::create_new(self.folder.join(copy))?;
        io::copy(&mut from, &mut to).map(|_| ())
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
        self.scope.is_match(path)
    }
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {error}", path.display())
}
