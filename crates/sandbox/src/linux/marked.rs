//! Finds every process of a command, wherever it went, by a mark that it cannot remove.
//!
//! The mark is a resource limit that no longer limits anything (the resident set size) with a
//! unique value. It is inherited, and the system call filter prevents changing it. A process that
//! left its group, session and parents still carries it.

#![expect(clippy::disallowed_methods, reason = "the kernel's list of processes is read as files")]

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{
    Pid, PidfdFlags, Resource, Signal, getrlimit, pidfd_open, pidfd_send_signal,
};

/// The limit that carries the mark.
pub(super) const RESOURCE: Resource = Resource::Rss;

/// A new unique mark; `None` if none can be set.
#[must_use]
pub fn mark() -> Option<u64> {
    // A limit that is already set can only be lowered.
    if getrlimit(RESOURCE).maximum.is_some() {
        return None;
    }
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).ok()?;
    // Above every size of memory, and below the kernel's value for no limit.
    Some(u64::from_ne_bytes(bytes) >> 3 | 1 << 60)
}

/// Ends every process that carries the mark. Returns how many may still be running: those left
/// after many rounds.
///
/// # Errors
/// When processes cannot be listed.
pub fn end_all(mark: u64) -> io::Result<usize> {
    /// The number of rounds after which a process that starts others too fast is given up on.
    const ROUNDS: usize = 50;
    let mark = mark.to_string();
    let mut left = 0;
    for _ in 0..ROUNDS {
        left = 0;
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            if let Some((pid, handle)) = pid.and_then(|pid| Some((pid, handle(pid)?)))
                && carries(pid, &mark)
            {
                left += 1;
                let _gone = pidfd_send_signal(handle, Signal::KILL);
            }
        }
        if left == 0 {
            break;
        }
    }
    Ok(left)
}

/// Opened before the process is examined, so that the result applies to this process.
fn handle(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Whether a process is running and carries the mark.
fn carries(pid: Pid, mark: &str) -> bool {
    let pid = pid.as_raw_nonzero();
    let of = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let marked = |limits: &str| {
        let line = limits.lines().find(|line| line.starts_with("Max resident set"));
        line.is_some_and(|line| line.split_ascii_whitespace().any(|word| word == mark))
    };
    // A zombie is no longer running.
    let runs = |stat: &str| {
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
    };
    marked(&of("limits")) && runs(&of("stat"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::super::start::{Before, Program, start};
    use super::*;
    use crate::Limits;

    #[test]
    fn who_left_everything_is_found_by_the_mark() {
        let mark = mark().unwrap();
        let words = ["/bin/sh", "-c", "(setsid sleep 60 & setsid setsid sleep 60 &) & sleep 0.2"];
        let words = words.map(str::to_owned);
        let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let program =
            Program { words: &words, directory: Path::new("/"), environment: &environment };
        let limits = Limits { mark: Some(mark), ..Limits::default() };
        let started = start(program, None, &Before::Limited(limits)).unwrap();
        started.process.wait().unwrap();
        let before = Instant::now();
        assert_eq!(end_all(mark).unwrap(), 0);
        assert!(before.elapsed() < Duration::from_secs(5));
        let text = mark.to_string();
        let running = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| Pid::from_raw(entry.unwrap().file_name().to_str()?.parse().ok()?));
        assert_eq!(running.filter(|pid| carries(*pid, &text)).count(), 0);
    }
}
