//! Replaces a file atomically.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use counterfoil_model::SideEffect;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::failure::{denied, impossible, trouble};
use super::place::Place;
use super::shown::shown;
use super::stop::Stop;
use crate::ToolError;
use crate::beneath::steps;

/// The result of a replacement.
pub(super) struct Replaced {
    /// Whether there was no file before.
    pub(super) created: bool,
    /// The side effects to record.
    pub(super) side_effects: Vec<SideEffect>,
}

/// The identity of a file that was read, to detect later changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: (u64, u64),
    length: i64,
    changed: (i64, i64),
}

impl Stamp {
    #[expect(
        clippy::cast_possible_wrap,
        clippy::unnecessary_cast,
        reason = "types differ by system"
    )]
    pub(super) fn from_stat(stat: &Stat) -> Self {
        Self {
            inode: (stat.st_dev as u64, stat.st_ino as u64),
            length: stat.st_size as i64,
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

/// Writes a temporary file in the same directory, which is held open, and moves it into place:
/// readers see either the old content or the new. A link there is replaced, never followed. Creates
/// missing directories. With a `read` stamp, does nothing unless the file is unchanged.
pub(super) fn replace(
    place: &Place,
    content: &[u8],
    read: Option<Stamp>,
    stop: &Stop,
) -> Result<Replaced, ToolError> {
    let requested = place.requested.as_str();
    let failed = |error: io::Error| trouble(requested, &error);
    let Some(name) = place.relative.file_name() else {
        return Err(impossible(format!("`{}` is a directory", shown(requested))));
    };
    let mut side_effects = Vec::new();
    let parent = place.relative.parent().unwrap_or(Path::new(""));
    let folder = folder(place, parent, stop, &mut side_effects)?;
    let before = existing(&folder, name, requested)?;
    let mut temporary = Temporary::create(&folder, before.as_ref()).map_err(failed)?;
    temporary.fill(content, before.as_ref()).map_err(failed)?;
    stop.effect(|| {
        let now = existing(&folder, name, requested)?;
        if let Some(read) = read
            && now.as_ref().map(Stamp::from_stat) != Some(read)
        {
            let requested = shown(requested);
            return Err(impossible(format!(
                "`{requested}` was changed by another process in the meantime, so nothing was \
                 written; read the file again"
            )));
        }
        temporary.move_to(name).map_err(failed)
    })??;
    side_effects.push(SideEffect::Wrote(place.full()));
    Ok(Replaced { created: before.is_none(), side_effects })
}

/// Opens the directory, or creates it if it is missing.
fn folder(
    place: &Place,
    relative: &Path,
    stop: &Stop,
    side_effects: &mut Vec<SideEffect>,
) -> Result<OwnedFd, ToolError> {
    let failed = |error: io::Error| trouble(&place.requested, &error);
    match place.root.open_directory(relative) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened.map_err(failed),
    }
    let mut held = place.root.open_directory(Path::new("")).map_err(failed)?;
    let mut path = place.root.path().to_owned();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for step in steps(relative).map_err(failed)? {
        path.push(step);
        match stop.effect(|| rustix::fs::mkdirat(&held, step, Mode::from_raw_mode(0o777)))? {
            Ok(()) => side_effects.push(SideEffect::Wrote(path.clone())),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
        let next = rustix::fs::openat(&held, step, flags, Mode::empty());
        held = next.map_err(|errno| failed(errno.into()))?;
    }
    Ok(held)
}

/// The regular file that is there; an error for anything else, and for a write-protected file.
fn existing(
    folder: &OwnedFd,
    name: &std::ffi::OsStr,
    requested: &str,
) -> Result<Option<Stat>, ToolError> {
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(trouble(requested, &errno.into())),
    };
    let requested = shown(requested);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => {
            return Err(denied(format!("`{requested}` changed while it was being opened")));
        }
        FileType::Directory => return Err(impossible(format!("`{requested}` is a directory"))),
        _ => return Err(impossible(format!("`{requested}` is not a regular file"))),
    }
    // Renaming would replace it anyway, because that only requires write access to the directory.
    let writable =
        rustix::fs::accessat(folder, name, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS);
    if stat.st_mode & 0o222 == 0 || writable.is_err() {
        return Err(impossible(format!("`{requested}` is write-protected")));
    }
    Ok(Some(stat))
}

/// A temporary file, which is deleted unless it was moved into place.
struct Temporary<'f> {
    folder: &'f OwnedFd,
    name: PathBuf,
    file: File,
    arrived: bool,
}

/// The maximum number of names to try. Names are in use only by other calls of this process, or
/// left over from a killed one.
const NAMES: u32 = 10_000;

impl<'f> Temporary<'f> {
    fn create(folder: &'f OwnedFd, before: Option<&Stat>) -> io::Result<Self> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // The replacement of a file must not be readable by those who could not read the original.
        let mode = if before.is_some() { 0o600 } else { 0o666 };
        let process = std::process::id();
        for number in 0..NAMES {
            let name = PathBuf::from(format!(".counterfoil-{process}-{number}.tmp"));
            match rustix::fs::openat(folder, &name, flags, Mode::from_raw_mode(mode)) {
                Ok(fd) => return Ok(Self { folder, name, file: fd.into(), arrived: false }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(Errno::EXIST.into())
    }

    /// Writes the content, and copies owner and mode from the file before.
    fn fill(&mut self, content: &[u8], before: Option<&Stat>) -> io::Result<()> {
        self.file.write_all(content)?;
        if let Some(before) = before {
            let own = rustix::fs::fstat(self.file.as_fd())?;
            if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid) {
                let (user, group) = (Uid::from_raw(before.st_uid), Gid::from_raw(before.st_gid));
                // Only root can change the owner; for others the file keeps theirs.
                let _ = rustix::fs::fchown(self.file.as_fd(), Some(user), Some(group));
            }
            let mode = Mode::from_raw_mode(before.st_mode & 0o777);
            rustix::fs::fchmod(self.file.as_fd(), mode)?;
        }
        self.file.sync_all()
    }

    fn move_to(&mut self, name: &std::ffi::OsStr) -> io::Result<()> {
        rustix::fs::renameat(self.folder, &self.name, self.folder, name)?;
        self.arrived = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.arrived {
            // Best effort: a leftover does no harm.
            let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}
