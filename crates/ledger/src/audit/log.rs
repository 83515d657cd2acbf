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

/// A log of what was called, by whom, and how it ended: one line a call, each bound to the one
/// before. Only appended to. Several threads and several processes may share one.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    settings: AuditSettings,
    clock: Arc<dyn Clock>,
    redactor: Redactor,
    notices: Vec<String>,
    /// Calls that were not written down since the last line.
    missed: AtomicU64,
    growing: Mutex<Growing>,
}

impl AuditLog {
    /// Opens the log, made where it is missing. A torn last line, left by a process that died, is
    /// put into a file beside it and noticed.
    ///
    /// # Errors
    /// When it is a link or no regular file, when its last line is not as it was written, when the
    /// file system says no.
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

    /// What was found when it was opened: a torn line, a mode that was too wide.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The growing file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The end of the chain as this process knows it.
    #[must_use]
    pub fn head(&self) -> AuditHead {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner).head
    }

    /// Writes one line. When this returns, it is written as the durability demands.
    ///
    /// # Errors
    /// When it could not be written; then nothing of it is in the log, and the next line says that
    /// one is missing.
    pub fn append(&self, entry: &AuditEntry) -> Result<(), AppendAuditError> {
        let entry = cleaned(entry, &self.redactor);
        self.write(entry).inspect_err(|_| {
            self.missed.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Writes one line, or lets the call pass without, as the settings say.
    ///
    /// # Errors
    /// As [`Self::append`], where a call that is not written down is to be denied.
    pub fn record(&self, entry: &AuditEntry) -> Result<(), AppendAuditError> {
        match (self.append(entry), self.settings.on_failure) {
            (Err(error), OnFailure::Continue) => {
                tracing::error!("a call of `{}` is not in the audit log: {error}", entry.tool);
                Ok(())
            }
            (result, _) => result,
        }
    }

    fn write(&self, entry: AuditEntry) -> Result<(), AppendAuditError> {
        let file = {
            let mut growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
            let written = self.write_locked(&mut growing, entry);
            // The lock goes with the file; were it to stay, others would wait for ever.
            let unlocked = growing.file.unlock().map_err(|source| self.write_error(source));
            written.and(unlocked)?;
            Arc::clone(&growing.file)
        };
        match self.settings.durability {
            // Outside the lock, so that many threads share one sync of the disk.
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
            // Half a line would be taken for a torn one: it goes at once. Where even that fails,
            // the next writer sets it aside.
            let _ = growing.file.set_len(growing.length);
            return Err(self.write_error(source));
        }
        growing.length += u64::try_from(line.len()).unwrap_or_default();
        growing.head = head;
        growing.set_aside = 0;
        self.missed.fetch_sub(missed, Ordering::Relaxed);
        Ok(())
    }

    /// Takes the lock on the file that has the log's name now, and reads what others wrote.
    fn catch_up(&self, growing: &mut Growing) -> Result<(), AppendAuditError> {
        crate::patience::lock(&growing.file).map_err(|source| self.write_error(source))?;
        let there = file::identity_at(&self.path).map_err(|source| self.write_error(source))?;
        if there != Some(growing.identity) {
            // Another process put the full file aside.
            let expected = growing.head.size;
            let mut notices = Vec::new();
            let opened = Growing::open(&self.path, &mut notices)?;
            for notice in notices {
                tracing::warn!("{notice}");
            }
            let found = opened.head.size;
            if found < expected {
                // The lock on what was opened goes with it.
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

    /// Follows the chain through what others wrote; a torn line at its end is set aside.
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

    /// Puts the full file aside and begins a new one, which continues the chain.
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
