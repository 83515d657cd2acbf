//! Locks a file, waiting for a bounded time.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How long to wait for another process that holds the lock.
const LONGEST: Duration = Duration::from_secs(20);
/// Locks a file exclusively. If another process holds it too long, the error names that process.
///
/// A thread waits in the kernel's queue, which is served in order; polling would starve some of the
/// waiting processes.
///
/// # Errors
/// When the file cannot be locked, or stays locked.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    lock_within(file, LONGEST)
}

fn lock_within(file: &File, longest: Duration) -> io::Result<()> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK | Errno::INTR) => {}
        locked => return Ok(locked?),
    }
    // The lock belongs to the open file, which both share.
    let shared = file.try_clone()?;
    let (done, locked) = mpsc::channel();
    let waiting = std::thread::Builder::new().name("lock".to_owned()).spawn(move || {
        let result = loop {
            match flock(&shared, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                result => break result,
            }
        };
        if done.send(result).is_err() {
            // The caller has given up.
            let _unlocked = flock(&shared, FlockOperation::Unlock);
        }
    });
    waiting?;
    match locked.recv_timeout(longest) {
        Ok(result) => Ok(result?),
        Err(_) => {
            let holder = holder(file)
                .map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
            let why = format!("{holder} still holds the lock after {} s", longest.as_secs());
            Err(io::Error::new(io::ErrorKind::TimedOut, why))
        }
    }
}

/// The process that holds the lock, from `/proc/locks`: `1: FLOCK ADVISORY WRITE 4711 08:02:9502 0
/// EOF`.
fn holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = io::read_to_string(File::open("/proc/locks").ok()?).ok()?;
    locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(4);
        let (pid, place) = (words.next()?, words.next()?);
        (place.rsplit(':').next() == Some(inode.as_str())).then(|| pid.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_keeps_a_file_too_long_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let holding = file.reopen().unwrap();
        lock(&holding).unwrap();
        let other = file.reopen().unwrap();
        let error = lock_within(&other, Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let own = format!("process {}", std::process::id());
        let message = error.to_string();
        assert!(message.starts_with(&own) || message.starts_with("another process"), "{message}");
        flock(&holding, FlockOperation::Unlock).unwrap();
        // The attempt that gave up did not take the lock later.
        let third = file.reopen().unwrap();
        lock_within(&third, Duration::from_secs(5)).unwrap();
    }
}
