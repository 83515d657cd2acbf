//! One terminal, and several who want to read from it or draw on it: whoever asks comes first.

use std::io::{self, BufRead as _};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How many questions stand on the terminal.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// What is drawn there meanwhile.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

fn bar() -> MutexGuard<'static, Option<ProgressBar>> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something is drawn from now on, or nothing any more.
pub(crate) fn draw(drawn: Option<ProgressBar>) {
    *bar() = drawn;
}

/// A question stands on the terminal, until this is dropped: nothing is drawn over it, and nobody
/// else reads the answer.
pub(crate) struct Asking;

impl Asking {
    pub(crate) fn begin() -> Self {
        ASKED.fetch_add(1, Ordering::SeqCst);
        if let Some(bar) = &*bar() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        ASKED.fetch_sub(1, Ordering::SeqCst);
        if let Some(bar) = &*bar() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

/// Whether there is something to read, or nothing ever again; waits a moment for it.
pub(crate) fn is_readable(from: &impl AsFd) -> bool {
    let mut looked = [PollFd::new(from, PollFlags::IN)];
    let limit = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
    // What cannot be looked at is read, and says itself what is wrong.
    poll(&mut looked, Some(&limit)).map_or(true, |count| count > 0)
}

/// The next line of standard input; `None` at its end. While a question stands on the terminal,
/// what is typed there is its answer.
pub(crate) fn next_line() -> io::Result<Option<String>> {
    let stdin = io::stdin();
    loop {
        if ASKED.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(LOOK);
        } else if is_readable(&stdin) && ASKED.load(Ordering::SeqCst) == 0 {
            let mut line = Vec::new();
            let count = stdin.lock().read_until(b'\n', &mut line)?;
            return Ok((count > 0).then(|| String::from_utf8_lossy(&line).into_owned()));
        }
    }
}
