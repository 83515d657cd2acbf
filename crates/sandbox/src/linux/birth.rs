//! Creates a process, up to the moment when it becomes another program.
//!
//! It runs in the memory of this process (`vfork`), because copying that memory takes longer the
//! larger the program is. The creating thread waits meanwhile; other threads continue. If the new
//! process becomes another user, the kernel from then on allows only root to inspect this memory.
//! That is not reverted, because another process may be using the memory at that moment.
#![expect(unsafe_code, reason = "see each of them")]

use std::ffi::{CString, NulError, c_char, c_int, c_void};
use std::io;
use std::{mem, ptr};

use rustix::process::Pid;

/// The exit code of a process that did not become a program.
pub(super) const FAILED: u8 = 125;

/// The size of its stack in bytes. What runs on it is shallow.
const STACK: usize = 256 * 1024;

/// Runs `act` in a new process, and waits until that process is another program or has ended. It
/// exits with [`FAILED`] when `act` returns.
///
/// INVARIANT: `act` makes only system calls. Memory that it writes belongs to this process; it
/// takes no lock, because the holder may be waiting for this thread; it does not allocate, because
/// that takes locks; and it does not panic.
pub(super) fn beside(act: &mut dyn FnMut()) -> io::Result<Pid> {
    let mut stack = vec![0_u128; STACK / size_of::<u128>()];
    let mut act: &mut dyn FnMut() = act;
    let _blocked = Blocked::all()?;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is as aligned as any type needs, nothing else uses it, and it ends where
    // the range of its pointers does. Stack and `act` outlive the new process's use of them: with
    // `CLONE_VFORK` this thread goes on only when that process has left this memory. Everything
    // that a process may change and does not share is its own: files, limits, privileges, signals.
    let made = unsafe {
        let top = stack.as_mut_ptr_range().end.cast::<c_void>();
        libc::clone(born, top, flags, ptr::from_mut(&mut act).cast::<c_void>())
    };
    match Pid::from_raw(made) {
        Some(pid) if made > 0 => Ok(pid),
        _ => Err(io::Error::last_os_error()),
    }
}

extern "C" fn born(act: *mut c_void) -> c_int {
    // SAFETY: this is what `beside` handed over, and it waits.
    let act = unsafe { &mut *act.cast::<&mut dyn FnMut()>() };
    act();
    c_int::from(FAILED)
}

/// Blocks all signals for this thread: a handler would also run in the new process, in this memory.
struct Blocked {
    before: libc::sigset_t,
}

impl Blocked {
    fn all() -> io::Result<Self> {
        // SAFETY: a set of signals is plain numbers, and it is filled before it is used.
        let (mut all, mut before) = unsafe { (mem::zeroed(), mem::zeroed()) };
        // SAFETY: both are sets of signals, and outlive the calls.
        let failed = unsafe {
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before)
        };
        if failed == 0 { Ok(Self { before }) } else { Err(io::Error::from_raw_os_error(failed)) }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: this is the set that was there before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut())
        };
    }
}

/// Restores the default signal handling that programs expect: removes handlers, unblocks signals,
/// and resets `SIGPIPE`, which Rust programs ignore.
pub(super) fn usual_signals() -> io::Result<()> {
    // SAFETY: each of them is plain numbers, for which 0 is the usual behaviour and no signal.
    let (usual, mut now, mut none): (libc::sigaction, libc::sigaction, libc::sigset_t) =
        unsafe { (mem::zeroed(), mem::zeroed(), mem::zeroed()) };
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: all of them outlive the calls. Those that belong to the C library are refused by
        // it, and no one sends them to this process.
        unsafe {
            let known = libc::sigaction(signal, ptr::null(), &raw mut now) == 0;
            let handled = now.sa_sigaction != libc::SIG_DFL && now.sa_sigaction != libc::SIG_IGN;
            if known && (handled || signal == libc::SIGPIPE) {
                libc::sigaction(signal, &raw const usual, ptr::null_mut());
            }
        }
    }
    // SAFETY: as above.
    let failed = unsafe {
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut())
    };
    if failed == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(failed)) }
}

/// Arguments or an environment, in the form the kernel takes.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<CString>,
    // INVARIANT: points to each of the words, which never change, and ends with a null pointer.
    pointers: Vec<*const c_char>,
}

impl Words {
    pub(super) fn new(words: impl IntoIterator<Item = Vec<u8>>) -> Result<Self, NulError> {
        let words = words.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let pointers = words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect();
        Ok(Self { words, pointers })
    }
}

/// Becomes the program that the first word names. Returns only on failure.
pub(super) fn become_program(arguments: &Words, environment: &Words) -> io::Error {
    let Some(program) = arguments.words.first() else {
        return io::Error::from_raw_os_error(libc::ENOENT);
    };
    let (arguments, environment) = (arguments.pointers.as_ptr(), environment.pointers.as_ptr());
    // SAFETY: all of them are strings that end with a zero, in arrays that end with a null pointer.
    unsafe { libc::execve(program.as_ptr(), arguments, environment) };
    io::Error::last_os_error()
}
