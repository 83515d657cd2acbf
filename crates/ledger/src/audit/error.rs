use std::io;
use std::path::{Path, PathBuf};

use super::line::LineError;

/// An audit log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenAuditError {
    /// Somebody put a link in its place.
    #[error("the audit log `{}` is a link, which is not followed", .0.display())]
    Link(PathBuf),
    /// Its end is not as it was written; nothing can continue it.
    #[error("the end of the audit log `{}` is not as it was written: {why}", path.display())]
    BrokenEnd {
        /// The file.
        path: PathBuf,
        /// What is wrong with its last line.
        why: LineError,
    },
    /// The file system said no.
    #[error("the audit log `{}` cannot be opened: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl OpenAuditError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Link(_) => "put the file itself there, or name another state folder",
            Self::BrokenEnd { .. } => {
                "`counterfoil audit verify` names the place; keep the files and move them aside to begin anew"
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "free some space: nothing runs that cannot be written down"
            }
            Self::Io { .. } => "the file must be a regular file that you own and may write",
        }
    }
}

/// A call cannot be written down.
#[derive(Debug, thiserror::Error)]
pub enum AppendAuditError {
    /// The file system said no. Nothing of the line stays.
    #[error("the audit log `{}` cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// What others wrote since does not continue what was there.
    #[error("the audit log `{}` was changed from outside: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with a line.
        why: LineError,
    },
    /// Lines that were there are gone.
    #[error("the audit log `{}` was cut from outside: {expected} lines were there, {found} are", path.display())]
    Cut {
        /// The file.
        path: PathBuf,
        /// Lines that were there.
        expected: u64,
        /// Lines that are there.
        found: u64,
    },
    /// The log was put aside, or a link stands there now.
    #[error("the audit log cannot be opened again: {0}")]
    Reopen(#[from] OpenAuditError),
    /// The clock gives a time that no date has.
    #[error("the time {0} has no date")]
    Time(i64),
}

/// What the file system said about opening, as an error.
pub(super) fn open_error(path: &Path, source: io::Error) -> OpenAuditError {
    if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        OpenAuditError::Link(path.to_owned())
    } else {
        OpenAuditError::Io { path: path.to_owned(), source }
    }
}
