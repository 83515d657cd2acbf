//! Opening a store: the file is looked at before anything is written to it.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::schema::{APPLICATION_ID, MIGRATIONS, USER_VERSION};

/// Why a store could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenStoreError {
    /// The folder of the file does not exist.
    #[error("the folder of the agent's store `{}` does not exist", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// A folder, a symbolic link or a device stands there.
    #[error("`{}` is not a plain file", path.display())]
    NotAFile {
        /// What stands there.
        path: PathBuf,
    },
    /// The file may be read and not written.
    #[error("the agent's store `{}` is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses to read or write the file or its folder.
    #[error("the agent's store `{}` cannot be used: {message}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// Another process has it for itself.
    #[error("the agent's store `{}` is locked by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("`{}` is not an agent's store", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this program wrote it.
    #[error("the agent's store `{}` has version {version}, this program reads version {USER_VERSION}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: i32,
    },
    /// The file is damaged.
    #[error("the agent's store `{}` is damaged: {what}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// In what way.
        what: String,
    },
}

impl OpenStoreError {
    /// What can be done about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } => "make the folder, or give a path in one that exists",
            Self::NotAFile { .. } | Self::NotAStore { .. } => {
                "give the path of an agent's store, or of a file that does not exist yet"
            }
            Self::ReadOnly { .. } => "give this user the right to write the file and its folder",
            Self::Unusable { .. } => {
                "make room, or give a file in a folder that this user may write to"
            }
            Self::Locked { .. } => "end the other process that uses this store, or try again later",
            Self::Newer { .. } => "use the version of the program that wrote it, or a later one",
            Self::Corrupt { .. } => {
                "move the file and those beside it away, and restore a backup or begin a new store"
            }
        }
    }
}

/// Opens the store in a file, or begins one. Waits so long for other processes.
pub(super) fn open(path: &Path, busy: Duration) -> Result<Connection, OpenStoreError> {
    // Absolute, so that SQLite takes `:memory:` for the name of a file.
    let path = &std::path::absolute(path).map_err(|error| unusable(path, &error))?;
    inspect_log(path)?;
    make_or_inspect(path)?;
    let storage = |error| from_sqlite(path, &error);
    let mut connection = connect(path, busy).map_err(storage)?;
    recognise(&connection, path)?;
    if connection.is_readonly("main").map_err(storage)? {
        return Err(OpenStoreError::ReadOnly { path: path.clone() });
    }
    make_private(path).map_err(|error| unusable(path, &error))?;
    prepare(&connection).map_err(storage)?;
    turn_to_log(&connection, busy).map_err(storage)?;
    migrate(&mut connection).map_err(storage)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(storage)?;
    Ok(connection)
}

/// A store that is gone with its connection.
pub(super) fn in_memory() -> Result<Connection, OpenStoreError> {
    let storage = |error| from_sqlite(Path::new(":memory:"), &error);
    let mut connection = Connection::open_in_memory().map_err(storage)?;
    prepare(&connection).map_err(storage)?;
    migrate(&mut connection).map_err(storage)?;
    Ok(connection)
}

/// Refuses a log whose file is gone or empty: SQLite would delete it.
fn inspect_log(path: &Path) -> Result<(), OpenStoreError> {
    // In this order: another process that begins a store writes to the file first.
    let holds_changes = length(&beside(path, "-wal")).is_some_and(|bytes| bytes > 0);
    if holds_changes && length(path).is_none_or(|bytes| bytes == 0) {
        return Err(OpenStoreError::Corrupt {
            path: path.to_owned(),
            what: "there is a log beside it, and the file itself is missing or empty".to_owned(),
        });
    }
    Ok(())
}

/// In bytes. `None` where there is nothing.
fn length(path: &Path) -> Option<u64> {
    std::fs::symlink_metadata(path).ok().map(|metadata| metadata.len())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the file, or refuses what stands there.
///
/// INVARIANT: a file that exists is not opened here. Closing it would end the locks that another
/// store in this process has on it.
fn make_or_inspect(path: &Path) -> Result<(), OpenStoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(OpenStoreError::NoFolder { path: path.to_owned() });
        }
        // Such as in a folder that is read-only: the file may be there all the same.
        Err(error) if std::fs::symlink_metadata(path).is_err() => {
            return Err(unusable(path, &error));
        }
        Err(_) => {}
    }
    let metadata = std::fs::symlink_metadata(path).map_err(|error| unusable(path, &error))?;
    if !metadata.is_file() {
        return Err(OpenStoreError::NotAFile { path: path.to_owned() });
    }
    // SQLite takes one byte for none, and would write over it.
    if metadata.len() == 1 {
        return Err(OpenStoreError::NotAStore { path: path.to_owned() });
    }
    // Also for a superuser, whom the system would let write.
    if metadata.permissions().readonly() {
        return Err(OpenStoreError::ReadOnly { path: path.to_owned() });
    }
    Ok(())
}

fn connect(path: &Path, busy: Duration) -> rusqlite::Result<Connection> {
    // Not created here: SQLite would give it the mode of every other file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy)?;
    // A file that is refused is closed as it was.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// Refuses a file that holds something else.
fn recognise(connection: &Connection, path: &Path) -> Result<(), OpenStoreError> {
    let storage = |error| from_sqlite(path, &error);
    // One moment for all three: another process may be making the tables.
    let moment = connection.unchecked_transaction().map_err(storage)?;
    let number = |pragma: &str| -> Result<i32, OpenStoreError> {
        moment.pragma_query_value(None, pragma, |row| row.get(0)).map_err(storage)
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = moment
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(storage)?;
    match (application, version) {
        (APPLICATION_ID, version) if version > USER_VERSION => {
            Err(OpenStoreError::Newer { path: path.to_owned(), version })
        }
        (APPLICATION_ID, 1..) if tables > 0 => Ok(()),
        (APPLICATION_ID, _) => Err(OpenStoreError::Corrupt {
            path: path.to_owned(),
            what: "its tables are missing".to_owned(),
        }),
        (0, 0) if tables == 0 => Ok(()),
        _ => Err(OpenStoreError::NotAStore { path: path.to_owned() }),
    }
}

/// Takes away what others may do with the file and those beside it.
fn make_private(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let name = beside(path, suffix);
        let mode = match std::fs::symlink_metadata(&name) {
            Ok(metadata) => metadata.permissions().mode(),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if mode & 0o077 != 0 {
            std::fs::set_permissions(&name, Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    // An id or a claim that was handed out is still there when the machine starts again.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // What is forgotten is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "trusted_schema", false)
}

/// Readers and one writer do not wait for each other from now on.
///
/// SQLite does not wait here for another process that does the same at this moment.
fn turn_to_log(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    let mut left = busy;
    loop {
        let turned = connection.pragma_update(None, "journal_mode", "WAL");
        let waiting = turned.as_ref().is_err_and(|error| {
            error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && !left.is_zero()
        });
        if !waiting {
            return turned;
        }
        std::thread::sleep(PAUSE);
        left = left.saturating_sub(PAUSE);
    }
}

const PAUSE: Duration = Duration::from_millis(10);

/// Makes the tables current, in one step that happens or does not.
fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let version = |connection: &Connection| {
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0))
    };
    if version(connection)? == USER_VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let seen = usize::try_from(version(&transaction)?).unwrap_or(0);
    for step in MIGRATIONS.iter().skip(seen) {
        transaction.execute_batch(step)?;
    }
    if seen < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", USER_VERSION)?;
    }
    transaction.commit()
}

fn unusable(path: &Path, error: &io::Error) -> OpenStoreError {
    OpenStoreError::Unusable { path: path.to_owned(), message: error.to_string() }
}

fn from_sqlite(path: &Path, error: &rusqlite::Error) -> OpenStoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenStoreError::NotAStore { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            OpenStoreError::Locked { path }
        }
        Some(ErrorCode::ReadOnly) => OpenStoreError::ReadOnly { path },
        Some(ErrorCode::DatabaseCorrupt) => {
            OpenStoreError::Corrupt { path, what: error.to_string() }
        }
        _ => OpenStoreError::Unusable { path, message: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_another_has_for_itself_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let short = Duration::from_millis(30);
        drop(open(&path, short).unwrap());

        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let refused = open(&path, short).map(|_| ());
        assert_eq!(refused, Err(OpenStoreError::Locked { path: path.clone() }));

        other.execute_batch("ROLLBACK").unwrap();
        drop(other);
        assert!(open(&path, short).is_ok());
    }

    #[test]
    fn a_store_that_another_writes_to_can_be_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let short = Duration::from_millis(30);
        let other = open(&path, short).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(open(&path, short).is_ok());
    }
}
