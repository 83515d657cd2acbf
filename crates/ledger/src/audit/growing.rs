use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::error::{OpenAuditError, open_error};
use super::file;
use super::line::{self, AuditHead, LineError};

/// The growing file as it was when its lock was last released.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) file: Arc<File>,
    pub(super) identity: (u64, u64),
    pub(super) length: u64,
    pub(super) head: AuditHead,
    /// The size of a torn line that was set aside; the next line records it.
    pub(super) set_aside: u64,
}

impl Growing {
    /// Opens and locks the growing file, and finds the end of the chain.
    pub(super) fn open(path: &Path, notices: &mut Vec<String>) -> Result<Self, OpenAuditError> {
        let failed = |source| open_error(path, source);
        let (file, identity) = loop {
            let file = file::open_to_append(path).map_err(failed)?;
            crate::patience::lock(&file).map_err(failed)?;
            let identity = file::identity(&file.metadata().map_err(failed)?);
            // The previous holder of the lock may have rotated the file meanwhile.
            if file::identity_at(path).map_err(failed)? == Some(identity) {
                break (file, identity);
            }
        };
        narrow(&file, path, notices).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut growing = Self {
            file: Arc::new(file),
            identity,
            length,
            head: AuditHead::default(),
            set_aside: 0,
        };
        growing.find_head(path, notices)?;
        Ok(growing)
    }

    fn find_head(&mut self, path: &Path, notices: &mut Vec<String>) -> Result<(), OpenAuditError> {
        let failed = |source| open_error(path, source);
        let broken = |path: &Path, why| OpenAuditError::BrokenEnd { path: path.to_owned(), why };
        let mut reading = self.file.try_clone().map_err(failed)?;
        let end = file::end(&mut reading, self.length).map_err(failed)?;
        let end = end.ok_or_else(|| broken(path, LineError::TooLong))?;
        match end.line {
            Some(last) => self.head = line::ends(&last).map_err(|why| broken(path, why))?.1,
            // The file is new: the chain continues from the last full file.
            None => {
                if let Some((_, before)) = file::rotated(path).map_err(failed)?.pop() {
                    let failed = |source| open_error(&before, source);
                    let mut file = file::open_to_read(&before).map_err(failed)?;
                    let length = file.metadata().map_err(failed)?.len();
                    let end = file::end(&mut file, length).map_err(failed)?;
                    let last = end.filter(|end| end.torn.is_empty()).and_then(|end| end.line);
                    let last = last.ok_or_else(|| broken(&before, LineError::Torn))?;
                    self.head = line::ends(&last).map_err(|why| broken(&before, why))?.1;
                }
            }
        }
        if !end.torn.is_empty() {
            let ours = end.torn.iter().zip(line::START).all(|(a, b)| a == b);
            if !ours {
                return Err(broken(path, LineError::NoEntry));
            }
            let size = u64::try_from(end.torn.len()).unwrap_or_default();
            self.length -= size;
            notices.push(self.put_torn_aside(path, size)?);
        }
        Ok(())
    }

    /// Moves the bytes after the last whole line into a file of their own. Returns a notice with
    /// its name; the next line records the size.
    pub(super) fn put_torn_aside(
        &mut self,
        path: &Path,
        size: u64,
    ) -> Result<String, OpenAuditError> {
        let failed = |source| open_error(path, source);
        let mut attempt = 0;
        let (mut aside, name) = loop {
            let name = file::torn(path, self.head.size, attempt);
            match file::create_new(&name) {
                Ok(file) => break (file, name),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
                Err(error) => return Err(failed(error)),
            }
        };
        let mut torn = self.file.try_clone().map_err(failed)?;
        torn.seek(SeekFrom::Start(self.length)).map_err(failed)?;
        io::copy(&mut io::Read::take(torn, size), &mut aside).map_err(failed)?;
        aside.sync_all().map_err(failed)?;
        self.file.set_len(self.length).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        self.set_aside += size;
        Ok(format!(
            "the last line of the audit log was incomplete: its {size} bytes were moved to `{}`",
            name.display()
        ))
    }

    /// Unlocks the full file and switches to the new one.
    pub(super) fn go_on_in(&mut self, opened: Self) -> io::Result<()> {
        let full = std::mem::replace(&mut self.file, Arc::clone(&opened.file));
        *self = Self { set_aside: self.set_aside + opened.set_aside, ..opened };
        full.unlock()
    }

    /// The number of lines of the whole log up to the first `length` bytes of this file.
    pub(super) fn lines_before(&self, length: u64) -> Option<u64> {
        let mut file = self.file.try_clone().ok()?;
        let line = file::end(&mut file, length).ok()??.line?;
        Some(line::ends(&line).ok()?.1.size)
    }
}

/// Restricts the log to its owner if its mode is wider, and adds a notice.
fn narrow(file: &File, path: &Path, notices: &mut Vec<String>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = file.metadata()?.permissions();
    let mode = permissions.mode() & 0o777;
    if mode & 0o077 != 0 {
        permissions.set_mode(0o600);
        file.set_permissions(permissions)?;
        notices.push(format!(
            "the audit log `{}` had mode {mode:o}; changed it to 600",
            path.display()
        ));
    }
    Ok(())
}
