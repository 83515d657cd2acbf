//! Starts a program. Everything is prepared first, so that the new process makes only system calls
//! until it is the program.

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
use crate::Limits;

/// The program to start, and its environment.
#[derive(Debug, Clone, Copy)]
pub struct Program<'p> {
    /// The absolute path of the program, and its arguments.
    pub words: &'p [String],
    /// The folder in which it starts.
    pub directory: &'p Path,
    /// All environment variables.
    pub environment: &'p BTreeMap<String, String>,
}

/// What happens to the process before it becomes the program.
#[derive(Debug)]
pub enum Before<'b> {
    /// All restrictions are applied.
    Held(&'b Holding),
    /// Only limits are set.
    Limited(Limits),
    /// Nothing: the program does it itself.
    Nothing,
}

/// A process that became its program.
#[derive(Debug)]
pub struct Started {
    /// The process.
    pub process: Process,
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
}

/// A process that was not waited for yet, so its id cannot be reused.
#[derive(Debug)]
pub struct Process(Pid);

impl Process {
    /// Its id.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.0
    }

    /// Waits for the process to end. Returns its exit code, or 128 plus the signal that ended it.
    ///
    /// # Errors
    /// When waiting fails.
    pub fn wait(self) -> io::Result<i32> {
        let waited = rustix::io::retry_on_intr(|| waitpid(Some(self.0), WaitOptions::empty()))?;
        let code = |status: WaitStatus| {
            status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal))
        };
        waited
            .and_then(|(_, status)| code(status))
            .ok_or_else(|| io::Error::other("the process did not end"))
    }
}

/// Starts the program as the leader of a session, with this input, or `/dev/null`.
///
/// INVARIANT: it runs only if every earlier step succeeded.
///
/// # Errors
/// When a step fails; the error names it.
pub fn start(
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
    let streams = Streams::new(streams).map_err(unborn)?;
    let arguments = program.words.iter().map(|word| word.as_bytes().to_vec());
    let arguments = Words::new(arguments).map_err(|error| unborn(error.into()))?;
    let variables = program.environment.iter();
    let variables = variables.map(|(name, value)| format!("{name}={value}").into_bytes());
    let variables = Words::new(variables).map_err(|error| unborn(error.into()))?;
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

/// Tries the restrictions in a process that then ends.
pub(crate) fn attempt(holding: &Holding) -> Result<(), Stopped> {
    let guard = Some(getpid());
    let process = run(&mut || {
        setsid().map_err(|error| Step::Session.stopped(error))?;
        holding.enter(guard)
    })?;
    process.wait().map(drop).map_err(|error| Step::Birth.stopped(error))
}

/// Runs the steps in a new process. If one fails, the process has already ended.
pub(super) fn run(steps: &mut dyn FnMut() -> Result<(), Stopped>) -> Result<Process, Stopped> {
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

/// The standard streams of the new process.
struct Streams([OwnedFd; 3]);

impl Streams {
    /// Moves the streams above their final numbers, so that none is overwritten before it is used.
    fn new(streams: [OwnedFd; 3]) -> io::Result<Self> {
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;

    use super::*;

    /// The output of a program, and its exit code.
    fn ran(words: &[&str], directory: &Path) -> Result<(String, i32), Step> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let environment = [("A".to_owned(), "b c".to_owned())].into();
        let program = Program { words: &words, directory, environment: &environment };
        let started = start(program, None, &Before::Limited(Limits::default()));
        let Started { process, stdout, stderr } = started.map_err(|stopped| stopped.step)?;
        let mut output = String::new();
        for stream in [stdout, stderr] {
            File::from(stream).read_to_string(&mut output).unwrap();
        }
        Ok((output, process.wait().unwrap()))
    }

    #[test]
    fn a_program_gets_what_it_was_started_with() {
        let root = Path::new("/");
        let cases = [
            ("pwd; echo \"$A\"; echo e >&2; exit 3", "/\nb c\ne\n", 3),
            ("read -r line; echo \"$?\"", "1\n", 0),
            ("kill -9 $$", "", 137),
            // No signal is blocked or handled.
            ("cat /proc/self/status | grep -cE 'Sig(Blk|Cgt):.0{16}$'", "2\n", 0),
            ("kill -PIPE $$", "", 141),
        ];
        for (command, output, code) in cases {
            let got = ran(&["/bin/bash", "-c", command], root);
            assert_eq!(got, Ok((output.to_owned(), code)), "{command}");
        }
    }

    #[test]
    fn what_cannot_be_started_says_at_which_step() {
        let cases = [
            (ran(&["/nowhere/program"], Path::new("/")), Step::Program),
            (ran(&["/"], Path::new("/")), Step::Program),
            (ran(&[], Path::new("/")), Step::Program),
            (ran(&["/bin/true"], Path::new("/nowhere")), Step::Directory),
            (ran(&["/bin/true", "a\0b"], Path::new("/")), Step::Birth),
        ];
        for (got, step) in cases {
            assert_eq!(got, Err(step));
        }
    }

    /// While a process is created, other threads allocate, lock and start processes.
    #[test]
    fn threads_start_programs_at_the_same_time() {
        let starting = || {
            for number in 0..50 {
                let word = "x".repeat(number * 100);
                let output = ran(&["/bin/echo", &word], Path::new("/")).unwrap();
                assert_eq!(output, (format!("{word}\n"), 0));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(starting);
            }
        });
    }
}
