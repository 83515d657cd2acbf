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
            Self::Birth => "no process can be started",
            Self::Session => "it cannot have a session of its own",
            Self::Streams => "its input and output cannot be connected",
            Self::Directory => "its folder cannot be entered",
            Self::Files => "open files cannot be kept from it",
            Self::Privileges => "its privileges cannot be given up",
            Self::Limits => "its limits cannot be set",
            Self::Parent => "it cannot be made to end with its guard",
            Self::Landlock => "Landlock cannot hold it",
            Self::Seccomp => "its system calls cannot be filtered",
            Self::Signals => "its signals cannot be set",
            Self::Program => "the program cannot be run",
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
