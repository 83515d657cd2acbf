//! Opening what lies beneath a folder, and nothing else, whoever moves links meanwhile.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// A folder that is held open.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    #[cfg_attr(not(feature = "file"), expect(dead_code, reason = "only file tools name it"))]
    path: PathBuf,
    way: Way,
}

/// How a path beneath the folder is followed. Both refuse every link on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The kernel does it in one step.
    #[cfg(target_os = "linux")]
    Kernel,
    /// Step by step, each from the folder before.
    Steps,
}

impl Way {
    /// Step by step where the kernel is older than openat2, or does not let us use it.
    fn of(root: BorrowedFd<'_>) -> Self {
        #[cfg(target_os = "linux")]
        if in_one_step(root, Path::new("."), LOOK).is_ok() {
            return Self::Kernel;
        }
        let _ = root;
        Self::Steps
    }
}

/// For every file: never the terminal, never waiting for the other end of a pipe, never a link.
const ALWAYS: OFlags =
    OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// For a look: the kernel refuses anything more in one step.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY.union(ALWAYS);

impl Root {
    /// Holds a folder open; `path` is its one real form.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let fd =
            rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS, Mode::empty())?;
        let way = Way::of(fd.as_fd());
        Ok(Self { fd, path: path.to_owned(), way })
    }

    #[cfg(feature = "file")]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens what is there to be read: a regular file, or a directory.
    ///
    /// The kind is looked at before, because opening a device can already have an effect, and
    /// afterwards, because it may be another one by then.
    pub(crate) fn open_to_read(&self, relative: &Path) -> io::Result<OwnedFd> {
        let looked_at = self.look_at(relative)?;
        readable(looked_at.as_fd())?;
        let fd = self.open_with(relative, OFlags::RDONLY | ALWAYS)?;
        readable(fd.as_fd())?;
        Ok(fd)
    }

    /// A handle that says what is there, without opening it.
    pub(crate) fn look_at(&self, relative: &Path) -> io::Result<OwnedFd> {
        self.open_with(relative, LOOK)
    }

    /// The directory there.
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
            Way::Kernel => Ok(in_one_step(self.fd.as_fd(), relative, flags)?),
            Way::Steps => Ok(step_by_step(self.fd.as_fd(), &steps, flags)?),
        }
    }
}

/// The names on a path that has nothing but names.
pub(crate) fn steps(relative: &Path) -> io::Result<Vec<&Path>> {
    relative
        .components()
        .map(|part| match part {
            Component::Normal(name) => Ok(Path::new(name)),
            _ => Err(Errno::INVAL.into()),
        })
        .collect()
}

/// Whether what is open is a regular file or a directory. Everything else (pipes, sockets,
/// devices, links) is not read.
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
            // What Linux says of a link that should have been a directory.
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
#[expect(clippy::disallowed_methods, reason = "tests make the files they look at")]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Both ways open the same and refuse the same.
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
        let open = |relative: &str, way: Way| {
            let held = Root { way, ..Root::open(&root).unwrap() };
            let fd = held
                .open_to_read(Path::new(relative))
                .map_err(|error| Errno::from_io_error(&error))?;
            let mut text = String::new();
            fs::File::from(fd).read_to_string(&mut text).unwrap();
            Ok::<_, Option<Errno>>(text)
        };
        if Root::open(&root).unwrap().way != Way::Kernel {
            println!("not checked in one step: the kernel has no openat2 for us");
        }
        for way in [Root::open(&root).unwrap().way, Way::Steps] {
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
