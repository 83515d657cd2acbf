//! Errors about files, with their messages and categories.

use std::io;

use counterfoil_model::ToolErrorCategory;
use rustix::io::Errno;

use super::shown::shown;
use crate::{ToolError, classify_io};

/// An invalid argument.
pub(super) fn wrong(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCategory::InvalidParameters, message)
}

/// An operation that the policy forbids.
pub(super) fn denied(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCategory::PolicyBlocked, message)
}

/// An operation that cannot succeed, even if retried.
pub(super) fn impossible(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCategory::PermanentFailure, message)
}

/// A system error about this path.
pub(super) fn trouble(path: &str, error: &io::Error) -> ToolError {
    let path = shown(path);
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    // The path was canonical, so a link in it was added since.
    if is(Errno::LOOP) || is(Errno::XDEV) {
        return denied(format!("`{path}` changed while it was being opened"));
    }
    match error.kind() {
        io::ErrorKind::NotFound => impossible(format!("`{path}` does not exist")),
        io::ErrorKind::PermissionDenied => {
            impossible(format!("the operating system denies access to `{path}`"))
        }
        io::ErrorKind::NotADirectory => {
            impossible(format!("part of the path `{path}` is not a directory"))
        }
        kind => ToolError::new(classify_io(kind), format!("`{path}` cannot be used: {error}")),
    }
}
