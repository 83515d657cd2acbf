use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Params, Row, Transaction, TransactionBehavior};

use super::error::{OpenStoreError, StoreError};
use super::open;

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
    /// See [`StoreError`]; its `help` says what can be done.
    pub fn open(path: &Path) -> Result<Self, OpenStoreError> {
        match open::open(path, BUSY) {
            Ok(connection) => Ok(Self(Mutex::new(connection))),
            Err(why) => Err(OpenStoreError { path: path.to_owned(), why }),
        }
    }

    /// A store that is gone when it is dropped.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        Ok(Self(Mutex::new(open::in_memory()?)))
    }

    /// The rows that a statement finds.
    pub(super) fn rows<T>(
        &self,
        statement: &str,
        values: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.read(|connection| {
            connection.prepare_cached(statement)?.query_map(values, row)?.collect()
        })
    }

    /// Whether a statement changes a row.
    pub(super) fn changes(&self, statement: &str, values: impl Params) -> Result<bool, StoreError> {
        self.write(|connection| Ok(connection.prepare_cached(statement)?.execute(values)? > 0))
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

#[cfg(test)]
mod tests {
    use super::super::notes::{Note, NoteError, NoteOrigin};
    use super::*;

    fn note(text: String) -> Note {
        Note { text, session: None, origin: NoteOrigin::User, at: 0 }
    }

    #[test]
    fn a_store_that_another_uses_is_locked_for_as_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let short = Duration::from_millis(30);
        let store = Store(Mutex::new(open::open(&path, short).unwrap()));
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let save = || store.save(&note("x".to_owned()), None);
        assert_eq!(save(), Err(NoteError::Storage(StoreError::Locked)));
        assert_eq!(store.list(9), Ok(Vec::new()));
        assert!(open::open(&path, short).is_ok());
        other.execute_batch("ROLLBACK").unwrap();
        assert!(save().is_ok());
        drop(store);
        other.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(matches!(open::open(&path, short), Err(StoreError::Locked)));
    }

    #[test]
    fn a_store_that_has_no_room_keeps_what_it_has() {
        let connection = open::in_memory().unwrap();
        connection.pragma_update(None, "max_page_count", 40).unwrap();
        let store = Store(Mutex::new(connection));
        let mut saved = 0;
        let refused = loop {
            match store.save(&note(format!("{saved} {}", "long ".repeat(1000))), None) {
                Ok(_) => saved += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(refused, NoteError::Storage(StoreError::Full));
        assert_eq!(store.list(usize::MAX).unwrap().len(), saved);
    }

    #[test]
    fn a_write_that_fails_leaves_nothing() {
        let store = Store::in_memory().unwrap();
        let failed = store.write(|connection| {
            connection.execute("INSERT INTO vectors (note, vector) VALUES (1, x'00')", [])?;
            connection.execute("INSERT INTO no_such_table (a) VALUES (1)", [])
        });
        assert!(matches!(failed, Err(StoreError::Failed(_))), "{failed:?}");
        let left: Result<i64, _> = store.read(|connection| {
            connection.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))
        });
        assert_eq!(left, Ok(0));
    }
}
