use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

/// The files of the repository, as the checks see them.
pub(crate) struct House {
    /// The files by path from the root, with `/` between names. Files that are not UTF-8 have no
    /// text.
    files: BTreeMap<String, Option<String>>,
}

impl House {
    /// Reads the files that git tracks or would track; without git, everything except build output.
    #[expect(clippy::disallowed_methods, reason = "a developer tool reads the repository")]
    pub(crate) fn at(root: &Path) -> Result<Self> {
        let listed = std::process::Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output();
        let paths = match listed {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
                .split('\0')
                .filter(|path| !path.is_empty() && root.join(path).is_file())
                .map(str::to_owned)
                .collect(),
            _ => {
                let mut paths = Vec::new();
                walk(root, "", &mut paths)?;
                paths
            }
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let bytes =
                std::fs::read(root.join(&path)).with_context(|| format!("reading {path}"))?;
            files.insert(path, String::from_utf8(bytes).ok());
        }
        Ok(Self { files })
    }

    /// Returns every path, in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns every text file, in order of path.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Returns the text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether this file exists, or a folder that contains files.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(folder.clone()..)
                .next()
                .is_some_and(|(p, _)| p.starts_with(&folder))
    }

    /// Returns the Rust files directly in a folder, except `mod.rs`, as `(path, stem, text)`.
    pub(crate) fn modules_in(&self, folder: &str) -> impl Iterator<Item = (&str, &str, &str)> {
        let prefix = format!("{folder}/");
        self.texts().filter_map(move |(path, text)| {
            let stem = path.strip_prefix(&prefix)?.strip_suffix(".rs")?;
            (stem != "mod" && !stem.contains('/')).then_some((path, stem, text))
        })
    }

    /// Creates a house of these files, for the tests of the checks.
    #[cfg(test)]
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).into(), Some((*text).into())));
        Self { files: files.collect() }
    }
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<()> {
    let here = root.join(folder);
    for entry in here.read_dir().with_context(|| format!("reading {}", here.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if !entry.file_type()?.is_dir() {
            paths.push(path);
        } else if !matches!(name.as_str(), ".git" | "target") {
            walk(root, &path, paths)?;
        }
    }
    Ok(())
}
