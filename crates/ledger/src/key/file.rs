use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::SigningKey;
use crate::ports::{Randomness, RandomnessError};

/// Why the file of the signing key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    /// Other users may have read it, and so may have signed with it.
    #[error("the signing key `{}` is readable or writable by other users (mode {mode:o})", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It contains something else.
    #[error("`{}` is not an Ed25519 private key in PEM format", path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("the signing key `{}` cannot be used: {message}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        message: String,
    },
    /// No key could be generated.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// Reads the key; `None` if the file does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<SigningKey>, KeyFileError> {
    let io = |error| io(path, &error);
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(no_follow());
    let mut file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let metadata = file.metadata().map_err(io)?;
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Exposed { path: path.to_owned(), mode });
    }
    let mut text = Zeroizing::new(String::new());
    let not_a_key = || KeyFileError::NotAKey { path: path.to_owned() };
    if metadata.len() > LONGEST || !metadata.is_file() {
        return Err(not_a_key());
    }
    file.read_to_string(&mut text).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => not_a_key(),
        _ => io(error),
    })?;
    SigningKey::from_pem(&text).map(Some).ok_or_else(not_a_key)
}

/// The maximum length in bytes. Longer files are not keys.
const LONGEST: u64 = 4096;

/// Generates a key and writes it to a file that only its owner can read. The file must not exist.
pub(crate) fn create(path: &Path, randomness: &dyn Randomness) -> Result<SigningKey, KeyFileError> {
    let mut seed = Zeroizing::new([0; 32]);
    randomness.fill(&mut *seed)?;
    let key = SigningKey::from_seed(&seed);
    // Written to another file and linked, so that the key file is complete or absent.
    let beside = beside(path, ".writing");
    let written = write_new(&beside, key.to_pem().as_bytes())
        .and_then(|()| std::fs::hard_link(&beside, path))
        .and_then(|()| sync_folder(path));
    let removed = std::fs::remove_file(&beside);
    written.and(removed).map_err(|error| io(path, &error))?;
    Ok(key)
}

/// The path of the next key until the ledger has recorded it.
fn next(path: &Path) -> PathBuf {
    beside(path, ".next")
}

/// Generates the next key, in a file of its own.
pub(crate) fn prepare_rotation(
    path: &Path,
    randomness: &dyn Randomness,
) -> Result<SigningKey, KeyFileError> {
    let next = next(path);
    match std::fs::remove_file(&next) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io(&next, &error)),
        _ => create(&next, randomness),
    }
}

/// Moves the next key to the place of the current one, if `is_current` confirms that the ledger has
/// recorded it.
pub(crate) fn finish_rotation(
    path: &Path,
    is_current: impl FnOnce(&SigningKey) -> bool,
) -> Result<Option<SigningKey>, KeyFileError> {
    let next = next(path);
    let Some(key) = read(&next)?.filter(is_current) else { return Ok(None) };
    std::fs::rename(&next, path).and_then(|()| sync_folder(path)).map_err(|e| io(path, &e))?;
    Ok(Some(key))
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(no_follow());
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Syncs the folder of this path, so that a file created or renamed there survives a crash.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn no_follow() -> i32 {
    i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0)
}

fn io(path: &Path, error: &std::io::Error) -> KeyFileError {
    KeyFileError::Io { path: path.to_owned(), message: error.to_string() }
}
