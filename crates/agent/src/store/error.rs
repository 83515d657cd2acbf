use std::io::{self, ErrorKind};
use std::path::PathBuf;

use rusqlite::ErrorCode;

use super::schema::USER_VERSION;

/// Why a store could not be opened, read or written. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder of the file does not exist.
    #[error("the folder for the agent's store does not exist")]
    NoFolder,
    /// The path leads to a folder, a symbolic link or a device.
    #[error("the agent's store is not a regular file")]
    NotAFile,
    /// The file is something else.
    #[error("the file is not an agent store")]
    NotAStore,
    /// A newer version of this program wrote it.
    #[error("the agent's store has version {0}; this program reads up to version {USER_VERSION}")]
    Newer(i32),
    /// Another process has it for itself, or has been writing all the time.
    #[error("the agent's store is locked by another process")]
    Locked,
    /// The file, its folder or its file system allows no writing.
    #[error("the agent's store is read-only")]
    ReadOnly,
    /// There is no room.
    #[error("not enough disk space to write the agent's store")]
    Full,
    /// The file is damaged.
    #[error("the agent's store is damaged: {0}")]
    Corrupt(String),
    /// The system or SQLite reported something else.
    #[error("the agent's store cannot be used: {0}")]
    Failed(String),
}

impl StoreError {
    /// What can be done about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoFolder => "create the folder, or specify a path in an existing one",
            Self::NotAFile | Self::NotAStore => {
                "specify the path of an agent store, or of a file that does not exist yet"
            }
            Self::Newer(_) => "use the program version that wrote the store, or a later one",
            Self::Locked => "stop the other process that uses this store, or try again later",
            Self::ReadOnly => "give this user write permission for the file and its folder",
            Self::Full => "free up disk space and try again",
            Self::Corrupt(_) => {
                "move the file and its `-wal` and `-shm` files away, then restore a backup or \
                 start a new store"
            }
            Self::Failed(_) => {
                "try again, or specify a file in a folder that this user can write to"
            }
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::NotADatabase) => Self::NotAStore,
            Some(ErrorCode::DatabaseCorrupt) => Self::Corrupt(error.to_string()),
            Some(_) => Self::Failed(error.to_string()),
            None => match error {
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..) => Self::Corrupt(error.to_string()),
                _ => Self::Failed(error.to_string()),
            },
        }
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::NoFolder,
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// Why the store in a file could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}: `{}`", path.display())]
pub struct OpenStoreError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: StoreError,
}
