use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::file;
use super::line::{self, AuditLine, LineError};
use super::source::Lines;

/// A snapshot of the files of an audit log, opened for reading. Later appends and rotations are not
/// visible, and no line appears twice.
#[derive(Debug)]
pub struct AuditFiles {
    pub(super) files: Vec<(PathBuf, File, u64)>,
}

/// Why an audit log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadAuditError {
    /// It does not exist.
    #[error("there is no audit log `{}`", .0.display())]
    Missing(PathBuf),
    /// An I/O error.
    #[error("the audit log `{}` cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

/// A line that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditProblem {
    /// The file.
    pub file: PathBuf,
    /// The line in that file, from 1.
    pub line: u64,
    /// What is wrong.
    pub why: LineError,
}

impl AuditFiles {
    /// Opens all files of the log whose growing file is at `path`.
    ///
    /// # Errors
    /// When the log does not exist, or a file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, ReadAuditError> {
        loop {
            let before = list(path)?;
            let mut files = Vec::new();
            for full in &before {
                let file = file::open_to_read(full).map_err(|source| error(full, source))?;
                let length = file.metadata().map_err(|source| error(full, source))?.len();
                files.push((full.clone(), file, length));
            }
            match growing(path) {
                Ok((file, length)) => files.push((path.to_owned(), file, length)),
                Err(error) if error.kind() == io::ErrorKind::NotFound && !files.is_empty() => {}
                Err(source) if source.kind() == io::ErrorKind::NotFound => {
                    return Err(ReadAuditError::Missing(path.to_owned()));
                }
                Err(source) => return Err(error(path, source)),
            }
            // A writer may have rotated the growing file between the two listings.
            if list(path)? == before {
                return Ok(Self { files });
            }
        }
    }

    /// The total size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, _, length)| length).sum()
    }

    /// Passes every line to `each`, oldest first; a changed line is passed as a problem in its
    /// place. Stops when `each` returns [`Reading::Stop`].
    ///
    /// # Errors
    /// On an I/O error.
    pub fn lines(
        self,
        each: &mut dyn FnMut(Result<AuditLine, AuditProblem>) -> Reading,
    ) -> Result<(), ReadAuditError> {
        self.raw(&mut |path, number, bytes, _| {
            let problem = |why| AuditProblem { file: path.to_owned(), line: number, why };
            each(bytes.and_then(line::read).map_err(problem))
        })
    }

    /// Passes every line to `each` as bytes, with its file, its number there and its size.
    pub(super) fn raw(
        self,
        each: &mut dyn FnMut(&Path, u64, Result<&[u8], LineError>, u64) -> Reading,
    ) -> Result<(), ReadAuditError> {
        for (path, file, length) in self.files {
            let mut lines = Lines::new(file, length);
            let mut number = 0;
            while let Some((bytes, size)) = lines.next().map_err(|source| error(&path, source))? {
                number += 1;
                if each(&path, number, bytes, size) == Reading::Stop {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Whether to continue reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Continue.
    GoOn,
    /// Stop.
    Stop,
}

fn list(path: &Path) -> Result<Vec<PathBuf>, ReadAuditError> {
    match file::rotated(path) {
        Ok(files) => Ok(files.into_iter().map(|(_, path)| path).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(ReadAuditError::Missing(path.to_owned()))
        }
        Err(source) => Err(error(path, source)),
    }
}

/// The growing file and its length, taken under a shared lock so that no writer is in the middle of
/// a line.
fn growing(path: &Path) -> io::Result<(File, u64)> {
    let file = file::open_to_read(path)?;
    file.lock_shared()?;
    let length = file.metadata()?.len();
    file.unlock()?;
    Ok((file, length))
}

fn error(path: &Path, source: io::Error) -> ReadAuditError {
    ReadAuditError::Io { path: path.to_owned(), source }
}
