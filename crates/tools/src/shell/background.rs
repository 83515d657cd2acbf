use std::sync::{Arc, Mutex, PoisonError};

use counterfoil_model::{BackgroundRun, Status};

use super::capture::Echo;
#[cfg(target_os = "linux")]
use super::group::Group;
#[cfg(target_os = "linux")]
use super::run::Ended;
use super::run::Run;
use crate::ToolError;

/// A command in the background, which runs until it ends or is stopped.
#[derive(Debug)]
pub(super) struct Background {
    /// The execution that started it.
    started_by: String,
    #[cfg(target_os = "linux")]
    group: Group,
    echo: Echo,
    limit: usize,
    ended: Arc<Mutex<Option<Result<i32, ToolError>>>>,
}

impl Background {
    #[cfg(target_os = "linux")]
    pub(super) fn start(mut run: Run, started_by: String) -> Result<Self, ToolError> {
        let limit = run.max_output;
        let echo = Echo::new(limit);
        run.echo = Some(echo.clone());
        let (group, ended) = (Group::default(), Arc::<Mutex<Option<_>>>::default());
        let result = Arc::clone(&ended);
        super::supervisor::watched(run, group.clone(), move |end: Result<Ended, ToolError>| {
            let code = end.map(|end| end.exit_code);
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(code);
        })?;
        Ok(Self { started_by, group, echo, limit, ended })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn start(run: Run, _started_by: String) -> Result<Self, ToolError> {
        let message =
            format!("commands cannot run in `{}` on this system", run.directory.display());
        Err(ToolError::new(counterfoil_model::ToolErrorCategory::PermanentFailure, message))
    }

    /// Its output so far, whether some is missing, and how it ended if it has.
    pub(super) fn look(&self) -> (String, bool, Option<Result<i32, ToolError>>) {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (text, cut) = self.echo.so_far().text(self.limit);
        (text, cut, ended)
    }

    /// What the receipt of a call about it records.
    pub(super) fn recorded(&self, status: Status) -> BackgroundRun {
        BackgroundRun { started_by: self.started_by.clone(), status }
    }

    /// Ends the command and everything that it started.
    pub(super) fn stop(&self) {
        #[cfg(target_os = "linux")]
        self.group.cancel();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop();
    }
}
