use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::capture::Captured;
use super::limits::Limits;
use crate::executor::ToolError;

/// What is to be run.
#[derive(Debug)]
pub(super) struct Run {
    /// The program and its arguments.
    pub(super) program: Vec<String>,
    pub(super) directory: PathBuf,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) limits: Limits,
    pub(super) timeout: Duration,
    /// Characters of each stream that may be shown.
    pub(super) max_output: usize,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// 128 and the signal when one ended it.
    pub(super) exit_code: i32,
    pub(super) timed_out: bool,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    /// Somebody who left the process group still holds the output.
    pub(super) escaped: bool,
}

/// Runs it. Dropping the future ends everything that it started.
pub(super) async fn run(run: Run) -> Result<Ended, ToolError> {
    #[cfg(target_os = "linux")]
    let ended = super::supervisor::run(run).await;
    // Elsewhere a group cannot be killed without the risk of hitting another one.
    #[cfg(not(target_os = "linux"))]
    let ended = Err(ToolError::of(
        countersign_model::ToolErrorCategory::PermanentFailure,
        format!("shell commands run on Linux only, so `{:?}` does not", run.program.last()),
    ));
    ended
}
