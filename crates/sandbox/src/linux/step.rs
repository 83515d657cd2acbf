use std::fmt;
use std::io;

/// What happens to a process between its birth and its program, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is prepared, and comes to be.
    Birth,
    /// It leads a session of its own: no terminal, and one group to kill.
    Session,
    /// It gets its input and output.
    Streams,
    /// It goes to its folder.
    Directory,
    /// Every other open file is closed.
    Files,
    /// It becomes another user, and gives up its capabilities.
    Privileges,
    /// Its limits are set.
    Limits,
    /// It ends with whoever started it.
    Parent,
    /// Landlock holds it to its places.
    Landlock,
    /// Its system calls are filtered.
    Seccomp,
    /// Signals reach it.
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

/// At which step a process came to nothing. Its program did not run.
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
