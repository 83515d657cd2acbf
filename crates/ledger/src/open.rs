//! Opens a ledger, checking what is there before anything is added.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use zeroize::Zeroizing;

use super::append::AppendError;
use super::key::{self, KeyFileError, PublicKey, SigningKey};
use super::log::Log;
use super::log_file::{LogFile, SystemLogFile};
use super::queries;
use super::rotation;
use super::schema::{APPLICATION_ID, TABLES, USER_VERSION};
use super::settings::{Durability, LedgerSettings};
use super::signer::Signer;
use super::writer::Writer;
use crate::ports::{Clock, Randomness, RandomnessError};

/// Why a ledger could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenLedgerError {
    /// Its folder or file is not writable.
    #[error("the ledger `{}` cannot be written: {message}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        message: String,
    },
    /// The file is something else.
    #[error("`{}` is not a ledger", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this program wrote it.
    #[error("the ledger `{}` has version {version}, but this program reads version {USER_VERSION}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: i32,
    },
    /// The file is damaged.
    #[error("the ledger `{}` is damaged: {what}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The damage.
        what: String,
    },
    /// The file of the signing key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// The ledger exists, but its key is missing.
    #[error("the ledger's signing key `{}` is missing", path.display())]
    MissingKey {
        /// The expected path of the key.
        path: PathBuf,
    },
    /// The key belongs to another ledger.
    #[error("`{}` is not the signing key of this ledger", path.display())]
    ForeignKey {
        /// The key's file.
        path: PathBuf,
    },
    /// The URL is not the address of a ledger, or this build does not support it.
    #[error("the ledger `{url}` cannot be used: {why}")]
    Address {
        /// The URL, without its password.
        url: String,
        /// The reason.
        why: String,
    },
    /// No name could be generated.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

impl OpenLedgerError {
    /// Advice for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unwritable { path, .. } if path.to_string_lossy().starts_with("postgres") => {
                "check that the server is running and that this user may connect; see \
                 docs/postgres.md"
            }
            Self::Unwritable { .. } => {
                "free some disk space, or choose an existing folder that this user can write to"
            }
            Self::Address { .. } => {
                "use `postgres://USER@HOST/DATABASE?sslmode=verify-full`; see docs/postgres.md"
            }
            Self::NotALedger { .. } => {
                "specify the path of a ledger, or of a file that does not exist yet"
            }
            Self::Newer { .. } => "use the version of the program that wrote it, or a later one",
            Self::Corrupt { .. } => {
                "move the file and its companion files elsewhere, keep them as evidence, and start \
                 a new ledger"
            }
            Self::Key(KeyFileError::Exposed { .. }) => {
                "other users may have copied it: rotate the key, or run `chmod 600` if it was not copied"
            }
            Self::Key(KeyFileError::NotAKey { .. }) => "restore the key from a backup",
            Self::Key(KeyFileError::Io { .. }) => "specify a key file that this user can read",
            Self::MissingKey { .. } | Self::ForeignKey { .. } => {
                "restore the key from a backup, or start a new ledger next to the old one"
            }
            Self::Key(KeyFileError::Randomness(_)) | Self::Randomness(_) => {
                "the system did not provide random bytes; try again"
            }
        }
    }
}

/// A ledger that was just opened.
pub(super) struct Opened {
    pub(super) writer: Writer,
    /// A second connection for reading; `None` in memory.
    pub(super) reader: Option<Connection>,
    pub(super) notices: Vec<String>,
}

/// Opens the ledger in a file, or creates it.
pub(super) fn open(
    path: &Path,
    log: Box<dyn LogFile>,
    settings: &LedgerSettings,
    clock: Arc<dyn Clock>,
    randomness: &dyn Randomness,
) -> Result<Opened, OpenLedgerError> {
    let unwritable = |error: std::io::Error| OpenLedgerError::Unwritable {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let mut notices = Vec::new();
    notices.extend(make_private(path).map_err(unwritable)?);
    notices.extend(make_private(&beside(path, "-log")).map_err(unwritable)?);
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let key_path = settings.key.clone().unwrap_or_else(|| beside(path, ".key"));
    // SQLite does not wait for other processes when it switches to its WAL for the first time.
    log.lock().map_err(unwritable)?;
    let connected = connections(path, &key_path, randomness);
    log.unlock();
    let (connection, reader) = connected?;
    let (key, number) = current_key(&connection, path, &key_path)?;
    let origin = queries::origin(&connection).map_err(storage)?;
    let mut writer = Writer {
        connection,
        log: Some(Log::new(log)),
        cut: 0,
        signed_at: clock.monotonic(),
        clock,
        signer: Signer { origin, key, number, path: Some(key_path) },
        durability: settings.durability,
        head: None,
    };
    let corrupt = |error: AppendError| OpenLedgerError::Corrupt {
        path: path.to_owned(),
        what: match error {
            AppendError::Storage(message) => message,
            other => other.to_string(),
        },
    };
    let last = writer.last_event().map_err(corrupt)?;
    notices.extend(unfinished(writer.cut, settings.durability));
    let now = writer.clock.wall();
    notices.extend(last.filter(|at| *at > now).map(|at| {
        let seconds = (at - now) / 1000;
        format!("the system clock went backwards: the last event is {seconds} s in the future")
    }));
    Ok(Opened { writer, reader: Some(reader), notices })
}

/// Opens a connection for writing and one for reading, and creates the ledger if necessary.
fn connections(
    path: &Path,
    key_path: &Path,
    randomness: &dyn Randomness,
) -> Result<(Connection, Connection), OpenLedgerError> {
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let mut writer = connect(path).map_err(storage)?;
    recognise(&writer, path)?;
    begin(&mut writer, path, key_path, randomness)?;
    let reader = connect(path).map_err(storage)?;
    reader.pragma_update(None, "query_only", true).map_err(storage)?;
    Ok((writer, reader))
}

/// Creates a ledger in memory, with a key of its own.
pub(super) fn in_memory(
    clock: Arc<dyn Clock>,
    randomness: &dyn Randomness,
) -> Result<Opened, OpenLedgerError> {
    let path = Path::new(":memory:");
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let mut connection = Connection::open_in_memory().map_err(storage)?;
    prepare(&connection).map_err(storage)?;
    let mut seed = Zeroizing::new([0; 32]);
    randomness.fill(&mut *seed)?;
    let key = SigningKey::from_seed(&seed);
    let origin = new_origin(randomness)?;
    let transaction = connection.transaction().map_err(storage)?;
    create(&transaction, &origin, &key).map_err(storage)?;
    transaction.commit().map_err(storage)?;
    let writer = Writer {
        connection,
        log: None,
        cut: 0,
        signed_at: clock.monotonic(),
        clock,
        signer: Signer { origin, key, number: 0, path: None },
        durability: Durability::Os,
        head: None,
    };
    Ok(Opened { writer, reader: None, notices: Vec::new() })
}

/// Opens the ledger in a file for reading. Needs no key.
pub(super) fn read_only(path: &Path) -> Result<Connection, OpenLedgerError> {
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(storage)?;
    connection.busy_timeout(BUSY).map_err(storage)?;
    connection.pragma_update(None, "trusted_schema", false).map_err(storage)?;
    recognise(&connection, path)?;
    Ok(connection)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // Not created here, because SQLite would use the default mode.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection)?;
    Ok(connection)
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Events that have moved into the tables leave the log, and another process may have
    // acknowledged them as durable.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // A larger WAL copies pages that every move touches less often, and each checkpoint costs two
    // syncs.
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "trusted_schema", false)
}

/// 16 MiB, in pages.
const LOG_PAGES: i64 = 4096;

/// How long a process waits for the transaction of another.
const BUSY: std::time::Duration = std::time::Duration::from_secs(30);
const CACHE_KIB: i64 = 16 * 1024;

/// Refuses a file that contains something else.
fn recognise(connection: &Connection, path: &Path) -> Result<(), OpenLedgerError> {
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    // One transaction for all three: another process may be creating the tables.
    let moment = connection.unchecked_transaction().map_err(storage)?;
    let number = |pragma: &str| -> Result<i32, OpenLedgerError> {
        moment.pragma_query_value(None, pragma, |row| row.get(0)).map_err(storage)
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = moment
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(storage)?;
    if application == APPLICATION_ID && version > USER_VERSION {
        return Err(OpenLedgerError::Newer { path: path.to_owned(), version });
    }
    if application == APPLICATION_ID || (application == 0 && tables == 0) {
        return Ok(());
    }
    Err(OpenLedgerError::NotALedger { path: path.to_owned() })
}

/// Creates tables, name and key, if they do not exist.
fn begin(
    connection: &mut Connection,
    path: &Path,
    key_path: &Path,
    randomness: &dyn Randomness,
) -> Result<(), OpenLedgerError> {
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let begun = |connection: &Connection| {
        connection
            .pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))
            .map(|id| id == APPLICATION_ID)
    };
    if begun(connection).map_err(storage)? {
        return Ok(());
    }
    let behaviour = rusqlite::TransactionBehavior::Immediate;
    let transaction = connection.transaction_with_behavior(behaviour).map_err(storage)?;
    if !begun(&transaction).map_err(storage)? {
        let key = match key::read(key_path)? {
            Some(key) => key,
            None => key::create(key_path, randomness)?,
        };
        create(&transaction, &new_origin(randomness)?, &key).map_err(storage)?;
    }
    transaction.commit().map_err(storage)
}

fn create(connection: &Connection, origin: &str, key: &SigningKey) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.execute("INSERT INTO ledger (id, origin) VALUES (0, ?1)", [origin])?;
    rotation::insert_key(connection, origin, 0, 0, &key.public(), key)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", USER_VERSION)
}

pub(super) fn new_origin(randomness: &dyn Randomness) -> Result<String, RandomnessError> {
    let mut bytes = [0; 8];
    randomness.fill(&mut bytes)?;
    Ok(format!("counterfoil/ledger/{:016x}", u64::from_be_bytes(bytes)))
}

/// The current signing key, if it is here.
fn current_key(
    connection: &Connection,
    path: &Path,
    key_path: &Path,
) -> Result<(SigningKey, u64), OpenLedgerError> {
    let last: Option<(u64, [u8; 32])> = connection
        .query_row("SELECT number, public FROM keys ORDER BY number DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .map_err(|error| from_sqlite(path, &error))?;
    let (number, public) = last.ok_or_else(|| OpenLedgerError::Corrupt {
        path: path.to_owned(),
        what: "it has no key".to_owned(),
    })?;
    let public = PublicKey::from_bytes(public);
    let found = match key::read(key_path)? {
        Some(key) if key.public() == public => return Ok((key, number)),
        found => found,
    };
    // Finishes a rotation that was interrupted after the ledger had recorded the new key.
    if let Some(key) = key::finish_rotation(key_path, |key| key.public() == public)? {
        return Ok((key, number));
    }
    let path = key_path.to_owned();
    Err(match found {
        Some(_) => OpenLedgerError::ForeignKey { path },
        None => OpenLedgerError::MissingKey { path },
    })
}

/// A notice about an incomplete event at the end of the log.
fn unfinished(bytes: u64, durability: Durability) -> Option<String> {
    let lost = match durability {
        Durability::Full | Durability::Batch => "they contained no acknowledged event",
        Durability::Os => {
            "if the whole machine went down, not just the process, acknowledged events may have \
             been lost"
        }
    };
    (bytes > 0).then(|| {
        format!(
            "the last {bytes} bytes of the log were an incomplete write and are removed: {lost}"
        )
    })
}

/// Opens the log of the ledger at this path.
pub(super) fn log_file(path: &Path) -> Result<Box<dyn LogFile>, OpenLedgerError> {
    match SystemLogFile::open(&beside(path, "-log")) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => {
            Err(OpenLedgerError::Unwritable { path: path.to_owned(), message: error.to_string() })
        }
    }
}

/// Opens the log of the ledger for reading; `None` if there is none.
pub(super) fn read_only_log(path: &Path) -> Result<Option<SystemLogFile>, OpenLedgerError> {
    SystemLogFile::read_only(&beside(path, "-log")).map_err(|error| OpenLedgerError::Corrupt {
        path: path.to_owned(),
        what: format!("its log cannot be read: {error}"),
    })
}

/// Opens a file, or creates it readable by its owner only.
fn private(path: &Path) -> std::io::Result<File> {
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(no_follow).open(path)
}

/// Creates the ledger's file, or restricts its mode to the owner.
fn make_private(path: &Path) -> std::io::Result<Option<String>> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return private(path).map(|_| None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(None);
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(Some(format!(
        "other users could access the ledger (mode {mode:o}); changed its mode to 600"
    )))
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn from_sqlite(path: &Path, error: &rusqlite::Error) -> OpenLedgerError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenLedgerError::NotALedger { path },
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::DiskFull
            | ErrorCode::PermissionDenied
            | ErrorCode::DatabaseBusy
            | ErrorCode::SystemIoFailure,
        ) => OpenLedgerError::Unwritable { path, message: error.to_string() },
        _ => OpenLedgerError::Corrupt { path, what: error.to_string() },
    }
}
