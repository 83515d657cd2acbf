use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use counterfoil_model::SideEffect;

/// Paths that a command seems to write to, with their state before it ran.
pub(super) struct Watched(Vec<(PathBuf, Option<Stamp>)>);

/// Metadata that changes with a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: (u64, u64),
    length: u64,
    changed: (i64, i64),
}

impl Watched {
    /// Records the state of the paths, which are relative to the directory in which the command
    /// starts.
    pub(super) fn before(paths: &[String], directory: &Path) -> Self {
        let mut paths: Vec<PathBuf> = paths
            .iter()
            .filter(|path| !path.starts_with('~'))
            .map(|path| directory.join(path))
            .collect();
        paths.sort();
        paths.dedup();
        Self(paths.into_iter().map(|path| (path.clone(), stamp(&path))).collect())
    }

    /// The paths that were changed, created or removed.
    pub(super) fn after(self) -> Vec<SideEffect> {
        let changed = self.0.into_iter().filter(|(path, before)| stamp(path) != *before);
        changed.map(|(path, _)| SideEffect::Wrote(path)).collect()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.symlink_metadata().ok()?;
    Some(Stamp {
        inode: (metadata.dev(), metadata.ino()),
        length: metadata.len(),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}
