//! What goes wrong with files, in words and categories.

use std::io;

use counterfoil_model::ToolErrorCategory;
use rustix::io::Errno;

use super::shown::shown;
use crate::{ToolError, classify_io};

/// An argument that cannot be used.
pub(super) fn wrong(message: impl Into<String>) -> ToolError {
    ToolError::of(ToolErrorCategory::InvalidParameters, message)
}

/// Something that may not be done, whoever asks.
pub(super) fn denied(message: impl Into<String>) -> ToolError {
    ToolError::of(ToolErrorCategory::PolicyBlocked, message)
}

/// Something that cannot be done, however often it is tried.
pub(super) fn impossible(message: impl Into<String>) -> ToolError {
    ToolError::of(ToolErrorCategory::PermanentFailure, message)
}

/// An error of the system about this path.
pub(super) fn trouble(path: &str, error: &io::Error) -> ToolError {
    let path = shown(path);
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    // The path was in its one real form: a link in it was put there since.
    if is(Errno::LOOP) || is(Errno::XDEV) {
        return denied(format!("`{path}` changed while it was opened"));
    }
    match error.kind() {
        io::ErrorKind::NotFound => impossible(format!("there is no `{path}`")),
        io::ErrorKind::PermissionDenied => {
            impossible(format!("the system does not let this process use `{path}`"))
        }
        io::ErrorKind::NotADirectory => {
            impossible(format!("a part of `{path}` is not a directory"))
        }
        kind => ToolError::of(classify_io(kind), format!("`{path}` cannot be used: {error}")),
    }
}
