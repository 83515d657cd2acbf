//! Opens files beneath a folder and nowhere else, even if links are moved meanwhile.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// A folder held open.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    #[cfg_attr(not(feature = "file"), expect(dead_code, reason = "only file tools name it"))]
    path: PathBuf,
    way: Resolution,
}

/// How a path beneath the folder is resolved. Both ways refuse every link on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resolution {
    /// By the kernel, in one step.
    #[cfg(target_os = "linux")]
    Kernel,
    /// Step by step, each from the folder before.
    Steps,
}

impl Resolution {
    /// Step by step if the kernel has no `openat2`, or does not allow it.
    fn detect(root: BorrowedFd<'_>) -> Self {
        #[cfg(target_os = "linux")]
        if in_one_step(root, Path::new("."), LOOK).is_ok() {
            return Self::Kernel;
        }
        let _ = root;
        Self::Steps
    }
}

/// Flags for every file: never become the controlling terminal, never wait for the other end of a
/// pipe, never follow a link.
const ALWAYS: OFlags =
    OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// Flags for looking at a file: the kernel accepts no others in one step.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY.union(ALWAYS);

impl Root {
    /// Opens a folder; `path` must be its canonical path.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let fd =
            rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS, Mode::empty())?;
        let way = Resolution::detect(fd.as_fd());
        Ok(Self { fd, path: path.to_owned(), way })
    }

    #[cfg(feature = "file")]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a regular file or a directory for reading.
    ///
    /// The kind is checked before opening, because opening a device can have an effect, and again
    /// after it, because the file may have been replaced.
    pub(crate) fn open_to_read(&self, relative: &Path) -> io::Result<OwnedFd> {
        let looked_at = self.look_at(relative)?;
        readable(looked_at.as_fd())?;
        let fd = self.open_with(relative, OFlags::RDONLY | ALWAYS)?;
        readable(fd.as_fd())?;
        Ok(fd)
    }

    /// A handle for inspecting a file without opening it.
    pub(crate) fn look_at(&self, relative: &Path) -> io::Result<OwnedFd> {
        self.open_with(relative, LOOK)
    }

    /// Opens a directory.
    pub(crate) fn open_directory(&self, relative: &Path) -> io::Result<OwnedFd> {
        self.open_with(relative, OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS)
    }

    fn open_with(&self, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let steps = steps(relative)?;
        if steps.is_empty() {
            return Ok(openat(&self.fd, ".", flags, Mode::empty())?);
        }
        match self.way {
            #[cfg(target_os = "linux")]
            Resolution::Kernel => Ok(in_one_step(self.fd.as_fd(), relative, flags)?),
            Resolution::Steps => Ok(step_by_step(self.fd.as_fd(), &steps, flags)?),
        }
    }
}

/// The names of a path, which must consist of names only.
pub(crate) fn steps(relative: &Path) -> io::Result<Vec<&Path>> {
    relative
        .components()
        .map(|part| match part {
            Component::Normal(name) => Ok(Path::new(name)),
            _ => Err(Errno::INVAL.into()),
        })
        .collect()
}

/// Returns an error unless the open file is a regular file or a directory. Pipes, sockets, devices
/// and links are not read.
fn readable(fd: BorrowedFd<'_>) -> io::Result<()> {
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode);
    match kind {
        rustix::fs::FileType::RegularFile | rustix::fs::FileType::Directory => Ok(()),
        rustix::fs::FileType::Symlink => Err(Errno::LOOP.into()),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "it is not a regular file")),
    }
}

#[cfg(target_os = "linux")]
fn in_one_step(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    openat2(root, relative, flags, Mode::empty(), resolve)
}

fn step_by_step(root: BorrowedFd<'_>, steps: &[&Path], last: OFlags) -> Result<OwnedFd, Errno> {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS;
    let mut held: Option<OwnedFd> = None;
    for (at, step) in steps.iter().enumerate() {
        let flags = if at + 1 == steps.len() { last } else { folder };
        let from = held.as_ref().map_or(root, AsFd::as_fd);
        let next = openat(from, *step, flags, Mode::empty()).map_err(|errno| match errno {
            // The error of Linux for a link in place of a directory.
            Errno::NOTDIR if is_link(from, step) => Errno::LOOP,
            other => other,
        })?;
        held = Some(next);
    }
    held.ok_or(Errno::INVAL)
}

fn is_link(folder: BorrowedFd<'_>, name: &Path) -> bool {
    use rustix::fs::{AtFlags, FileType, statat};
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the tests create the files they check")]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Both ways open and refuse the same paths.
    #[test]
    fn links_and_steps_upwards_are_refused_by_the_kernel_and_step_by_step() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let root = path.join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/c"), "inside").unwrap();
        fs::write(path.join("outside"), "outside").unwrap();
        symlink(path.join("outside"), root.join("absolute")).unwrap();
        symlink("../outside", root.join("relative")).unwrap();
        symlink("a/b/c", root.join("within")).unwrap();
        symlink("a", root.join("folder")).unwrap();
        symlink("/proc/self/root", root.join("magic")).unwrap();
        let open = |relative: &str, way: Resolution| {
            let held = Root { way, ..Root::open(&root).unwrap() };
            let fd = held
                .open_to_read(Path::new(relative))
                .map_err(|error| Errno::from_io_error(&error))?;
            let mut text = String::new();
            fs::File::from(fd).read_to_string(&mut text).unwrap();
            Ok::<_, Option<Errno>>(text)
        };
        if Root::open(&root).unwrap().way != Resolution::Kernel {
            println!("not checked in one step: this process cannot use openat2");
        }
        for way in [Root::open(&root).unwrap().way, Resolution::Steps] {
            assert_eq!(open("a/b/c", way).as_deref(), Ok("inside"));
            for refused in
                ["absolute", "relative", "within", "folder/b/c", "magic/etc/passwd", "magic"]
            {
                assert_eq!(open(refused, way), Err(Some(Errno::LOOP)), "{refused}");
            }
            for refused in ["../outside", "a/../../outside", "/etc/passwd"] {
                assert_eq!(open(refused, way), Err(Some(Errno::INVAL)), "{refused}");
            }
            assert_eq!(open("a/x", way), Err(Some(Errno::NOENT)));
            assert_eq!(open("a/b/c/d", way), Err(Some(Errno::NOTDIR)));
        }
    }
}
