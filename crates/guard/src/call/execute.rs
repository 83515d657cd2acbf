use std::panic::AssertUnwindSafe;

use counterfoil_model::{Status, ToolErrorCategory};
use counterfoil_tools::{Scene, ToolError, ToolOutput};
use futures_util::FutureExt as _;

use crate::executor::ErasedToolExecutor as _;
use crate::gate::{AnyPermit, Clearance};
use crate::guard::Guard;
use crate::recording::Recording;
use crate::retry::may_retry;
use crate::session::Session;

/// How an execution ended, over all its attempts.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(super) output: ToolOutput,
    pub(super) status: Status,
    pub(super) category: Option<ToolErrorCategory>,
    pub(super) attempts: u32,
}

impl Guard {
    /// Lets the tool's owner perform the call, until the call is cancelled.
    pub(crate) async fn execute(
        &self,
        session: &Session,
        recording: &Recording,
        cleared: &Clearance,
        scene: &Scene<'_>,
    ) -> Ended {
        let attempts = self.attempts(recording, cleared, scene);
        let ended = self.cancellable(session, recording, attempts).await;
        ended.unwrap_or_else(|cancelled| Ended::from_result(Err(cancelled), 1))
    }

    /// Performs the call, and tries again if that may help and does no harm.
    async fn attempts(
        &self,
        recording: &Recording,
        cleared: &Clearance,
        scene: &Scene<'_>,
    ) -> Ended {
        let progress = recording.progress();
        let retryable = self.executor().is_tool_retryable(&cleared.call().tool().name);
        let mut attempts = 1;
        let retry = self.retry();
        // What earlier attempts sent counts as well.
        let mut egress = Vec::new();
        loop {
            let permit = cleared.permit(recording.execution_id(), attempts, &progress);
            let mut ended = Ended::from_result(self.attempt(permit, scene).await, attempts);
            egress.append(&mut ended.output.egress);
            ended.output.egress.clone_from(&egress);
            let error = ended.category.map(|category| ToolError::new(category, ""));
            if !error.is_some_and(|error| may_retry(&error, retryable)) {
                return ended;
            }
            let Some(delay) = retry.next_delay(attempts, recording.elapsed(), self.randomness())
            else {
                return ended;
            };
            tokio::time::sleep(delay).await;
            attempts += 1;
        }
    }

    /// Performs one attempt. A tool that panics has failed; one that does not return in time is
    /// given up.
    async fn attempt(
        &self,
        permit: AnyPermit,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let executor = self.executor();
        let running = async {
            match permit {
                AnyPermit::ByPolicy(permit) => executor.execute_tool_call(permit, scene).await,
                AnyPermit::ByApproval(permit) => {
                    executor.execute_tool_call_confirmed(permit, scene).await
                }
            }
        };
        let caught = AssertUnwindSafe(running).catch_unwind();
        match tokio::time::timeout(self.longest_call(), caught).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(panic)) => Err(ToolError::new(
                ToolErrorCategory::PermanentFailure,
                format!("the tool stopped unexpectedly: {}", panic_message(panic.as_ref())),
            )),
            Err(_) => Err(ToolError::new(
                ToolErrorCategory::Timeout,
                format!("the tool timed out after {} s", self.longest_call().as_secs()),
            )),
        }
    }
}

impl Ended {
    /// The call was cancelled before it began.
    pub(super) fn cancelled() -> Self {
        let text = "the call was cancelled";
        Self::from_result(Err(ToolError::new(ToolErrorCategory::Cancelled, text)), 1)
    }

    fn from_result(result: Result<Option<ToolOutput>, ToolError>, attempts: u32) -> Self {
        match result {
            Ok(Some(output)) => {
                let category = output.failure;
                let status = match output.rolled_back {
                    Some(_) => Status::RolledBack,
                    None => category.map_or(Status::Completed, status_of),
                };
                Self { output, status, category, attempts }
            }
            Ok(None) => Self::from_result(
                Err(ToolError::new(
                    ToolErrorCategory::PermanentFailure,
                    "the client that provides the tool did not run the call",
                )),
                attempts,
            ),
            Err(error) => {
                let category = error.category();
                let exit_code = match &error {
                    ToolError::Shell { exit_code, .. } => Some(*exit_code),
                    _ => None,
                };
                let output = ToolOutput {
                    text: error.to_string(),
                    failure: Some(category),
                    exit_code,
                    ..ToolOutput::default()
                };
                Self { output, status: status_of(category), category: Some(category), attempts }
            }
        }
    }
}

fn status_of(category: ToolErrorCategory) -> Status {
    match category {
        ToolErrorCategory::Timeout => Status::Timeout,
        ToolErrorCategory::Cancelled => Status::Cancelled,
        _ => Status::Failed,
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}
