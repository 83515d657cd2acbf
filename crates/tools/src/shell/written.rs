use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use counterfoil_model::SideEffect;

/// Paths that a command seems to write, as they were before it ran.
pub(super) struct Watched(Vec<(PathBuf, Option<Stamp>)>);

/// What changes when a file or directory does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: (u64, u64),
    length: u64,
    changed: (i64, i64),
}

impl Watched {
    /// Looks at the paths, seen from the directory in which the command starts.
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

    /// Those that are not as they were: changed, created or gone.
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
