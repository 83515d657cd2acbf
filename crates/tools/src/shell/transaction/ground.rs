//! Access to the workspace for transactions: every step starts from a handle opened before the
//! command ran and follows no link, even if the command replaced a folder.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RawMode, Timespec, Timestamps, UTIME_OMIT, fchmod,
    futimens, mkdirat, openat, readlinkat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::entry::{Left, Modified};
use crate::beneath::Root;

/// The workspace, held open. Paths are relative to it and consist of names only.
#[derive(Debug)]
pub(super) struct Ground {
    root: Root,
}

/// What is at a path, without following links.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) kind: FileType,
    pub(super) mode: u32,
    pub(super) bytes: u64,
    pub(super) modified: Modified,
}

impl Ground {
    /// Opens a folder; `path` must be its canonical path.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { root: Root::open(path)? })
    }

    /// What is at the path; `None` if nothing is. A link in place of a parent folder is an error.
    pub(super) fn look(&self, path: &Path) -> io::Result<Option<Seen>> {
        let (folder, name) = match self.parent(path) {
            Ok(found) => found,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Seen {
                kind: FileType::from_raw_mode(stat.st_mode),
                #[cfg_attr(
                    target_os = "linux",
                    expect(clippy::useless_conversion, reason = "it is shorter on macOS")
                )]
                mode: u32::from(stat.st_mode) & 0o7777,
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                modified: Modified {
                    seconds: stat.st_mtime,
                    nanoseconds: u32::try_from(stat.st_mtime_nsec).unwrap_or(0),
                },
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// What is at the path, with enough detail to detect changes.
    pub(super) fn left(&self, path: &Path) -> io::Result<Left> {
        let Some(seen) = self.look(path)? else { return Ok(Left::Absent) };
        match seen.kind {
            FileType::Directory => Ok(Left::Folder),
            FileType::Symlink => Ok(Left::Link { target: self.read_link(path)? }),
            FileType::RegularFile => digest(&mut self.read(path)?),
            _ => Err(io::Error::new(io::ErrorKind::Unsupported, "it is not a regular file")),
        }
    }

    pub(super) fn read(&self, path: &Path) -> io::Result<File> {
        Ok(File::from(self.root.open_to_read(path)?))
    }

    pub(super) fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let (folder, name) = self.parent(path)?;
        let target = readlinkat(&folder, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// The names in a folder, sorted.
    pub(super) fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.root.open_directory(path)?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Removes a file, a link or an empty folder.
    pub(super) fn remove(&self, path: &Path, is_folder: bool) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(unlinkat(&folder, name, flags)?)
    }

    /// Creates a folder unless it exists.
    pub(super) fn make_folder(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        match mkdirat(&folder, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Sets the mode of a folder.
    pub(super) fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        Ok(fchmod(self.root.open_directory(path)?, raw(mode))?)
    }

    /// Creates a link, replacing a file or a link.
    pub(super) fn put_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let beside = beside(name);
        symlinkat(target, &folder, &beside)?;
        renamed(&folder, &beside, name)
    }

    /// Creates a file, replacing a file or a link atomically.
    pub(super) fn put_file(
        &self,
        path: &Path,
        text: &mut impl io::Read,
        mode: u32,
        modified: Option<Modified>,
    ) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let beside = beside(name);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&folder, &beside, flags, Mode::RUSR | Mode::WUSR)?);
        let written = io::copy(text, &mut file).and_then(|_| {
            fchmod(&file, raw(mode))?;
            if let Some(modified) = modified {
                futimens(&file, &modified.timestamps())?;
            }
            file.sync_all()
        });
        if let Err(error) = written {
            let _ = unlinkat(&folder, &beside, AtFlags::empty());
            return Err(error);
        }
        renamed(&folder, &beside, name)
    }

    /// Whether a folder cannot be opened because it, or a parent, is a link.
    fn is_link(&self, folder: &Path, error: &io::Error) -> bool {
        match Errno::from_io_error(error) {
            Some(Errno::LOOP) => true,
            Some(Errno::NOTDIR) => self
                .root
                .look_at(folder)
                .and_then(|fd| Ok(rustix::fs::fstat(fd)?))
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink),
            _ => false,
        }
    }

    /// The parent folder of a path, and the name in it.
    fn parent<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let Some(name) = path.file_name() else {
            return Ok((self.root.open_directory(Path::new(""))?, OsStr::new(".")));
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let held = self.root.open_directory(folder).map_err(|error| {
            if self.is_link(folder, &error) {
                let folder = folder.display();
                io::Error::other(format!(
                    "`{folder}` is now a link, not a folder, and is not followed"
                ))
            } else {
                error
            }
        })?;
        Ok((held, name))
    }
}

impl Modified {
    /// Timestamps that set this time of modification, and leave the access time unchanged.
    fn timestamps(self) -> Timestamps {
        Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            last_modification: Timespec { tv_sec: self.seconds, tv_nsec: self.nanoseconds.into() },
        }
    }
}

/// Whether the error means that nothing is there, or nothing reachable.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The digest of the whole content.
pub(super) fn digest(file: &mut impl io::Read) -> io::Result<Left> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => hash.update(piece.get(..count).unwrap_or_default()),
        }
    }
    Ok(Left::File { digest: counterfoil_model::Digest::from_bytes(hash.finalize().into()) })
}

fn raw(mode: u32) -> Mode {
    Mode::from_raw_mode(RawMode::try_from(mode).unwrap_or(0o600))
}

fn renamed(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
    renameat(folder, from, folder, to).map_err(|errno| {
        let _ = unlinkat(folder, from, AtFlags::empty());
        errno.into()
    })
}

/// A temporary name for what is created before it is moved into place.
fn beside(name: &OsStr) -> OsString {
    let mut beside = OsString::from(format!(".counterfoil-undo-{}-", std::process::id()));
    // Names have a bounded length, and one folder is worked on at a time.
    let tail = name.as_bytes().iter().take(150).copied().collect();
    beside.push(OsString::from_vec(tail));
    beside
}
