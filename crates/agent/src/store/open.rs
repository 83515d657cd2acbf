//! Opening a store: the file is looked at before anything is written to it.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::error::StoreError;
use super::schema::{APPLICATION_ID, MIGRATIONS, USER_VERSION};

/// Opens the store in a file, or begins one. Waits so long for other processes.
pub(super) fn open(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    // Absolute, so that SQLite takes `:memory:` for the name of a file.
    let path = &std::path::absolute(path).map_err(|error| StoreError::Failed(error.to_string()))?;
    make_or_inspect(path)?;
    let mut connection = connect(path, busy)?;
    recognise(&connection)?;
    if connection.is_readonly("main")? {
        return Err(StoreError::ReadOnly);
    }
    make_private(path)?;
    prepare(&connection)?;
    turn_to_log(&connection, busy)?;
    migrate(&mut connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(connection)
}

/// A store that is gone with its connection.
pub(super) fn in_memory() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    prepare(&connection)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Makes the file, or refuses what is in its place.
///
/// INVARIANT: a file that exists is not opened here. Closing it would end the locks that another
/// store in this process has on it.
fn make_or_inspect(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => return Ok(()),
        // Such as in a folder that is read-only: the file may be there all the same.
        Err(error) if std::fs::symlink_metadata(path).is_err() => return Err(error.into()),
        Err(_) => {}
    }
    let metadata = std::fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(StoreError::NotAFile);
    }
    // SQLite takes one byte for none, and would write over it.
    if metadata.len() == 1 {
        return Err(StoreError::NotAStore);
    }
    // Also for a superuser, whom the system would let write.
    if metadata.permissions().readonly() { Err(StoreError::ReadOnly) } else { Ok(()) }
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
fn recognise(connection: &Connection) -> Result<(), StoreError> {
    // One moment for all three: another process may be making the tables.
    let moment = connection.unchecked_transaction()?;
    let number = |pragma: &str| moment.pragma_query_value(None, pragma, |row| row.get(0));
    let (application, version): (i32, i32) = (number("application_id")?, number("user_version")?);
    let tables: i64 =
        moment.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, version) {
        (APPLICATION_ID, version) if version > USER_VERSION => Err(StoreError::Newer(version)),
        (APPLICATION_ID, 1..) if tables > 0 => Ok(()),
        (APPLICATION_ID, _) => Err(StoreError::Corrupt("its tables are missing".to_owned())),
        (0, 0) if tables == 0 => Ok(()),
        _ => Err(StoreError::NotAStore),
    }
}

/// Takes away what others may do with the file and those beside it.
fn make_private(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
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
