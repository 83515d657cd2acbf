use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use counterfoil_redact::Redactor;

use super::clean::cleaned;
use super::entry::AuditEntry;
use super::error::{AppendAuditError, OpenAuditError, open_error};
use super::file;
use super::growing::Growing;
use super::line::{self, AuditHead, LineError, Place, sealed};
use super::settings::{AuditSettings, OnFailure};
use super::source::Lines;
use crate::Durability;
use crate::ports::Clock;

/// An append-only log of calls: one line per call, each bound to the line before. Threads and
/// processes may share one.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    settings: AuditSettings,
    clock: Arc<dyn Clock>,
    redactor: Redactor,
    notices: Vec<String>,
    /// Calls since the last line that could not be written.
    missed: AtomicU64,
    growing: Mutex<Growing>,
}

impl AuditLog {
    /// Opens the log, or creates it if it is missing. Moves a torn last line, left by a process
    /// that died, to a separate file and adds a notice.
    ///
    /// # Errors
    /// When the path is a link or not a regular file, when the last line was changed, or on an I/O
    /// error.
    pub fn open(
        path: &Path,
        settings: AuditSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenAuditError> {
        let mut notices = Vec::new();
        let growing = Growing::open(path, &mut notices)?;
        growing.file.unlock().map_err(|source| open_error(path, source))?;
        for notice in &notices {
            tracing::warn!("{notice}");
        }
        Ok(Self {
            path: path.to_owned(),
            settings,
            clock,
            redactor: Redactor::standard(),
            notices,
            missed: AtomicU64::new(0),
            growing: Mutex::new(growing),
        })
    }

    /// What was found on opening: a torn line, or a mode that was too wide.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The path of the growing file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The end of the chain, as far as this process knows.
    #[must_use]
    pub fn head(&self) -> AuditHead {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner).head
    }

    /// Writes one line. When this returns, the line is as durable as the settings demand.
    ///
    /// # Errors
    /// When the line could not be written. None of it is in the log then, and the next line records
    /// the missing one.
    pub fn append(&self, entry: &AuditEntry) -> Result<(), AppendAuditError> {
        let entry = cleaned(entry, &self.redactor);
        self.write(entry).inspect_err(|_| {
            self.missed.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Writes one line. If that fails and the settings say `continue`, logs the error and returns
    /// `Ok`.
    ///
    /// # Errors
    /// As [`Self::append`], if the settings deny calls that cannot be written.
    pub fn record(&self, entry: &AuditEntry) -> Result<(), AppendAuditError> {
        match (self.append(entry), self.settings.on_failure) {
            (Err(error), OnFailure::Continue) => {
                tracing::error!(
                    "a call to `{}` was not written to the audit log: {error}",
                    entry.tool
                );
                Ok(())
            }
            (result, _) => result,
        }
    }

    fn write(&self, entry: AuditEntry) -> Result<(), AppendAuditError> {
        let file = {
            let mut growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
            let written = self.write_locked(&mut growing, entry);
            // The lock belongs to the file; if it stayed, others would wait for ever.
            let unlocked = growing.file.unlock().map_err(|source| self.write_error(source));
            written.and(unlocked)?;
            Arc::clone(&growing.file)
        };
        match self.settings.durability {
            // Outside the lock, so that threads share one sync.
            Durability::Full | Durability::Batch => {
                file.sync_data().map_err(|source| self.write_error(source))
            }
            Durability::Os => Ok(()),
        }
    }

    fn write_locked(
        &self,
        growing: &mut Growing,
        entry: AuditEntry,
    ) -> Result<(), AppendAuditError> {
        self.catch_up(growing)?;
        if self
            .settings
            .rotate_bytes
            .is_some_and(|most| growing.length >= most && growing.length > 0)
        {
            self.rotate(growing)?;
        }
        let at = self.clock.wall();
        let missed = self.missed.load(Ordering::Relaxed);
        let place = Place { head: growing.head, at, missed, set_aside: growing.set_aside };
        let (line, head) = sealed(entry, place).ok_or(AppendAuditError::Time(at))?;
        if let Err(source) = (&*growing.file).write_all(&line) {
            // Remove half a line at once, or it would be read as a torn one. If that fails too, the
            // next writer sets it aside.
            let _ = growing.file.set_len(growing.length);
            return Err(self.write_error(source));
        }
        growing.length += u64::try_from(line.len()).unwrap_or_default();
        growing.head = head;
        growing.set_aside = 0;
        self.missed.fetch_sub(missed, Ordering::Relaxed);
        Ok(())
    }

    /// Locks the file that now has the log's name, and reads what other processes wrote.
    fn catch_up(&self, growing: &mut Growing) -> Result<(), AppendAuditError> {
        crate::patience::lock(&growing.file).map_err(|source| self.write_error(source))?;
        let there = file::identity_at(&self.path).map_err(|source| self.write_error(source))?;
        if there != Some(growing.identity) {
            // Another process rotated the full file.
            let expected = growing.head.size;
            let mut notices = Vec::new();
            let opened = Growing::open(&self.path, &mut notices)?;
            for notice in notices {
                tracing::warn!("{notice}");
            }
            let found = opened.head.size;
            if found < expected {
                // Dropping `opened` releases its lock.
                return Err(AppendAuditError::Cut { path: self.path.clone(), expected, found });
            }
            growing.go_on_in(opened).map_err(|source| self.write_error(source))?;
            return Ok(());
        }
        let length = growing.file.metadata().map_err(|source| self.write_error(source))?.len();
        if length < growing.length {
            let path = self.path.clone();
            let found = growing.lines_before(length).unwrap_or_default();
            return Err(AppendAuditError::Cut { path, expected: growing.head.size, found });
        }
        if length > growing.length {
            self.read_on(growing, length)?;
        }
        Ok(())
    }

    /// Follows the chain through the lines of other processes, and sets a torn line at the end
    /// aside.
    fn read_on(&self, growing: &mut Growing, length: u64) -> Result<(), AppendAuditError> {
        let failed = |source| self.write_error(source);
        let mut file = &*growing.file;
        file.seek(SeekFrom::Start(growing.length)).map_err(failed)?;
        let mut lines = Lines::new(file, length - growing.length);
        let foreign = |why| AppendAuditError::Foreign { path: self.path.clone(), why };
        let mut torn = 0;
        while let Some((line, size)) = lines.next().map_err(failed)? {
            match line {
                Ok(line) => growing.head = line::continued(line, growing.head).map_err(foreign)?,
                Err(LineError::Torn) => {
                    torn = size;
                    break;
                }
                Err(why) => return Err(foreign(why)),
            }
            growing.length += size;
        }
        if torn > 0 {
            let notice = growing.put_torn_aside(&self.path, torn)?;
            tracing::warn!("{notice}");
        }
        Ok(())
    }

    /// Renames the full file and starts a new one that continues the chain.
    fn rotate(&self, growing: &mut Growing) -> Result<(), AppendAuditError> {
        let failed = |source| self.write_error(source);
        growing.file.sync_data().map_err(failed)?;
        let aside = file::next_rotated(&self.path).map_err(failed)?;
        std::fs::rename(&self.path, &aside).map_err(failed)?;
        file::sync_folder(&self.path).map_err(failed)?;
        let mut notices = Vec::new();
        let opened = Growing::open(&self.path, &mut notices)?;
        growing.go_on_in(opened).map_err(failed)
    }

    fn write_error(&self, source: io::Error) -> AppendAuditError {
        AppendAuditError::Write { path: self.path.clone(), source }
    }
}
