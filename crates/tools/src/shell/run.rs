use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use counterfoil_sandbox::{Gap, Held, Limits};

use super::capture::{Captured, Echo};
use crate::tool_event::Progress;

/// A command to run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) start: Start,
    pub(super) directory: PathBuf,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) limits: Limits,
    pub(super) timeout: Duration,
    /// The maximum number of characters of each stream to show.
    pub(super) max_output: usize,
    /// Where its output can be read while it runs.
    pub(super) echo: Option<Echo>,
    /// Who is notified of its output while it runs.
    pub(super) progress: Progress,
}

/// How it is started.
#[derive(Debug)]
pub(super) enum Start {
    /// Unconfined: the program and its arguments.
    Bare(Vec<String>),
    /// After giving up its rights.
    Held(Box<Held>),
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// 128 plus the signal if a signal ended it.
    pub(super) exit_code: i32,
    pub(super) timed_out: bool,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    /// Which processes may still run.
    pub(super) left: Left,
    /// What could not be enforced.
    pub(super) gaps: Vec<Gap>,
}

/// Which processes may still run when a command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// None: all of them have ended.
    NoProcess,
    /// Some were found that had left the group.
    Somebody,
    /// Processes that left the group cannot be found.
    Unknown,
}
