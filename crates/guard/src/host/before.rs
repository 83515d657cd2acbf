use std::sync::Arc;

use counterfoil_ledger::{APPROVAL_REQUIRED, Links};
use counterfoil_model::{Digest, ExactValue, PermitBasis, Tool, ToolCall};

use super::{repetition, secrets};
use crate::admitted::{Admitted, call_digest};
use crate::auditing::Said;
use crate::call::{CallError, Performer, Ruling, Stopped};
use crate::gate::{Clearance, GateId, Gates, Judged, Question, Reason};
use crate::guard::{BeginSessionError, Guard};
use crate::session::{Session, SessionStart, Surroundings};

/// A call that a host is about to execute, or has executed.
#[derive(Debug, Clone, PartialEq)]
pub struct HostedCall {
    /// The call as the model wrote it; its id is the host's.
    pub call: ToolCall,
    /// The tool as far as it is known. A host grows tools: one that nobody knows has only a name.
    pub tool: Tool,
    /// The arguments: an object, with every number as the model wrote it.
    pub arguments: ExactValue,
}

/// Whether the host can ask somebody before it executes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// A person answers.
    Person,
    /// Nobody can be asked: what somebody would have to agree to is denied.
    Nobody,
    /// The user has switched questions off. What nothing brings back, and what changes a protected
    /// place, is denied; the rest may run, and is remarked upon.
    SwitchedOff,
}

impl HostedCall {
    pub(super) fn digest(&self) -> Digest {
        call_digest(&self.tool.name, &self.arguments)
    }
}

/// What is to be said about a call before the host executes it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Before {
    /// What the gates say. `Allowed` is the absence of an objection: the host's own permissions
    /// still decide.
    pub judged: Judged,
    /// What the model should know, where it may run all the same.
    pub notes: Vec<String>,
    /// The receipt that was opened, or that says that it was denied; `None` where the host gives
    /// its calls no ids, and nothing denies it.
    pub execution_id: Option<String>,
}

/// Arguments that are no object cannot be judged; whether the host refuses them is not known.
fn not_judged(tool: &str) -> Reason {
    Reason {
        gate: GateId("admission"),
        code: "malformed_arguments",
        message: format!(
            "the arguments of `{tool}` are not a JSON object, so they cannot be judged"
        ),
        matched: None,
        help: Some("call it again with an object of arguments".to_owned()),
    }
}

/// What would have been asked, where questions are switched off.
fn unasked(questions: &[Question]) -> String {
    let whys: Vec<&str> = questions.iter().map(|question| question.why.as_str()).collect();
    format!("questions are switched off; elsewhere a person would be asked: {}", whys.join("; "))
}

/// What somebody would have to agree to, and nobody can.
fn not_agreed(question: Question) -> Reason {
    Reason {
        gate: question.gate,
        code: APPROVAL_REQUIRED,
        message: question.why,
        matched: None,
        help: Some(
            "it needs the user's approval: `counterfoil approve` with the id of this call, then try again"
                .to_owned(),
        ),
    }
}

impl Session {
    /// Asks every gate about a call that the host is about to execute, and opens its receipt where
    /// none denies it. A denied one is recorded as denied.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn before(
        &self,
        hosted: &HostedCall,
        around: &Surroundings,
        asking: Asking,
    ) -> Result<Before, CallError> {
        let guard = self.guard();
        let HostedCall { call, tool, arguments } = hosted;
        if let Ok(admitted) = Gates::unadmitted(call, tool, arguments.clone()) {
            return guard.before_admitted(self, Arc::new(admitted), around, asking).await;
        }
        let held = self.hold(guard, around);
        let scene = self.scene(&held, around, guard.workspace(), guard.clock().wall());
        let mut intent = guard
            .intent(call, &tool.name, arguments, hosted.digest(), &scene)
            .map_err(CallError::NoRandomness)?;
        intent.origin = tool.origin.clone();
        let reasons = vec![not_judged(&tool.name)];
        let stopped = Stopped::Denied(reasons.clone());
        let said = Said { claim_source: scene.claim_source, ..Said::default() };
        let denied = guard.deny(self, intent, stopped, said).await?;
        let execution_id = Some(denied.execution_id);
        Ok(Before { judged: Judged::Denied(reasons), notes: Vec::new(), execution_id })
    }
}

impl Guard {
    /// Begins or goes on with a session whose calls a host executes. What was recorded before is
    /// read only when something asks for it, so this costs the same however long the session is.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn host_session(&self, start: SessionStart) -> Result<Session, BeginSessionError> {
        let id = self.session_id(&start)?;
        Session::hosted(self, id, start)
    }

    /// The same for a call that admission let pass.
    pub(super) async fn before_admitted(
        &self,
        session: &Session,
        admitted: Arc<Admitted>,
        around: &Surroundings,
        asking: Asking,
    ) -> Result<Before, CallError> {
        let held = session.hold(self, around);
        let scene = session.scene(&held, around, self.workspace(), self.clock().wall());
        let ruling = self.judge(session, Performer::Host, admitted, &scene).await;
        let Ruling { admitted, outcome, consulted } = ruling;
        let said = Said { claim_source: scene.claim_source, consulted, ..Said::default() };
        let (judged, basis, unasked) = for_host(outcome, session.host_basis(), asking);
        let secret = secrets::note(&admitted, self.runs_commands(&admitted.tool().name));
        let mut notes: Vec<String> = secret.into_iter().chain(unasked).collect();
        let stopped = match &judged {
            Judged::Denied(reasons) => Some(Stopped::Denied(reasons.clone())),
            Judged::Allowed { .. } | Judged::Asked(_) => {
                notes.extend(repetition::before(self, session, &admitted, around));
                None
            }
        };
        let stopped = match stopped {
            Some(stopped) => stopped,
            // A call without an id is not found again: it is recorded once it has ended.
            None if admitted.call().id.is_empty() => {
                return Ok(Before { judged, notes, execution_id: None });
            }
            // Where a person is asked and does not agree, the host's own log says so.
            None => match self.open(session, &admitted, basis, Links::default(), &scene).await? {
                Ok(recording) => {
                    let execution_id = Some(recording.left_open());
                    return Ok(Before { judged, notes, execution_id });
                }
                Err(stopped) => stopped,
            },
        };
        let reasons = match &stopped {
            Stopped::Denied(reasons) => reasons.clone(),
            Stopped::Asked(_) => Vec::new(),
        };
        let denied = self.deny_admitted(session, &admitted, stopped, &scene, said).await?;
        let execution_id = Some(denied.execution_id);
        Ok(Before { judged: Judged::Denied(reasons), notes, execution_id })
    }
}

/// What the host is to know, on what the call runs, and what would have been asked where questions
/// are switched off.
fn for_host(
    outcome: Result<Clearance, Stopped>,
    host: PermitBasis,
    asking: Asking,
) -> (Judged, PermitBasis, Option<String>) {
    let questions = match outcome {
        Ok(cleared) => {
            let (judged, basis) = cleared.for_host(host);
            return (judged, basis, None);
        }
        Err(Stopped::Denied(reasons)) => return (Judged::Denied(reasons), host, None),
        Err(Stopped::Asked(questions)) => questions,
    };
    match asking {
        Asking::Person => (Judged::Asked(questions), host, None),
        Asking::SwitchedOff if !questions.iter().any(|q| q.stake.is_lasting()) => {
            let note = unasked(&questions);
            (Judged::Allowed { matched: Vec::new() }, host, Some(note))
        }
        Asking::Nobody | Asking::SwitchedOff => {
            let reasons = questions.into_iter().map(not_agreed).collect();
            (Judged::Denied(reasons), host, None)
        }
    }
}
