//! The two system calls for which no library has a safe way.
#![expect(unsafe_code, reason = "see each of them")]

use std::io;

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Closes everything but input and output when the process becomes the command: open files of
/// whoever embeds this are nobody else's business.
pub(super) fn close_on_exec() -> io::Result<()> {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the call takes three numbers and no memory. It closes nothing now: files that are in
    // use here stay open, and are closed by the kernel when this program is replaced.
    let done = unsafe {
        libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes a user namespace for this process, as bubblewrap does without root. For a process that
/// does nothing else: it cannot leave the namespace again. 0 when it could be made.
#[must_use]
pub fn try_user_namespace() -> u8 {
    // SAFETY: only the table of open files would be dangerous not to share any more, and it stays
    // shared. Users and capabilities change, which nothing here depends on.
    let made = unsafe { unshare_unsafe(UnshareFlags::NEWUSER) };
    u8::from(made.is_err())
}
