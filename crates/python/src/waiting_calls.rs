use std::collections::HashMap;
use std::future::Future;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use counterfoil_guard::{
    Admitted, Answer, Approval, ApprovalReply, ApprovalRequest, Approver, BoxFuture, ByApproval,
    ByPolicy, CallError, ExecutorId, ExecutorKind, Permit, Scene, ToolError, ToolExecutor,
    ToolOutput,
};
use counterfoil_model::{ExactValue, Tool, ToolErrorCategory};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;

/// The next step for the thread that made a call.
pub(crate) enum CallStep {
    /// Run a function of the program.
    Run { tool: String, arguments: String, reply: oneshot::Sender<Result<ToolOutput, ToolError>> },
    /// Decide whether the call may be made.
    Ask { question: String, reply: oneshot::Sender<ApprovalReply> },
    /// The call has ended.
    Done(Box<Result<Answer, CallError>>),
}

/// Maps the session and id of a call to the thread that waits for it. A program's functions run in
/// the thread that made the call, with its context; the guard works in other threads.
#[derive(Default)]
pub(crate) struct WaitingCalls {
    waiting: Mutex<HashMap<(String, String), Sender<CallStep>>>,
}

impl WaitingCalls {
    /// Registers the receiver of a call's steps. Returns false if the call already has one.
    pub(crate) fn wait(&self, session: &str, call: &str, steps: Sender<CallStep>) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (session.to_owned(), call.to_owned());
        if waiting.contains_key(&key) {
            return false;
        }
        waiting.insert(key, steps);
        true
    }

    pub(crate) fn leave(&self, session: &str, call: &str) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.remove(&(session.to_owned(), call.to_owned()));
    }

    fn send_step(&self, session: &str, call: &str, step: CallStep) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = waiting.get(&(session.to_owned(), call.to_owned()));
        sender.is_some_and(|sender| sender.send(step).is_ok())
    }
}

/// Asks the program through the thread that made the call.
pub(crate) struct CallerApprover(pub(crate) Arc<WaitingCalls>);

impl Approver for CallerApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply> {
        let why: Vec<&str> = request.questions.iter().map(|q| q.why.as_str()).collect();
        #[derive(Serialize)]
        struct Question<'q> {
            session: &'q str,
            call_id: &'q str,
            call: &'q str,
            arguments: &'q ExactValue,
            why: Vec<&'q str>,
        }
        let question = Question {
            session: request.session,
            call_id: request.call_id,
            call: request.call(),
            arguments: request.arguments,
            why,
        };
        // A question that cannot be shown cannot be approved.
        let Ok(question) = serde_json::to_string(&question) else {
            return Box::pin(async { ApprovalReply::NoAnswer });
        };
        let (reply, answer) = oneshot::channel();
        let step = CallStep::Ask { question, reply };
        let is_sent = self.0.send_step(request.session, request.call_id, step);
        Box::pin(async move {
            if !is_sent {
                return ApprovalReply::NoAnswer;
            }
            answer.await.unwrap_or(ApprovalReply::NoAnswer)
        })
    }
}

/// Converts the program's decision: whether it agreed, who decided, and why.
pub(crate) fn reply_of(agreed: bool, by: String, reason: Option<String>) -> ApprovalReply {
    if !agreed {
        return ApprovalReply::Declined { by, reason };
    }
    let approval = Approval::by(by);
    ApprovalReply::Agreed(match reason {
        Some(reason) => approval.because(reason),
        None => approval,
    })
}

/// A function of the program as a tool.
pub(crate) struct PythonTool {
    pub(crate) tool: Tool,
    pub(crate) waiting: Arc<WaitingCalls>,
    /// Why every call requires a person's approval, if it does.
    pub(crate) asks: Option<String>,
}

impl PythonTool {
    fn perform(
        &self,
        call: &Admitted,
        scene: &Scene<'_>,
    ) -> impl Future<Output = Result<Option<ToolOutput>, ToolError>> + Send + use<> {
        let owned = self.owns(&call.tool().name);
        let (reply, answer) = oneshot::channel();
        let tool = call.tool().name.clone();
        let arguments = call.exact_arguments().to_string();
        let is_sent = owned
            && self.waiting.send_step(
                scene.session,
                &call.call().id,
                CallStep::Run { tool, arguments, reply },
            );
        async move {
            match (owned, is_sent) {
                (false, _) => Ok(None),
                (true, false) => Err(no_longer_waiting()),
                (true, true) => answer.await.unwrap_or_else(|_| Err(no_longer_waiting())).map(Some),
            }
        }
    }
}

fn no_longer_waiting() -> ToolError {
    ToolError::new(ToolErrorCategory::Cancelled, "the program is no longer waiting for this call")
}

impl ToolExecutor for PythonTool {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Native, self.tool.name.clone())
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        vec![self.tool.clone()]
    }

    fn owns(&self, tool: &str) -> bool {
        tool == self.tool.name
    }

    fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> impl Future<Output = Result<Option<ToolOutput>, ToolError>> + Send {
        self.perform(permit.call(), scene)
    }

    fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> impl Future<Output = Result<Option<ToolOutput>, ToolError>> + Send {
        self.perform(permit.call(), scene)
    }

    fn requires_confirmation(&self, _: &Admitted, _: &Scene<'_>) -> Option<String> {
        self.asks.clone()
    }

    fn is_tool_retryable(&self, _: &str) -> bool {
        self.tool.effects.idempotent == Some(true)
    }

    /// A speculative call has no thread that could run the function.
    fn is_tool_speculatable(&self, _: &str) -> bool {
        false
    }
}

/// Converts the result of a function: text, or JSON.
pub(crate) fn output(result: &str, is_text: bool) -> ToolOutput {
    if is_text {
        return ToolOutput::from(result.to_owned());
    }
    let structured = serde_json::from_str::<Value>(result).ok();
    ToolOutput { text: result.to_owned(), structured, ..ToolOutput::default() }
}
