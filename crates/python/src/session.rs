use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use counterfoil_guard::{Receipt, Session, Surroundings, export};
use counterfoil_model::{ExactValue, Role, ToolCall};
use counterfoil_report::json_line;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::call::PyRunningCall;
use crate::failure::{failed, failure};
use crate::guard::listed;
use crate::process::{ProcessBound, runtime, wait};
use crate::tracked::PyTracked;
use crate::waiting_calls::{CallStep, WaitingCalls};

/// One session of one agent.
#[pyclass(frozen, name = "Session", module = "counterfoil._counterfoil")]
pub(crate) struct PySession {
    session: ProcessBound<Session>,
    waiting: Arc<WaitingCalls>,
    #[pyo3(get)]
    id: String,
}

impl PySession {
    pub(crate) fn new(session: Session, waiting: Arc<WaitingCalls>) -> Self {
        let id = session.id().to_owned();
        Self { session: ProcessBound::new(session), waiting, id }
    }
}

#[pymethods]
impl PySession {
    /// Records a message of a person (`user`) or a policy (`system`).
    fn hear(&self, py: Python<'_>, role: &str, text: &str) -> PyResult<()> {
        let role = match role {
            "user" => Role::User,
            "system" | "developer" => Role::System,
            "assistant" => Role::Assistant,
            other => {
                return Err(failed(format!("`{other}` is not one of user, system, assistant")));
            }
        };
        py.detach(|| {
            let session = self.session.get()?;
            wait(session.hear(role, text))?.map_err(failed)
        })
    }

    /// Checks an answer against the receipts. Returns `{disposition, text, findings, claims,
    /// feedback, unjudged}` as JSON.
    fn verify(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        py.detach(|| {
            let session = self.session.get()?;
            let verified = wait(session.verify(text))?.map_err(failed)?;
            let claims: Vec<Value> = verified
                .judgements
                .iter()
                .map(|judgement| {
                    json!({
                        "rule": judgement.rule.0,
                        "verdict": judgement.verdict,
                        "span": judgement.claim.span,
                        "claim": judgement.claim,
                        "evidence": judgement.evidence,
                    })
                })
                .collect();
            Ok(json_line(&json!({
                "disposition": verified.disposition,
                "text": verified.text,
                "findings": verified.findings.iter().map(finding).collect::<Vec<_>>(),
                "claims": claims,
                "feedback": verified.feedback,
                "unjudged": verified.unjudged,
            })))
        })
    }

    /// Begins a call. `arguments` is the text that the model wrote.
    #[pyo3(signature = (tool, arguments, call_id, caller=None))]
    fn call(
        &self,
        tool: &str,
        arguments: &str,
        call_id: &str,
        caller: Option<String>,
    ) -> PyResult<PyRunningCall> {
        let runtime = runtime()?;
        let (sender, steps) = channel();
        let place = (self.id.clone(), call_id.to_owned());
        let session = self.session.get()?.clone();
        if !self.waiting.wait(&place.0, &place.1, sender.clone()) {
            return Err(failure(
                format!("a call with the id `{call_id}` is already running in this session"),
                Some("give each call its own id, or no id"),
            ));
        }
        let waiting = Arc::clone(&self.waiting);
        let call = ToolCall::new(call_id, tool, arguments.to_owned());
        let around = Surroundings { caller, ..Surroundings::default() };
        let left = place.clone();
        let running = runtime.spawn(async move {
            let answer = session.call(call, around).await;
            waiting.leave(&left.0, &left.1);
            sender.send(CallStep::Done(Box::new(answer))).ok();
        });
        Ok(PyRunningCall {
            steps: Mutex::new(steps),
            running: running.abort_handle(),
            waiting: Arc::clone(&self.waiting),
            place,
            is_done: AtomicBool::new(false),
            process: std::process::id(),
            pending: Mutex::new(None),
        })
    }

    /// Opens a receipt for an execution that the program performs itself.
    #[pyo3(signature = (tool, arguments, retry_of=None))]
    fn track(
        &self,
        py: Python<'_>,
        tool: &str,
        arguments: &str,
        retry_of: Option<String>,
    ) -> PyResult<PyTracked> {
        py.detach(|| {
            let arguments: ExactValue = serde_json::from_str(arguments).map_err(failed)?;
            let around = Surroundings { retry_of, ..Surroundings::default() };
            let session = self.session.get()?;
            let opened = wait(session.track(tool, &arguments, around))?;
            Ok(PyTracked::new(opened.map_err(failed)?))
        })
    }

    /// Checks whether a cited execution exists and matches. Returns `{valid, reason?, message?,
    /// receipt?, result?}` as JSON. `window` is in seconds.
    #[pyo3(signature = (execution_id, tool, window=None))]
    fn cited(
        &self,
        py: Python<'_>,
        execution_id: &str,
        tool: &str,
        window: Option<f64>,
    ) -> PyResult<String> {
        let window = window.map(Duration::try_from_secs_f64).transpose().map_err(failed)?;
        py.detach(|| {
            let session = self.session.get()?;
            let cited = session.cited(execution_id, tool, window);
            match cited.map_err(failed)? {
                Ok(citation) => {
                    #[derive(Serialize)]
                    struct ValidCitation {
                        valid: bool,
                        receipt: Receipt,
                        result: Option<String>,
                    }
                    let result =
                        citation.result.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                    let citation = ValidCitation { valid: true, receipt: citation.receipt, result };
                    serde_json::to_string(&citation).map_err(failed)
                }
                Err(not) => {
                    let not =
                        json!({ "valid": false, "reason": not.reason, "message": not.message });
                    Ok(not.to_string())
                }
            }
        })
    }

    /// Returns the tools to offer to the model, as JSON.
    fn offer(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let session = self.session.get()?;
            Ok(listed(session.offer().tools.iter()))
        })
    }

    /// Returns the session as a log that `counterfoil check` reads, as JSON.
    fn transcript(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let session = self.session.get()?;
            let transcript = session.transcript().map_err(failed)?;
            Ok(export(&transcript).to_string())
        })
    }

    /// Clears what the session has learned from its calls.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let session = self.session.get()?;
            wait(session.clear())?.map_err(failed)
        })
    }

    /// Ends the session and signs its record up to this point.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let session = self.session.get()?;
            wait(session.end())?.map_err(failed)
        })
    }
}

/// Formats a finding about an answer as JSON.
fn finding(found: &counterfoil_model::Finding) -> Value {
    use counterfoil_model::Subject;
    let mut record = json!({
        "rule": { "code": found.code.0, "name": found.name },
        "severity": found.severity,
        "mode": found.mode,
        "verdict": found.verdict,
        "confidence": found.confidence,
        "message": found.message,
        "turn": found.turn,
        "evidence": found.evidence,
        "help": found.help,
    });
    let (name, value) = match &found.subject {
        Subject::Claim { span, claim } => ("claim", json!({ "span": span, "claim": claim })),
        Subject::Call(call) => ("call", json!(call)),
    };
    if let Some(members) = record.as_object_mut() {
        match value {
            Value::Object(both) if name == "claim" => members.extend(both),
            value => {
                members.insert(name.to_owned(), value);
            }
        }
    }
    record
}
