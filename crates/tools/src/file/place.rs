//! Resolves the path in a call to a place beneath a root.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::failure::{denied, impossible, trouble, wrong};
use super::policy::Need;
use super::shown::shown;
use crate::FileSettings;
use crate::ToolError;
use crate::beneath::Root;

/// The workspace and the additional folders, as canonical paths.
#[derive(Debug)]
pub(super) struct Roots {
    /// The workspace first.
    folders: Vec<PathBuf>,
    /// The workspace as named, which may be through a link.
    named: PathBuf,
}

/// A place beneath a root that the policy allows a tool to use. No link was on its path when it was
/// checked; opening it refuses links added since.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) root: Root,
    /// The path relative to the root; empty for the root itself.
    pub(super) relative: PathBuf,
    /// The path as the call named it.
    pub(super) requested: String,
    /// Whether the root is the workspace.
    pub(super) in_workspace: bool,
}

impl Place {
    /// The absolute path.
    pub(super) fn full(&self) -> PathBuf {
        self.root.path().join(&self.relative)
    }

    /// Checks that the content may be read, once nothing denies it.
    pub(super) fn permit_content(&self, settings: &FileSettings) -> Result<(), ToolError> {
        if settings.policy.allows(&self.full(), &self.relative) {
            return Ok(());
        }
        let requested = shown(&self.requested);
        Err(denied(format!("`{requested}` is not in `tools.file.allow_read`")))
    }

    /// The path in this root as shown to the caller: relative to the workspace, otherwise absolute.
    pub(super) fn named(&self, relative: &Path) -> PathBuf {
        if self.in_workspace { relative.to_owned() } else { self.root.path().join(relative) }
    }
}

impl Roots {
    pub(super) fn new(workspace: &Path, further: &[PathBuf]) -> Result<Self, ToolError> {
        if !workspace.is_absolute() {
            return Err(denied("there is no workspace in which files can be accessed"));
        }
        let named = workspace.to_owned();
        let workspace = workspace
            .canonicalize()
            .map_err(|error| trouble(&workspace.to_string_lossy(), &error))?;
        let further = further.iter().filter_map(|folder| folder.canonicalize().ok());
        Ok(Self { folders: std::iter::once(workspace).chain(further).collect(), named })
    }

    /// The place that a path, relative to the workspace, names.
    ///
    /// INVARIANT: the policy checks both the canonical path and the path as written; deny comes
    /// first, then allow.
    pub(super) fn place(
        &self,
        requested: &str,
        need: Need,
        settings: &FileSettings,
    ) -> Result<Place, ToolError> {
        let written = self.written(requested)?;
        let (root, relative) = self.root_of(&written).ok_or_else(|| outside(requested))?;
        self.permit(requested, root, &relative, need, settings)?;
        let real = real(&written).map_err(|error| trouble(requested, &error))?;
        let (root, relative) = self.root_of(&real).ok_or_else(|| outside(requested))?;
        self.permit(requested, root, &relative, need, settings)?;
        let in_workspace = self.folders.first().is_some_and(|first| first == root);
        let root = Root::open(root).map_err(|error| trouble(requested, &error))?;
        let place = Place { root, relative, requested: requested.to_owned(), in_workspace };
        if need.reads() {
            place.permit_content(settings)?;
        }
        Ok(place)
    }

    /// The absolute path as written, without `.` and `..`.
    fn written(&self, requested: &str) -> Result<PathBuf, ToolError> {
        if requested.is_empty() || requested.contains('\0') {
            return Err(wrong("`path` is not a valid path"));
        }
        if requested == "~" || requested.starts_with("~/") {
            return Err(denied("`~` is a folder outside the workspace"));
        }
        let workspace = self.folders.first().ok_or_else(|| impossible("there is no workspace"))?;
        let mut written = PathBuf::new();
        for part in workspace.join(requested).components() {
            match part {
                Component::ParentDir => drop(written.pop()),
                Component::CurDir => {}
                part => written.push(part),
            }
        }
        match written.strip_prefix(&self.named) {
            Ok(inside) => Ok(workspace.join(inside)),
            Err(_) => Ok(written),
        }
    }

    /// The innermost root that contains a path, and the path relative to it.
    fn root_of(&self, path: &Path) -> Option<(&Path, PathBuf)> {
        self.folders
            .iter()
            .filter_map(|folder| {
                let relative = path.strip_prefix(folder).ok()?;
                Some((folder.as_path(), relative.to_owned()))
            })
            .min_by_key(|(_, relative)| relative.components().count())
    }

    fn permit(
        &self,
        requested: &str,
        root: &Path,
        relative: &Path,
        need: Need,
        settings: &FileSettings,
    ) -> Result<(), ToolError> {
        match settings.policy.denial(&root.join(relative), relative, need) {
            None => Ok(()),
            Some(why) => {
                Err(denied(format!("access to `{}` is not allowed: {why}", shown(requested))))
            }
        }
    }
}

fn outside(requested: &str) -> ToolError {
    denied(format!("`{}` is outside the workspace", shown(requested)))
}

/// The canonical path as far as it exists; names that do not exist yet are kept. A dangling link is
/// an error.
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let mut known = path;
    loop {
        match known.canonicalize() {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Ok(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if known.is_symlink() {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidInput,
                        "it is, or is reached through, a broken link",
                    ));
                }
                let (Some(name), Some(parent)) = (known.file_name(), known.parent()) else {
                    return Err(error);
                };
                missing.push(name);
                known = parent;
            }
            Err(error) => return Err(error),
        }
    }
}
