//! Walks through directories without leaving them: every step starts from the open handle of the
//! directory before, and does not follow links.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::failure::trouble;
use super::place::Place;
use super::tool::Work;
use crate::ToolError;

/// The maximum depth, which limits the number of open directories.
const DEEPEST: usize = 128;

/// The maximum length of a `.gitignore` in bytes; the rest is ignored.
const LONGEST_IGNORE: u64 = 1024 * 1024;

/// An entry of a directory.
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: FileType,
}

/// A file found by the walk.
pub(super) struct Met<'m> {
    folder: &'m OwnedFd,
    name: &'m OsStr,
    pub(super) kind: FileType,
    /// The path relative to the root.
    pub(super) relative: PathBuf,
}

impl Met<'_> {
    /// Opens it, if it is a regular file.
    pub(super) fn open(&self) -> io::Result<File> {
        let fd = rustix::fs::openat(self.folder, self.name, FILE, Mode::empty())?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        if kind == FileType::RegularFile {
            Ok(File::from(fd))
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}

const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// The number of files that a walk skipped.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Files that the policy denies.
    pub(super) denied: u64,
    /// Files that could not be opened, or are too deep.
    pub(super) unread: u64,
}

impl LeftOut {
    /// The counts in words, one line each; empty if nothing was skipped.
    pub(super) fn notes(&self) -> String {
        let kinds = [(self.denied, "access not allowed"), (self.unread, "could not be read")];
        let present = kinds.iter().filter(|(count, _)| *count > 0);
        present.map(|(count, why)| format!("[left out, {why}: {count}]\n")).collect()
    }
}

/// A directory being walked.
struct Step {
    folder: OwnedFd,
    relative: PathBuf,
    entries: std::vec::IntoIter<Entry>,
    ignore: Option<Gitignore>,
}

/// Calls `meet` with every file and link beneath a directory, sorted by name, while it returns
/// `Continue`. Skips `.git`, denied paths, and what `.gitignore` files exclude.
pub(super) fn walk(
    work: &Work<'_>,
    place: &Place,
    meet: &mut dyn FnMut(&Met<'_>, &mut LeftOut) -> Result<ControlFlow<()>, ToolError>,
) -> Result<LeftOut, ToolError> {
    let failed = |error: io::Error| trouble(&place.requested, &error);
    let mut left_out = LeftOut::default();
    let above = above(place);
    let folder = place.root.open_directory(&place.relative).map_err(failed)?;
    let first = Step::into(folder, place.relative.clone(), place.root.path()).map_err(failed)?;
    let mut steps = vec![first];
    while let Some(step) = steps.last_mut() {
        work.stop.check()?;
        let Some(entry) = step.entries.next() else {
            steps.pop();
            continue;
        };
        let relative = step.relative.join(&entry.name);
        let full = place.root.path().join(&relative);
        let is_folder = entry.kind == FileType::Directory;
        if entry.name == ".git" || ignored(&above, &steps, &full, is_folder) {
            continue;
        }
        if !work.may_see(&full, &relative, false) {
            left_out.denied += 1;
            continue;
        }
        let Some(step) = steps.last() else { break };
        if is_folder {
            let flags = FILE | OFlags::DIRECTORY;
            let opened = rustix::fs::openat(&step.folder, &entry.name, flags, Mode::empty());
            let next = opened
                .map_err(io::Error::from)
                .and_then(|folder| Step::into(folder, relative, place.root.path()));
            match next {
                Ok(next) if steps.len() < DEEPEST => steps.push(next),
                _ => left_out.unread += 1,
            }
            continue;
        }
        let met = Met { folder: &step.folder, name: &entry.name, kind: entry.kind, relative };
        if meet(&met, &mut left_out)?.is_break() {
            break;
        }
    }
    Ok(left_out)
}

impl Step {
    fn into(folder: OwnedFd, relative: PathBuf, root: &Path) -> io::Result<Self> {
        let entries = entries(&folder)?.into_iter();
        let ignore = gitignore(&folder, &root.join(&relative));
        Ok(Self { folder, relative, entries, ignore })
    }
}

/// The entries of a directory, sorted by name.
pub(super) fn entries(folder: &OwnedFd) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let name = OsString::from_vec(name.to_vec());
        let kind = match entry.file_type() {
            // Not every file system reports the kind here.
            FileType::Unknown => {
                let stat = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW);
                stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
            }
            kind => kind,
        };
        entries.push(Entry { name, kind });
    }
    entries.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    Ok(entries)
}

/// The `.gitignore` files above the directory in which the walk begins, outermost first.
fn above(place: &Place) -> Vec<Gitignore> {
    let folders = place.relative.ancestors().skip(1).collect::<Vec<_>>();
    let ignores = folders.iter().rev().filter_map(|relative| {
        let folder = place.root.open_directory(relative).ok()?;
        gitignore(&folder, &place.root.path().join(relative))
    });
    ignores.collect()
}

/// Whether a path is ignored. The innermost `.gitignore` that matches it decides.
fn ignored(above: &[Gitignore], steps: &[Step], full: &Path, is_folder: bool) -> bool {
    let within = steps.iter().rev().filter_map(|step| step.ignore.as_ref());
    for ignore in within.chain(above.iter().rev()) {
        match ignore.matched(full, is_folder) {
            Match::None => {}
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
        }
    }
    false
}

fn gitignore(folder: &OwnedFd, path: &Path) -> Option<Gitignore> {
    let fd = rustix::fs::openat(folder.as_fd(), ".gitignore", FILE, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&fd).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(fd).take(LONGEST_IGNORE).read_to_end(&mut bytes).ok()?;
    let mut builder = GitignoreBuilder::new(path);
    for line in String::from_utf8_lossy(&bytes).lines() {
        // Git skips invalid lines as well.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|ignore| !ignore.is_empty())
}
