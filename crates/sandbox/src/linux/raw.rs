//! System calls for which no library has a safe interface.
#![expect(unsafe_code, reason = "see each of them")]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr;

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Makes all files but the standard streams close when the process becomes the command: it must not
/// inherit other open files.
pub(super) fn close_on_exec() -> io::Result<()> {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the call takes three numbers and no memory. It closes nothing now: files that are in
    // use here stay open, and are closed by the kernel when this program is replaced.
    let done = unsafe {
        libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The version of Landlock in this kernel; 0 if there is none.
pub(super) fn landlock_version() -> u32 {
    const VERSION: libc::c_uint = 1;
    let (nothing, size): (*const libc::c_void, libc::size_t) = (ptr::null(), 0);
    // SAFETY: with this flag the call reads no memory, and makes nothing.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, size, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// Applies a Landlock ruleset to this process, which can gain no privileges any more.
pub(super) fn restrict_to(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    const FLAGS: libc::c_uint = 0;
    // SAFETY: the call takes two numbers and no memory; the file is open as long as it is borrowed.
    let done =
        unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), FLAGS) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether this kernel can filter system calls.
pub(super) fn can_filter() -> io::Result<()> {
    const FLAGS: libc::c_uint = 0;
    let refuse: u32 = libc::SECCOMP_RET_ERRNO;
    let (question, answer) = (libc::SECCOMP_GET_ACTION_AVAIL, ptr::from_ref(&refuse));
    // SAFETY: the call reads the one number, which outlives it, and changes nothing.
    let done = unsafe { libc::syscall(libc::SYS_seccomp, question, FLAGS, answer) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Creates a user namespace for this process, as bubblewrap does without root. Only for a process
/// that does nothing else, because it cannot leave the namespace again. Returns 0 on success.
#[must_use]
pub fn try_user_namespace() -> u8 {
    // SAFETY: only the table of open files would be dangerous not to share any more, and it stays
    // shared. Users and capabilities change, which nothing here depends on.
    let made = unsafe { unshare_unsafe(UnshareFlags::NEWUSER) };
    u8::from(made.is_err())
}
