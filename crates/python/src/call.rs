use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use counterfoil_guard::{ApprovalReply, ToolError, ToolOutput};
use pyo3::prelude::*;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::desk::{Desk, Turn, output, reply_of};
use crate::failure::failed;
use crate::tracked::category;

/// How long it is waited before signals are looked at.
const PATIENCE: Duration = Duration::from_millis(100);

/// One call on its way through the guard. Whoever made it asks `next` what to do until it is done;
/// dropping it gives the call up, and its receipt says `cancelled`.
#[pyclass(frozen, module = "counterfoil._counterfoil")]
pub(crate) struct RunningCall {
    pub(crate) turns: Mutex<Receiver<Turn>>,
    pub(crate) running: AbortHandle,
    pub(crate) desk: Arc<Desk>,
    pub(crate) place: (String, String),
    pub(crate) process: u32,
    pub(crate) owed: Mutex<Option<Owed>>,
}

/// What the program has been asked and did not answer yet.
pub(crate) enum Owed {
    Result(oneshot::Sender<Result<ToolOutput, ToolError>>),
    Approval(oneshot::Sender<ApprovalReply>),
}

#[pymethods]
impl RunningCall {
    /// `("run", tool, arguments)`, `("ask", question, "")` or `("done", answer, "")`; the second and
    /// third are JSON but for the name of the tool.
    fn next(&self, py: Python<'_>) -> PyResult<(&'static str, String, String)> {
        let turn = loop {
            py.check_signals()?;
            let turn = py.detach(|| {
                let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
                turns.recv_timeout(PATIENCE)
            });
            match turn {
                Ok(turn) => break turn,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(failed("the call broke off")),
            }
        };
        match turn {
            Turn::Run { tool, arguments, reply } => {
                self.owe(Some(Owed::Result(reply)));
                Ok(("run", tool, arguments))
            }
            Turn::Ask { question, reply } => {
                self.owe(Some(Owed::Approval(reply)));
                Ok(("ask", question, String::new()))
            }
            Turn::Done(answer) => {
                let answer = serde_json::to_string(&(*answer).map_err(failed)?);
                Ok(("done", answer.map_err(failed)?, String::new()))
            }
        }
    }

    /// The function gave this: text, or JSON.
    fn finish(&self, result: &str, is_text: bool) {
        if let Some(Owed::Result(reply)) = self.owe(None) {
            reply.send(Ok(output(result, is_text))).ok();
        }
    }

    /// The function failed.
    fn fail(&self, kind: &str, message: &str) -> PyResult<()> {
        let category = category(kind)?;
        if let Some(Owed::Result(reply)) = self.owe(None) {
            reply.send(Err(ToolError::of(category, message))).ok();
        }
        Ok(())
    }

    /// Somebody said whether the call may be made.
    #[pyo3(signature = (agreed, by, reason=None))]
    fn decide(&self, agreed: bool, by: String, reason: Option<String>) {
        if let Some(Owed::Approval(reply)) = self.owe(None) {
            reply.send(reply_of(agreed, by, reason)).ok();
        }
    }

    /// Nobody was there to be asked.
    fn nobody(&self) {
        if let Some(Owed::Approval(reply)) = self.owe(None) {
            reply.send(ApprovalReply::Nobody).ok();
        }
    }

    /// Gives the call up.
    fn cancel(&self) {
        // A child that was forked holds a copy; the call is the parent's.
        if self.process == std::process::id() {
            self.running.abort();
            self.desk.leave(&self.place.0, &self.place.1);
        }
    }
}

impl RunningCall {
    fn owe(&self, owed: Option<Owed>) -> Option<Owed> {
        std::mem::replace(&mut *self.owed.lock().unwrap_or_else(PoisonError::into_inner), owed)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.cancel();
    }
}
