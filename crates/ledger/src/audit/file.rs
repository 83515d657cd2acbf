//! The files of one log: `audit.jsonl` is appended to, `audit-000001.jsonl` and so on are full.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::line::LONGEST;

/// Opens the growing file for reading and appending. Creates it, readable by its owner only, if it
/// is missing. Does not follow a link in its place.
pub(super) fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    regular(options.custom_flags(flags()).open(path)?)
}

/// Opens one of the files for reading. Does not follow a link in its place.
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().read(true).custom_flags(flags()).open(path)?)
}

/// Creates a new file for what is set aside.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(flags()).open(path)
}

fn flags() -> i32 {
    // Not blocking: a pipe in place of the log must not hang the process that opens it.
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// Device and inode: distinguishes a file from one that takes its name later.
pub(super) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// The identity of the file at the path, without following links; `None` if there is no file.
pub(super) fn identity_at(path: &Path) -> io::Result<Option<(u64, u64)>> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(identity(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The full files of the log with their numbers, oldest first.
pub(super) fn rotated(path: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let (folder, stem, extension) = parts(path);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| {
            let rest = name.strip_prefix(&stem)?.strip_prefix('-')?;
            let digits = rest.strip_suffix(&extension)?;
            let digits =
                Some(digits).filter(|d| d.len() >= 6 && d.bytes().all(|b| b.is_ascii_digit()))?;
            digits.parse().ok()
        });
        found.extend(number.map(|number| (number, folder.join(&name))));
    }
    found.sort_unstable();
    Ok(found)
}

/// The path for the growing file once it is full: the number after the last.
pub(super) fn next_rotated(path: &Path) -> io::Result<PathBuf> {
    let last = rotated(path)?.last().map_or(0, |(number, _)| *number);
    let (folder, stem, extension) = parts(path);
    Ok(folder.join(format!("{stem}-{:06}{extension}", last.saturating_add(1))))
}

/// The path for a torn line; `attempt` makes it unique.
pub(super) fn torn(path: &Path, seq: u64, attempt: u32) -> PathBuf {
    let (folder, stem, _) = parts(path);
    match attempt {
        0 => folder.join(format!("{stem}.torn-{seq}")),
        n => folder.join(format!("{stem}.torn-{seq}-{n}")),
    }
}

/// The folder, the name without extension, and the extension with its dot.
fn parts(path: &Path) -> (&Path, String, String) {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let extension = match path.extension() {
        Some(extension) => format!(".{}", extension.to_string_lossy()),
        None => String::new(),
    };
    (folder.unwrap_or(Path::new(".")), name(path.file_stem()), extension)
}

/// Syncs the folder, so that a new name survives a crash.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(parts(path).0)?.sync_all()
}

/// The end of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The last whole line, without its line feed; `None` if there is none.
    pub(super) line: Option<Vec<u8>>,
    /// The bytes after the last line feed.
    pub(super) torn: Vec<u8>,
}

/// Reads the end of a file that is `length` bytes long. `None` if the line there is longer than any
/// valid line.
pub(super) fn end(file: &mut File, length: u64) -> io::Result<Option<End>> {
    const STEP: u64 = 16 * 1024;
    let most = 2 * u64::try_from(LONGEST).unwrap_or(u64::MAX);
    let mut size = STEP;
    loop {
        let start = length.saturating_sub(size);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(length - start).read_to_end(&mut bytes)?;
        let feeds: Vec<usize> = memchr::memrchr_iter(b'\n', &bytes).take(2).collect();
        let line = match (feeds.as_slice(), start) {
            ([last, before], _) => bytes.get(before + 1..*last),
            ([last], 0) => bytes.get(..*last),
            ([], 0) => None,
            _ if size > most => return Ok(None),
            _ => {
                size *= 4;
                continue;
            }
        };
        let torn = feeds.first().map_or(Some(bytes.as_slice()), |last| bytes.get(last + 1..));
        return Ok(Some(End {
            line: line.map(<[u8]>::to_vec),
            torn: torn.unwrap_or_default().to_vec(),
        }));
    }
}
