use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// The file of a ledger's log: what is acknowledged stands there first. A port, so that a test can
/// bring a disk that fails.
pub trait LogFile: Send + std::fmt::Debug {
    /// Waits until every other process is out, and keeps them out.
    ///
    /// # Errors
    /// When it cannot be locked.
    fn lock(&self) -> Result<()>;
    /// Lets others in.
    fn unlock(&self);
    /// Its length in bytes.
    ///
    /// # Errors
    /// When the system does not say.
    fn length(&self) -> Result<u64>;
    /// Fills the slice from this place on, as far as the file goes: with how many bytes.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read_at(&self, bytes: &mut [u8], place: u64) -> Result<usize>;
    /// Writes the whole slice from this place on.
    ///
    /// # Errors
    /// When it was not written, or not all of it.
    fn write_at(&self, bytes: &[u8], place: u64) -> Result<()>;
    /// Cuts it to this length.
    ///
    /// # Errors
    /// When it was not cut.
    fn cut(&self, length: u64) -> Result<()>;
    /// Returns when what was written survives the machine.
    ///
    /// # Errors
    /// When nobody knows whether it does.
    fn sync(&self) -> Result<()>;
}

/// A file of this system.
#[derive(Debug)]
pub struct SystemLogFile(File);

impl SystemLogFile {
    /// Opens a file that nobody else may read, or makes it.
    ///
    /// # Errors
    /// When the system does not let it be opened or made.
    pub fn open(path: &Path) -> Result<Self> {
        let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600).custom_flags(no_follow);
        match options.open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened.map(Self),
        }
        let file = options.create(true).open(path)?;
        // A file whose name is lost with the power is lost, however often it was synced.
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self(file))
    }

    /// Opens a file for reading; `None` when it is not there.
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
        // What cannot be unlocked goes with the file.
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
