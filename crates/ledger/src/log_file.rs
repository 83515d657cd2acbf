use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// The file of a ledger's log, which receives every event first. A port, so that a test can supply
/// a disk that fails.
pub trait LogFile: Send + std::fmt::Debug {
    /// Locks the file, waiting for other processes to release it.
    ///
    /// # Errors
    /// When it cannot be locked.
    fn lock(&self) -> Result<()>;
    /// Releases the lock.
    fn unlock(&self);
    /// The length in bytes.
    ///
    /// # Errors
    /// On an I/O error.
    fn length(&self) -> Result<u64>;
    /// Reads into the slice from this offset up to the end of the file. Returns the number of bytes
    /// read.
    ///
    /// # Errors
    /// On an I/O error.
    fn read_at(&self, bytes: &mut [u8], place: u64) -> Result<usize>;
    /// Writes the whole slice at this offset.
    ///
    /// # Errors
    /// When it was not written completely.
    fn write_at(&self, bytes: &[u8], place: u64) -> Result<()>;
    /// Truncates the file to this length.
    ///
    /// # Errors
    /// On an I/O error.
    fn cut(&self, length: u64) -> Result<()>;
    /// Syncs the file; returns once its content survives a power failure.
    ///
    /// # Errors
    /// When it is not known whether the content survives.
    fn sync(&self) -> Result<()>;
}

/// A file of the operating system.
#[derive(Debug)]
pub struct SystemLogFile(File);

impl SystemLogFile {
    /// Opens a file, or creates it readable by its owner only.
    ///
    /// # Errors
    /// When the system cannot open or create it.
    pub fn open(path: &Path) -> Result<Self> {
        let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600).custom_flags(no_follow);
        match options.open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened.map(Self),
        }
        let file = options.create(true).open(path)?;
        // Sync the folder: a file whose name is lost in a power failure is lost.
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self(file))
    }

    /// Opens a file for reading; `None` if it does not exist.
    pub(super) fn read_only(path: &Path) -> Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => Ok(Some(Self(file))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl LogFile for SystemLogFile {
    fn lock(&self) -> Result<()> {
        crate::patience::lock(&self.0)
    }

    fn unlock(&self) {
        // If this fails, the lock is released when the file is closed.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }

    fn length(&self) -> Result<u64> {
        Ok(u64::try_from(rustix::fs::fstat(&self.0)?.st_size).unwrap_or(0))
    }

    fn read_at(&self, bytes: &mut [u8], place: u64) -> Result<usize> {
        let mut count = 0;
        while let Some(rest) = bytes.get_mut(count..).filter(|rest| !rest.is_empty()) {
            let at = place.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
            match self.0.read_at(rest, at) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], place: u64) -> Result<()> {
        self.0.write_all_at(bytes, place)
    }

    fn cut(&self, length: u64) -> Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> Result<()> {
        self.0.sync_data()
    }
}
