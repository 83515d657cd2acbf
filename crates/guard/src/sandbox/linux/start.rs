//! Starting a program: everything is made ready first, so that the new process makes nothing but
//! system calls until it is the program.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, WaitOptions, WaitStatus, chdir, getpid, setsid, waitpid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::birth::{Words, become_program, beside, usual_signals};
use super::holding::Holding;
use super::step::{Step, Stopped};
use crate::sandbox::Limits;

/// What is started, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program<'p> {
    /// The program, from the root, and its arguments.
    pub(crate) words: &'p [String],
    pub(crate) directory: &'p Path,
    pub(crate) environment: &'p BTreeMap<String, String>,
}

/// What becomes of it before it is the program.
#[derive(Debug)]
pub(crate) enum Before<'b> {
    /// It is held.
    Held(&'b Holding),
    /// Limits are set, and that is all.
    Limited(Limits),
    /// Nothing: the program sees to it.
    Nothing,
}

/// A process that became its program.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// A process that is not waited for yet: its id belongs to nobody else.
#[derive(Debug)]
pub(crate) struct Process(Pid);

impl Process {
    pub(crate) fn pid(&self) -> Pid {
        self.0
    }

    /// Waits for its end: its exit code, or 128 and the signal that ended it.
    pub(crate) fn wait(self) -> io::Result<i32> {
        let waited = rustix::io::retry_on_intr(|| waitpid(Some(self.0), WaitOptions::empty()))?;
        let code = |status: WaitStatus| {
            status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal))
        };
        waited
            .and_then(|(_, status)| code(status))
            .ok_or_else(|| io::Error::other("it did not end"))
    }
}

/// Starts the program as the leader of a session, with this input, `/dev/null` without one.
///
/// INVARIANT: it runs only when every step before it was done.
pub(crate) fn start(
    program: Program<'_>,
    input: Option<OwnedFd>,
    before: &Before<'_>,
) -> Result<Started, Stopped> {
    let unborn = |error: io::Error| Step::Birth.stopped(error);
    let input = match input {
        Some(input) => input,
        None => nothing().map_err(unborn)?,
    };
    let (stdout, output) = io::pipe().map_err(unborn)?;
    let (stderr, errors) = io::pipe().map_err(unborn)?;
    let streams = [input, output.into(), errors.into()];
    let streams = Streams::of(streams).map_err(unborn)?;
    let arguments = program.words.iter().map(|word| word.as_bytes().to_vec());
    let arguments = Words::of(arguments).map_err(|error| unborn(error.into()))?;
    let variables = program.environment.iter();
    let variables = variables.map(|(name, value)| format!("{name}={value}").into_bytes());
    let variables = Words::of(variables).map_err(|error| unborn(error.into()))?;
    let folder = std::ffi::CString::new(program.directory.as_os_str().as_bytes());
    let folder = folder.map_err(|error| unborn(error.into()))?;
    let guard = Some(getpid());
    let process = run(&mut || {
        setsid().map_err(|error| Step::Session.stopped(error))?;
        streams.connect().map_err(|error| Step::Streams.stopped(error))?;
        chdir(folder.as_c_str()).map_err(|error| Step::Directory.stopped(error))?;
        match before {
            Before::Held(holding) => holding.enter(guard)?,
            Before::Limited(limits) => {
                limits.apply().map_err(|error| Step::Limits.stopped(error))?;
            }
            Before::Nothing => {}
        }
        usual_signals().map_err(|error| Step::Signals.stopped(error))?;
        Err(Step::Program.stopped(become_program(&arguments, &variables)))
    })?;
    Ok(Started { process, stdout: stdout.into(), stderr: stderr.into() })
}

/// Whether a process can be held like this: one is, and ends.
pub(crate) fn attempt(holding: &Holding) -> Result<(), Stopped> {
    let guard = Some(getpid());
    let process = run(&mut || {
        setsid().map_err(|error| Step::Session.stopped(error))?;
        holding.enter(guard)
    })?;
    process.wait().map(drop).map_err(|error| Step::Birth.stopped(error))
}

/// Has a new process take the steps. Where one of them fails, the process is gone already.
fn run(steps: &mut dyn FnMut() -> Result<(), Stopped>) -> Result<Process, Stopped> {
    let mut taken = Ok(());
    let pid = beside(&mut || taken = steps()).map_err(|error| Step::Birth.stopped(error))?;
    let process = Process(pid);
    match taken {
        Ok(()) => Ok(process),
        Err(stopped) => {
            let _ended = process.wait();
            Err(stopped)
        }
    }
}

fn nothing() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Input, output and error output of the new process.
struct Streams([OwnedFd; 3]);

impl Streams {
    /// Above the numbers that they will have, so that none is overwritten before it is used.
    fn of(streams: [OwnedFd; 3]) -> io::Result<Self> {
        let [input, output, errors] = streams.map(|stream| {
            let taken = stream.as_raw_fd() < 3;
            if taken { fcntl_dupfd_cloexec(stream.as_fd(), 3) } else { Ok(stream) }
        });
        Ok(Self([input?, output?, errors?]))
    }

    fn connect(&self) -> rustix::io::Result<()> {
        let Self([input, output, errors]) = self;
        dup2_stdin(input)?;
        dup2_stdout(output)?;
        dup2_stderr(errors)
    }
}
