//! Shares the terminal between its readers and progress bars; questions have priority.

use std::io::{self, BufRead as _};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The number of open questions on the terminal.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// The progress bar on the terminal.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The interval between checks.
const LOOK: Duration = Duration::from_millis(100);

fn bar() -> MutexGuard<'static, Option<ProgressBar>> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets or removes the progress bar.
pub(crate) fn draw(drawn: Option<ProgressBar>) {
    *bar() = drawn;
}

/// An open question: until this is dropped, no progress bar is drawn, and no one else reads the
/// answer.
pub(crate) struct Asking;

impl Asking {
    pub(crate) fn begin() -> Self {
        OPEN.fetch_add(1, Ordering::SeqCst);
        if let Some(bar) = &*bar() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::SeqCst);
        if let Some(bar) = &*bar() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

/// Waits briefly; returns whether there is input or the end of input.
pub(crate) fn is_readable(from: &impl AsFd) -> bool {
    let mut looked = [PollFd::new(from, PollFlags::IN)];
    let limit = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
    // If polling fails, let the read report the error.
    poll(&mut looked, Some(&limit)).map_or(true, |count| count > 0)
}

/// Returns the next line of standard input; `None` at its end. While a question is open, input is
/// left to it.
pub(crate) fn next_line() -> io::Result<Option<String>> {
    let stdin = io::stdin();
    loop {
        if OPEN.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(LOOK);
        } else if is_readable(&stdin) && OPEN.load(Ordering::SeqCst) == 0 {
            let mut line = Vec::new();
            let count = stdin.lock().read_until(b'\n', &mut line)?;
            return Ok((count > 0).then(|| String::from_utf8_lossy(&line).into_owned()));
        }
    }
}
