use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::open::{self, OpenStoreError};

/// An agent's notes, summaries and tasks. Threads may share it; so may processes, each with a store
/// of its own on the same file.
#[derive(Debug)]
pub struct Store(Mutex<Connection>);

/// How long one process waits for another one's transaction.
const BUSY: Duration = Duration::from_secs(5);

impl Store {
    /// Opens the store in a file, or begins one there that only its owner may read. The folder must
    /// exist. A file that others may read is taken away from them. No file is ever deleted, and one
    /// that is refused stays as it is.
    ///
    /// # Errors
    /// See [`OpenStoreError`]; its `help` says what can be done.
    pub fn open(path: &Path) -> Result<Self, OpenStoreError> {
        open::open(path, BUSY).map(|connection| Self(Mutex::new(connection)))
    }

    /// A store that is gone when it is dropped.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn in_memory() -> Result<Self, OpenStoreError> {
        open::in_memory().map(|connection| Self(Mutex::new(connection)))
    }

    /// Reads the whole file and looks for damage that opening it does not meet. This takes as long
    /// as the file is large.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with what is wrong, or when the file cannot be read.
    pub fn check(&self) -> Result<(), StoreError> {
        let what: String = self.read(|connection| {
            connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        })?;
        if what == "ok" { Ok(()) } else { Err(StoreError::Corrupt(what)) }
    }

    /// Reads, all of it at one moment.
    pub(super) fn read<T>(
        &self,
        act: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Deferred, |moment| act(moment))
    }

    /// Writes, all of it or nothing. It is on the disk when this returns.
    pub(super) fn write<T>(
        &self,
        act: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Immediate, |moment| act(moment))
    }

    fn transaction<T>(
        &self,
        behaviour: TransactionBehavior,
        act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // A panic in between has rolled its transaction back.
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(behaviour)?;
        let done = act(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// A number of rows as SQLite takes it.
pub(super) fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Why an open store could not be read or written. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has been writing all the time, or one has stopped in the middle.
    #[error("the agent's store is locked by another process")]
    Locked,
    /// The file, its folder or its file system allows no writing.
    #[error("the agent's store cannot be written: {0}")]
    ReadOnly(String),
    /// There is no room.
    #[error("there is no room to write the agent's store: {0}")]
    Full(String),
    /// The file is damaged.
    #[error("the agent's store is damaged: {0}")]
    Corrupt(String),
    /// SQLite said something else.
    #[error("the agent's store failed: {0}")]
    Failed(String),
}

impl StoreError {
    /// What can be done about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Locked => "end the other process that uses this store, or try again later",
            Self::ReadOnly(_) => "give this user the right to write the file and its folder",
            Self::Full(_) => "make room on the disk and try again",
            Self::Corrupt(_) => {
                "move the file and those beside it away, and restore a backup or begin a new store"
            }
            Self::Failed(_) => "try again, and report it if it stays",
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly(message)
            }
            Some(ErrorCode::DiskFull) => Self::Full(message),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(message),
            Some(_) => Self::Failed(message),
            None => match error {
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..) => Self::Corrupt(message),
                _ => Self::Failed(message),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::NoteId;
    use super::super::notes::{Note, NoteError, NoteOrigin};
    use super::*;

    #[test]
    fn threads_may_share_a_store() {
        const fn shared<T: Send + Sync>() {}
        shared::<Store>();
    }

    #[test]
    fn a_new_store_is_sound() {
        assert_eq!(Store::in_memory().unwrap().check(), Ok(()));
    }

    #[test]
    fn a_store_that_another_writes_to_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let short = Duration::from_millis(30);
        let store = Store(Mutex::new(open::open(&path, short).unwrap()));
        let other = open::open(&path, short).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert_eq!(store.forget(NoteId(1)), Err(StoreError::Locked));
        assert_eq!(store.count(), Ok(0));
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(store.forget(NoteId(1)), Ok(false));
    }

    #[test]
    fn a_store_that_has_no_room_keeps_what_it_has() {
        let connection = open::in_memory().unwrap();
        connection.pragma_update(None, "max_page_count", 40).unwrap();
        let store = Store(Mutex::new(connection));
        let mut saved = 0;
        let refused = loop {
            let text = format!("{saved} {}", "long ".repeat(1000));
            let note = Note { text, session: None, origin: NoteOrigin::User, at: 0 };
            match store.save(&note, None) {
                Ok(_) => saved += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, NoteError::Storage(StoreError::Full(_))), "{refused:?}");
        assert_eq!(store.count(), Ok(saved));
        assert_eq!(store.check(), Ok(()));
    }

    #[test]
    fn a_store_that_must_not_be_written_says_so() {
        let connection = open::in_memory().unwrap();
        connection.pragma_update(None, "query_only", true).unwrap();
        let refused = Store(Mutex::new(connection)).write(|connection| {
            connection.execute("INSERT INTO vectors (note, vector) VALUES (1, x'00')", [])
        });
        assert!(matches!(refused, Err(StoreError::ReadOnly(_))), "{refused:?}");
    }

    #[test]
    fn a_write_that_fails_leaves_nothing() {
        let store = Store::in_memory().unwrap();
        let failed = store.write(|connection| {
            connection.execute("INSERT INTO vectors (note, vector) VALUES (1, x'00')", [])?;
            connection.execute("INSERT INTO no_such_table (a) VALUES (1)", [])
        });
        assert!(matches!(failed, Err(StoreError::Failed(_))), "{failed:?}");
        let left: i64 = store
            .read(|connection| {
                connection.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))
            })
            .unwrap();
        assert_eq!(left, 0);
    }
}
