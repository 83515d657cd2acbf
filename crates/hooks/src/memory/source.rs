//! The transcript's file: which part of it is new, and whether it is still the file that was read
//! before.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use counterfoil_model::Digest;

use super::record::{Bytes, Cursor};

/// The number of bytes at the beginning and at the end of the read part that identify a file.
const LOOKED_AT: u64 = 2048;

/// A file, up to where it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// The device and inode, if the system has them.
    identity: (u64, u64),
    /// The number of bytes that were read, in whole lines.
    pub(super) offset: u64,
    /// The number of lines that were read.
    pub(super) lines: u64,
    /// The digest of the beginning and the end of what was read.
    digest: String,
}

impl Source {
    /// Describes `file`, read up to this offset.
    pub(super) fn describe(file: &mut File, offset: u64, lines: u64) -> io::Result<Self> {
        let identity = identity(file)?;
        Ok(Self { identity, offset, lines, digest: digest(file, offset)? })
    }

    /// Whether this is the same file, possibly with more content.
    pub(super) fn is_begun_in(&self, file: &mut File) -> io::Result<bool> {
        Ok(self.offset > 0
            && self.identity == identity(file)?
            && self.offset <= file.metadata()?.len()
            && self.digest == digest(file, self.offset)?)
    }

    pub(super) fn write(&self, bytes: &mut Bytes) {
        bytes.number(self.identity.0);
        bytes.number(self.identity.1);
        bytes.number(self.offset);
        bytes.number(self.lines);
        bytes.text(&self.digest);
    }

    pub(super) fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            identity: (cursor.number()?, cursor.number()?),
            offset: cursor.number()?,
            lines: cursor.number()?,
            digest: cursor.text()?,
        })
    }
}

#[cfg(unix)]
fn identity(file: &File) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &File) -> io::Result<(u64, u64)> {
    Ok((0, 0))
}

fn digest(file: &mut File, offset: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.by_ref().take(offset.min(LOOKED_AT)).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(offset.saturating_sub(LOOKED_AT)))?;
    file.by_ref().take(offset.min(LOOKED_AT)).read_to_end(&mut bytes)?;
    Ok(Digest::of_bytes(&bytes).to_string())
}

/// Opens a regular file for reading, so that no pipe is waited for.
pub(super) fn open(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// The end of the last complete line of `file`, from `start` on. Anything after it is still being
/// written, unless it is a complete line that only lacks its line break.
pub(super) fn end_of_lines(file: &mut File, start: u64) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let length = file.metadata()?.len();
    let mut at = length;
    let mut tail = Vec::new();
    while at > start {
        let from = at.saturating_sub(STEP).max(start);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.by_ref().take(at - from).read_to_end(&mut bytes)?;
        if let Some(found) = memchr::memrchr(b'\n', &bytes) {
            let found = from + u64::try_from(found).unwrap_or(0) + 1;
            tail.splice(..0, bytes.split_off(usize::try_from(found - from).unwrap_or(0)));
            return Ok(if is_whole(&tail) { length } else { found });
        }
        tail.splice(..0, bytes);
        at = from;
    }
    Ok(if is_whole(&tail) { length } else { start })
}

fn is_whole(line: &[u8]) -> bool {
    !line.is_empty() && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}
