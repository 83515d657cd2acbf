use super::run::{Ended, Run};
use crate::ToolError;

/// Runs a command. Dropping the future ends everything that it started.
pub(super) async fn run(run: Run) -> Result<Ended, ToolError> {
    #[cfg(target_os = "linux")]
    let ended = super::supervisor::run(run).await;
    // On other systems, killing a group risks hitting another one.
    #[cfg(not(target_os = "linux"))]
    let ended = Err(ToolError::new(
        counterfoil_model::ToolErrorCategory::PermanentFailure,
        format!(
            "shell commands only run on Linux; the one in `{}` did not run",
            run.directory.display()
        ),
    ));
    ended
}
