use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use counterfoil_guard::{ApprovalReply, ToolError, ToolOutput};
use pyo3::prelude::*;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::failure::failed;
use crate::tracked::category;
use crate::waiting_calls::{CallStep, WaitingCalls, output, reply_of};

/// The longest wait before Python's signals are checked.
const PATIENCE: Duration = Duration::from_millis(100);

/// One call on its way through the guard. The caller asks `next` what to do until the call is done;
/// dropping it cancels the call, and its receipt says `cancelled`.
#[pyclass(frozen, name = "RunningCall", module = "counterfoil._counterfoil")]
pub(crate) struct PyRunningCall {
    pub(crate) steps: Mutex<Receiver<CallStep>>,
    pub(crate) running: AbortHandle,
    pub(crate) waiting: Arc<WaitingCalls>,
    pub(crate) place: (String, String),
    /// Set at the end of the call, after which another call may reuse its id: nothing to cancel
    /// then.
    pub(crate) is_done: AtomicBool,
    pub(crate) process: u32,
    pub(crate) pending: Mutex<Option<Pending>>,
}

/// A request to the program that has not been answered yet.
pub(crate) enum Pending {
    Result(oneshot::Sender<Result<ToolOutput, ToolError>>),
    Approval(oneshot::Sender<ApprovalReply>),
}

#[pymethods]
impl PyRunningCall {
    /// Returns `("run", tool, arguments)`, `("ask", question, "")` or `("done", answer, "")`;
    /// arguments, question and answer are JSON.
    fn next(&self, py: Python<'_>) -> PyResult<(&'static str, String, String)> {
        let step = loop {
            py.check_signals()?;
            let step = py.detach(|| {
                let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
                steps.recv_timeout(PATIENCE)
            });
            match step {
                Ok(step) => break step,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(failed("the call broke off")),
            }
        };
        match step {
            CallStep::Run { tool, arguments, reply } => {
                self.replace_pending(Some(Pending::Result(reply)));
                Ok(("run", tool, arguments))
            }
            CallStep::Ask { question, reply } => {
                self.replace_pending(Some(Pending::Approval(reply)));
                Ok(("ask", question, String::new()))
            }
            CallStep::Done(answer) => {
                self.is_done.store(true, Ordering::Release);
                let answer = serde_json::to_string(&(*answer).map_err(failed)?);
                Ok(("done", answer.map_err(failed)?, String::new()))
            }
        }
    }

    /// Reports the result of the function: text, or JSON.
    fn finish(&self, result: &str, is_text: bool) {
        if let Some(Pending::Result(reply)) = self.replace_pending(None) {
            reply.send(Ok(output(result, is_text))).ok();
        }
    }

    /// Reports that the function failed.
    fn fail(&self, kind: &str, message: &str) -> PyResult<()> {
        let category = category(kind)?;
        if let Some(Pending::Result(reply)) = self.replace_pending(None) {
            reply.send(Err(ToolError::new(category, message))).ok();
        }
        Ok(())
    }

    /// Reports the decision on whether the call may be made.
    #[pyo3(signature = (agreed, by, reason=None))]
    fn decide(&self, agreed: bool, by: String, reason: Option<String>) {
        if let Some(Pending::Approval(reply)) = self.replace_pending(None) {
            reply.send(reply_of(agreed, by, reason)).ok();
        }
    }

    /// Reports that there was no one to ask.
    fn leave_unanswered(&self) {
        if let Some(Pending::Approval(reply)) = self.replace_pending(None) {
            reply.send(ApprovalReply::NoAnswer).ok();
        }
    }

    /// Cancels the call.
    fn cancel(&self) {
        // A forked child has a copy of this value, but the call belongs to the parent.
        let is_done = self.is_done.load(Ordering::Acquire);
        if !is_done && self.process == std::process::id() {
            self.running.abort();
            self.waiting.leave(&self.place.0, &self.place.1);
        }
    }
}

impl PyRunningCall {
    fn replace_pending(&self, pending: Option<Pending>) -> Option<Pending> {
        std::mem::replace(
            &mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner),
            pending,
        )
    }
}

impl Drop for PyRunningCall {
    fn drop(&mut self) {
        self.cancel();
    }
}
