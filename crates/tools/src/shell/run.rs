use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use counterfoil_sandbox::{Gap, Held, Limits};

use super::capture::{Captured, Echo};
use crate::ToolError;
use crate::tool_event::Progress;

/// What is to be run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) start: Start,
    pub(super) directory: PathBuf,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) limits: Limits,
    pub(super) timeout: Duration,
    /// Characters of each stream that may be shown.
    pub(super) max_output: usize,
    /// Where what it prints can be read while it runs.
    pub(super) echo: Option<Echo>,
    /// Who is told what it prints while it runs.
    pub(super) progress: Progress,
}

/// How it is started.
#[derive(Debug)]
pub(super) enum Start {
    /// As it is: the program and its arguments.
    Bare(Vec<String>),
    /// After it gave up its rights.
    Held(Box<Held>),
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// 128 and the signal when one ended it.
    pub(super) exit_code: i32,
    pub(super) timed_out: bool,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    /// Who of it may still run.
    pub(super) left: Left,
    /// What could not be held.
    pub(super) gaps: Vec<Gap>,
}

/// Who may still run when a command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// All of its processes have ended.
    Nobody,
    /// Somebody does.
    Somebody,
    /// Those that left its group cannot be found.
    Unknown,
}

/// Runs it. Dropping the future ends everything that it started.
pub(super) async fn run(run: Run) -> Result<Ended, ToolError> {
    #[cfg(target_os = "linux")]
    let ended = super::supervisor::run(run).await;
    // Elsewhere a group cannot be killed without the risk of hitting another one.
    #[cfg(not(target_os = "linux"))]
    let ended = Err(ToolError::of(
        counterfoil_model::ToolErrorCategory::PermanentFailure,
        format!("shell commands run on Linux only, not in `{}`", run.directory.display()),
    ));
    ended
}
