//! Files that somebody names: regular ones, of a size that can be held.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Bytes of a file that is read as a whole, at most. Configurations, catalogs, baselines and
/// checkpoints are far shorter.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Opens a file. What a shell hands over by `<(…)` may be a pipe; anything else that is named must
/// be a file: a FIFO waits forever, and a device never ends.
///
/// # Errors
/// When it cannot be opened, or is a FIFO, a socket or a device.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let handed = ["/dev/fd/", "/proc/self/fd/"].iter().any(|folder| path.starts_with(folder));
    if handed || path == Path::new("/dev/stdin") {
        return File::open(path);
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a FIFO would wait for somebody to write.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
    }
    if !kind.is_file() {
        let wrong = "is not a file but a FIFO, a socket or a device";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, wrong));
    }
    Ok(file)
}

/// The text of a file.
///
/// # Errors
/// As [`open`]; when it is longer than 64 MiB, or no UTF-8.
pub(crate) fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = String::new();
    open(path.as_ref())?.take(LARGEST + 1).read_to_string(&mut text)?;
    short_enough(text.len())?;
    Ok(text)
}

/// The bytes of a file, which need not be text.
///
/// # Errors
/// As [`open`]; when it is longer than 64 MiB.
pub(crate) fn read_bytes(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path.as_ref())?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    short_enough(bytes.len())?;
    Ok(bytes)
}

fn short_enough(length: usize) -> io::Result<()> {
    if length as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "is longer than 64 MiB"));
    }
    Ok(())
}
