//! Opening a ledger: what is there is looked at before anything is added.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use rustix::fs::{FlockOperation, flock};
use zeroize::Zeroizing;

use super::body::Outline;
use super::head::Head;
use super::key::{self, KeyFileError, PublicKey, SigningKey};
use super::read::{self, ReadLedgerError};
use super::rotation;
use super::schema::{APPLICATION_ID, TABLES, USER_VERSION};
use super::settings::{Durability, LedgerSettings};
use super::wal;
use super::writer::Writer;
use crate::ports::{Clock, Randomness, RandomnessError};

/// Why a ledger could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenLedgerError {
    /// Its folder or file cannot be written.
    #[error("the ledger `{}` cannot be written: {message}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// The file is something else.
    #[error("`{}` is not a ledger", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this program wrote it.
    #[error("the ledger `{}` has version {version}, this program reads version {USER_VERSION}", path.display())]
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
        /// In what way.
        what: String,
    },
    /// The file of the signing key could not be used.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// There is a ledger, and its key is gone.
    #[error("the signing key `{}` of the ledger is missing", path.display())]
    MissingKey {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The key is another ledger's.
    #[error("`{}` is not the signing key of this ledger", path.display())]
    ForeignKey {
        /// The key's file.
        path: PathBuf,
    },
    /// No name could be made.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

impl OpenLedgerError {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unwritable { .. } => {
                "make room, or give a folder that exists and that this user may write to"
            }
            Self::NotALedger { .. } => "give the path of a ledger, or of a file that is not there",
            Self::Newer { .. } => "use the version of the program that wrote it, or a later one",
            Self::Corrupt { .. } => {
                "move the file and those beside it away, keep them for evidence, and begin a new one"
            }
            Self::Key(KeyFileError::Exposed { .. }) => {
                "others may have copied it: replace the key, or say `chmod 600` if nobody did"
            }
            Self::Key(KeyFileError::NotAKey { .. }) => "restore the key from a backup",
            Self::Key(KeyFileError::Io { .. }) => "give a key file that this user can read",
            Self::MissingKey { .. } | Self::ForeignKey { .. } => {
                "restore the key from a backup, or begin a new ledger beside the old one"
            }
            Self::Key(KeyFileError::Randomness(_)) | Self::Randomness(_) => {
                "the system gives no random bytes: try again"
            }
        }
    }
}

/// A ledger that was just opened.
pub(super) struct Opened {
    pub(super) writer: Writer,
    /// For reading beside the writer; none in memory.
    pub(super) reader: Option<Connection>,
    /// Held while the ledger is open.
    pub(super) lock: Option<File>,
    pub(super) notices: Vec<String>,
}

/// Opens the ledger in a file, or begins one.
pub(super) fn open(
    path: &Path,
    settings: &LedgerSettings,
    clock: Arc<dyn Clock>,
    randomness: &dyn Randomness,
) -> Result<Opened, OpenLedgerError> {
    let unwritable = |error: std::io::Error| OpenLedgerError::Unwritable {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let mut notices = Vec::new();
    let lock = private(&beside(path, "-lock")).map_err(unwritable)?;
    // Nobody else has it open: what is unfinished now was left behind.
    let alone = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    if alone {
        let torn = wal::torn(&beside(path, "-wal")).map_err(unwritable)?;
        notices.extend(torn.map(|torn| torn.notice(settings.durability)));
    } else {
        flock(&lock, FlockOperation::LockShared).map_err(|error| unwritable(error.into()))?;
    }
    notices.extend(make_private(path).map_err(unwritable)?);
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let mut connection = connect(path, settings.durability).map_err(storage)?;
    recognise(&connection, path)?;
    let key_path = settings.key.clone().unwrap_or_else(|| beside(path, ".key"));
    begin(&mut connection, path, &key_path, randomness)?;
    let (key, key_number) = current_key(&connection, path, &key_path)?;
    let origin = read::origin(&connection).map_err(storage)?;
    let broken = |error: ReadLedgerError| match error {
        ReadLedgerError::Storage(message) => {
            OpenLedgerError::Corrupt { path: path.to_owned(), what: message }
        }
        other => OpenLedgerError::Corrupt { path: path.to_owned(), what: other.to_string() },
    };
    let head = Head::load(&connection, &origin).map_err(broken)?;
    let last = last_event(&connection, &head).map_err(broken)?;
    let now = clock.wall();
    notices.extend(last.filter(|at| *at > now).map(|at| {
        let seconds = (at - now) / 1000;
        format!("the clock went back: the last event was written {seconds} s after now")
    }));
    let reader = connect(path, settings.durability).map_err(storage)?;
    reader.pragma_update(None, "query_only", true).map_err(storage)?;
    if alone {
        flock(&lock, FlockOperation::LockShared).map_err(|error| unwritable(error.into()))?;
    }
    let writer = Writer {
        connection,
        signed_at: clock.monotonic(),
        clock,
        origin,
        key,
        key_number,
        key_path: Some(key_path),
        durability: settings.durability,
        head: Some(head),
    };
    Ok(Opened { writer, reader: Some(reader), lock: Some(lock), notices })
}

/// A ledger that is gone with the process, with a key of its own.
pub(super) fn in_memory(
    clock: Arc<dyn Clock>,
    randomness: &dyn Randomness,
) -> Result<Opened, OpenLedgerError> {
    let path = Path::new(":memory:");
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let mut connection = Connection::open_in_memory().map_err(storage)?;
    prepare(&connection, Durability::Os).map_err(storage)?;
    let mut seed = Zeroizing::new([0; 32]);
    randomness.fill(&mut *seed)?;
    let key = SigningKey::from_seed(&seed);
    let origin = new_origin(randomness)?;
    let transaction = connection.transaction().map_err(storage)?;
    create(&transaction, &origin, &key).map_err(storage)?;
    transaction.commit().map_err(storage)?;
    let writer = Writer {
        connection,
        signed_at: clock.monotonic(),
        clock,
        origin,
        key,
        key_number: 0,
        key_path: None,
        durability: Durability::Os,
        head: None,
    };
    Ok(Opened { writer, reader: None, lock: None, notices: Vec::new() })
}

/// Opens the ledger in a file for reading, whoever holds its key.
pub(super) fn read_only(path: &Path) -> Result<Connection, OpenLedgerError> {
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(storage)?;
    connection.busy_timeout(BUSY).map_err(storage)?;
    connection.pragma_update(None, "trusted_schema", false).map_err(storage)?;
    recognise(&connection, path)?;
    Ok(connection)
}

fn connect(path: &Path, durability: Durability) -> rusqlite::Result<Connection> {
    // Not created here: SQLite would give it the mode of every other file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, durability)?;
    Ok(connection)
}

fn prepare(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Under `os` the log is synced before it moves into the file, so that a machine that stops
    // loses the end of the ledger and nothing before it.
    let synchronous = match durability {
        Durability::Full | Durability::Batch => "FULL",
        Durability::Os => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // The pages that every event touches are written again and again: a longer log moves each into
    // the file once for many of them.
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "trusted_schema", false)
}

/// 16 MiB.
const LOG_PAGES: i64 = 4096;

/// How long one process waits for another one's transaction.
const BUSY: std::time::Duration = std::time::Duration::from_secs(30);
const CACHE_KIB: i64 = 16 * 1024;

/// Refuses a file that holds something else.
fn recognise(connection: &Connection, path: &Path) -> Result<(), OpenLedgerError> {
    let storage = |error: rusqlite::Error| from_sqlite(path, &error);
    let number = |pragma: &str| -> Result<i32, OpenLedgerError> {
        connection.pragma_query_value(None, pragma, |row| row.get(0)).map_err(storage)
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection
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

/// Makes tables, name and key, where there are none.
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

fn new_origin(randomness: &dyn Randomness) -> Result<String, RandomnessError> {
    let mut bytes = [0; 8];
    randomness.fill(&mut bytes)?;
    Ok(format!("countersign/ledger/{:016x}", u64::from_be_bytes(bytes)))
}

/// The key that signs now, if it is here.
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
    // A rotation that was interrupted after the ledger knew the new key.
    if let Some(key) = key::finish_rotation(key_path, |key| key.public() == public)? {
        return Ok((key, number));
    }
    let path = key_path.to_owned();
    Err(match found {
        Some(_) => OpenLedgerError::ForeignKey { path },
        None => OpenLedgerError::MissingKey { path },
    })
}

/// When the last event was written.
fn last_event(connection: &Connection, head: &Head) -> Result<Option<i64>, ReadLedgerError> {
    let Some(seq) = head.frontier.size().checked_sub(1) else { return Ok(None) };
    let bytes: Vec<u8> =
        connection.query_row("SELECT body FROM written WHERE seq = ?1", [seq], |row| row.get(0))?;
    let outline = Outline::read(&bytes);
    outline.map(|outline| Some(outline.at)).map_err(|error| ReadLedgerError::Broken {
        what: format!("event {seq} cannot be read: {error}"),
    })
}

/// Opens or makes a file that nobody else may read.
fn private(path: &Path) -> std::io::Result<File> {
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(no_follow).open(path)
}

/// Makes the ledger's file, or takes away what others may do with it.
fn make_private(path: &Path) -> std::io::Result<Option<String>> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return private(path).map(|_| None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "it is not a plain file"));
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(None);
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(Some(format!("others could read the ledger (mode {mode:o}); now they cannot")))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
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
