use std::io;
use std::path::{Path, PathBuf};

use super::line::LineError;

/// Why an audit log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenAuditError {
    /// The path is a link.
    #[error("the audit log `{}` is a symbolic link; links are not followed", .0.display())]
    Link(PathBuf),
    /// The last line was changed, so nothing can continue the chain.
    #[error("the last line of the audit log `{}` is invalid: {why}", path.display())]
    BrokenEnd {
        /// The file.
        path: PathBuf,
        /// What is wrong with its last line.
        why: LineError,
    },
    /// An I/O error.
    #[error("the audit log `{}` cannot be opened: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

impl OpenAuditError {
    /// Advice for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Link(_) => {
                "replace the link with the file itself, or choose another state folder"
            }
            Self::BrokenEnd { .. } => {
                "`counterfoil audit verify` shows where; to start a new log, move these files \
                 aside and keep them"
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "free some disk space: a call that cannot be logged is not run"
            }
            Self::Io { .. } => "it must be a regular file that you own and can write to",
        }
    }
}

/// Why a call cannot be written to the log.
#[derive(Debug, thiserror::Error)]
pub enum AppendAuditError {
    /// An I/O error. Nothing of the line stays in the file.
    #[error("the audit log `{}` cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// What other processes have written since does not continue the chain.
    #[error("the audit log `{}` was changed by another program: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with the line.
        why: LineError,
    },
    /// Lines that this process had seen are gone.
    #[error("the audit log `{}` was truncated by another program: it had {expected} lines and now has {found}", path.display())]
    Cut {
        /// The file.
        path: PathBuf,
        /// The number of lines before.
        expected: u64,
        /// The number of lines now.
        found: u64,
    },
    /// The log was rotated or replaced, and the new file cannot be opened.
    #[error("the audit log cannot be reopened: {0}")]
    Reopen(#[from] OpenAuditError),
    /// The clock returned a time outside the range of dates.
    #[error("the time {0} (in milliseconds since 1970) is out of range")]
    Time(i64),
}

/// The error for a failed open.
pub(super) fn open_error(path: &Path, source: io::Error) -> OpenAuditError {
    if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        OpenAuditError::Link(path.to_owned())
    } else {
        OpenAuditError::Io { path: path.to_owned(), source }
    }
}
