//! Reads files named by the user: regular files of a limited size.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// The maximum size of a file that is read into memory, in bytes. Configurations, catalogs,
/// baselines and checkpoints are far smaller.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Opens a file. A file descriptor from the shell, such as `<(…)`, may be a pipe; any other path
/// must be a regular file, because a FIFO may block forever and a device may never end.
///
/// # Errors
/// Returns an error if the path cannot be opened, or is a folder, FIFO, socket or device.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let handed = ["/dev/fd/", "/proc/self/fd/"].iter().any(|folder| path.starts_with(folder));
    if handed || path == Path::new("/dev/stdin") {
        return File::open(path);
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // Without this, opening a FIFO would wait for a writer.
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
        let wrong = "is a FIFO, a socket or a device, not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, wrong));
    }
    Ok(file)
}

/// Reads the text of a file.
///
/// # Errors
/// Returns an error if [`open`] fails, or the file is larger than 64 MiB or not UTF-8.
pub(crate) fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = String::new();
    open(path.as_ref())?.take(LARGEST + 1).read_to_string(&mut text)?;
    short_enough(text.len())?;
    Ok(text)
}

/// Reads the bytes of a file, which need not be text.
///
/// # Errors
/// Returns an error if [`open`] fails, or the file is larger than 64 MiB.
pub(crate) fn read_bytes(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path.as_ref())?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    short_enough(bytes.len())?;
    Ok(bytes)
}

fn short_enough(length: usize) -> io::Result<()> {
    if length as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "is larger than 64 MiB"));
    }
    Ok(())
}
