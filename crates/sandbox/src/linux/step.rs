use std::fmt;
use std::io;

/// The steps between the creation of a process and its program, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is prepared and created.
    Birth,
    /// It leads a session of its own: no terminal, and one group to kill.
    Session,
    /// Its input and output are connected.
    Streams,
    /// It changes to its folder.
    Directory,
    /// All other open files are closed.
    Files,
    /// It becomes another user, and drops its capabilities.
    Privileges,
    /// Its limits are set.
    Limits,
    /// It is set to end with its parent.
    Parent,
    /// Landlock restricts it to its places.
    Landlock,
    /// Its system calls are filtered.
    Seccomp,
    /// Signals are unblocked.
    Signals,
    /// It becomes the program.
    Program,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Birth => "cannot start a process",
            Self::Session => "cannot start a new session",
            Self::Streams => "cannot connect its input and output",
            Self::Directory => "cannot change to its folder",
            Self::Files => "cannot close the other open files",
            Self::Privileges => "cannot drop its privileges",
            Self::Limits => "cannot set its limits",
            Self::Parent => "cannot make it end together with its parent process",
            Self::Landlock => "cannot restrict it with Landlock",
            Self::Seccomp => "cannot filter its system calls",
            Self::Signals => "cannot set up its signals",
            Self::Program => "cannot run the program",
        })
    }
}

/// The step at which a process failed. Its program did not run.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {error}")]
pub struct Stopped {
    pub(crate) step: Step,
    pub(crate) error: io::Error,
}

impl Step {
    /// An error of this step.
    pub(super) fn stopped(self, error: impl Into<io::Error>) -> Stopped {
        Stopped { step: self, error: error.into() }
    }
}
