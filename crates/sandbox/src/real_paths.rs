use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Canonicalises many paths that share folders, examining each folder once. For one command only,
/// because the files may change later.
#[derive(Debug, Default)]
pub(super) struct RealPaths {
    /// `None` if nothing exists there. Keyed by bytes, because paths are hashed component by
    /// component.
    known: HashMap<OsString, Option<PathBuf>>,
}

impl RealPaths {
    /// The absolute path without links and `..`; `None` if nothing exists there.
    pub(super) fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(path.as_os_str()) {
            return known.clone();
        }
        let real = self.look(path);
        self.known.insert(path.as_os_str().to_owned(), real.clone());
        real
    }

    fn look(&mut self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent().filter(|folder| folder.is_absolute());
        let (Some(folder), Some(name)) = (folder, path.file_name()) else {
            return path.canonicalize().ok();
        };
        let real = self.resolve(folder)?.join(name);
        let is_link = real.symlink_metadata().ok()?.is_symlink();
        if is_link { real.canonicalize().ok() } else { Some(real) }
    }
}

/// Files, and folders with all their content, as canonical paths.
#[derive(Debug, Default)]
pub(super) struct Trees(HashSet<OsString>);

impl Trees {
    pub(super) fn add<'p>(&mut self, roots: impl IntoIterator<Item = &'p PathBuf>) {
        self.0.extend(roots.into_iter().map(|root| root.as_os_str().to_owned()));
    }

    pub(super) fn hold(&self, path: &Path) -> bool {
        path.ancestors().any(|path| self.0.contains(path.as_os_str()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, create_dir_all};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_real_form_is_what_the_system_says() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        create_dir_all(at("folder/inner")).unwrap();
        File::create(at("folder/file")).unwrap();
        symlink("folder", at("link")).unwrap();
        symlink("nowhere", at("broken")).unwrap();
        symlink("../file", at("folder/inner/up")).unwrap();
        let mut real = RealPaths::default();
        for path in [
            "folder/inner",
            "folder/file",
            "link",
            "link/inner/up",
            "link/../folder/file",
            "link/inner/..",
            "folder/./inner",
            "broken",
            "broken/x",
            "folder/file/x",
            "missing/x",
        ] {
            assert_eq!(real.resolve(&at(path)), at(path).canonicalize().ok(), "{path}");
        }
        for path in ["/", "", ".", "src", "/proc/self/nothing"] {
            assert_eq!(
                real.resolve(Path::new(path)),
                Path::new(path).canonicalize().ok(),
                "{path}"
            );
        }
    }

    #[test]
    fn a_tree_holds_what_lies_below() {
        let mut trees = Trees::default();
        trees.add(&[PathBuf::from("/a/b")]);
        for (path, expected) in
            [("/a/b", true), ("/a/b/c/d", true), ("/a", false), ("/a/bc", false)]
        {
            assert_eq!(trees.hold(Path::new(path)), expected, "{path}");
        }
    }
}
