use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::setsid;

/// Makes the command the leader of a session and process group of its own. It has no terminal
/// then: it cannot ask there for a password, write there what looks like somebody else's words, or
/// type into it.
#[expect(unsafe_code, reason = "the operating system makes a session only in the new process")]
pub(super) fn own_session(command: &mut Command) {
    // SAFETY: between fork and exec the closure makes one system call and nothing else: it
    // allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| setsid().map(drop).map_err(Into::into));
    }
}
