use std::io;
use std::path::{Path, PathBuf};

use counterfoil_model::ToolErrorCategory;

use crate::ToolError;

/// The canonical directory in which a command starts: `requested`, relative to the workspace, which
/// must be beneath the workspace or one of the `further` folders. Links are resolved before the
/// check.
pub(super) fn directory(
    workspace: &Path,
    further: &[PathBuf],
    requested: Option<&str>,
) -> Result<PathBuf, ToolError> {
    if !workspace.is_absolute() {
        return Err(ToolError::new(
            ToolErrorCategory::PolicyBlocked,
            "there is no workspace to restrict the command to",
        ));
    }
    let root = workspace.canonicalize().map_err(|error| missing(workspace, &error))?;
    let Some(requested) = requested else { return Ok(root) };
    let found = root.join(requested);
    let found = found.canonicalize().map_err(|error| missing(Path::new(requested), &error))?;
    let further = further.iter().filter_map(|folder| folder.canonicalize().ok());
    if !std::iter::once(root).chain(further).any(|folder| found.starts_with(folder)) {
        let message = format!("the directory `{requested}` is outside the workspace");
        return Err(ToolError::new(ToolErrorCategory::PolicyBlocked, message));
    }
    if !found.is_dir() {
        let message = format!("`{requested}` is not a directory");
        return Err(ToolError::new(ToolErrorCategory::PermanentFailure, message));
    }
    Ok(found)
}

fn missing(path: &Path, error: &io::Error) -> ToolError {
    let message = format!("the directory `{}` cannot be used: {error}", path.display());
    ToolError::new(ToolErrorCategory::PermanentFailure, message)
}
