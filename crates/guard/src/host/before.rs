use std::sync::Arc;

use counterfoil_ledger::{APPROVAL_REQUIRED, Links};
use counterfoil_model::{PermitBasis, ToolCall};
use counterfoil_tools::Scene;

use super::decided::Undecided;
use super::hosted_call::HostedCall;
use super::{repetition, secrets};
use crate::admitted::Admitted;
use crate::auditing::AuditContext;
use crate::call::{CallError, Performer, Ruling, Stopped};
use crate::gate::{Clearance, GateId, Gates, Judged, Question, Reason};
use crate::guard::Guard;
use crate::permitted::Permitted;
use crate::recording::Recording;
use crate::session::{Session, Surroundings};

/// Whether the host can ask a person before it executes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// The host can ask a person, and keeps the answer to itself.
    Person,
    /// The host can ask a person, and reports the answer: see [`Session::decided`].
    Reported,
    /// No person can be asked, so a call that needs agreement is denied.
    Unattended,
    /// The user has switched questions off. A call that cannot be undone or that changes a
    /// protected place is denied; any other may run, with a note.
    SwitchedOff,
}

/// The result of judging a call before the host executes it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Before {
    /// The gates' decision. `Allowed` means that they do not object: the host's own permissions
    /// still decide.
    pub judged: Judged,
    /// Notes for the model if the call may run.
    pub notes: Vec<String>,
    /// The id of the receipt that was opened, or that records the denial; `None` if there is none
    /// yet: the person's answer is missing, or the host gives its calls no ids.
    pub execution_id: Option<String>,
    /// The call, if the host asks a person and reports the answer.
    pub undecided: Option<Undecided>,
}

impl Before {
    pub(super) fn new(judged: Judged, execution_id: Option<String>) -> Self {
        Self { judged, notes: Vec::new(), execution_id, undecided: None }
    }
}

/// The denial of arguments that are not an object: they cannot be judged, and the host may or may
/// not refuse them.
fn not_judged(tool: &str) -> Reason {
    Reason {
        gate: GateId("admission"),
        code: "malformed_arguments",
        message: format!(
            "the arguments of `{tool}` are not a JSON object, so they cannot be judged"
        ),
        matched: None,
        help: Some("call it again with a JSON object as its arguments".to_owned()),
    }
}

/// The note about what would have been asked if questions were not switched off.
fn switched_off_note(questions: &[Question]) -> String {
    let whys: Vec<&str> = questions.iter().map(|question| question.why.as_str()).collect();
    format!(
        "approval prompts are turned off; otherwise the user would be asked for approval: {}",
        whys.join("; ")
    )
}

/// The denial of a call that needs agreement when no person can be asked.
pub(super) fn not_agreed(question: Question) -> Reason {
    Reason {
        gate: question.gate,
        code: APPROVAL_REQUIRED,
        message: question.why,
        matched: question.matched,
        help: Some("ask the user to approve this call, then try again".to_owned()),
    }
}

/// Names the command that approves the call of this id.
fn with_command(reason: Reason, execution_id: &str) -> Reason {
    if reason.code != APPROVAL_REQUIRED {
        return reason;
    }
    let help = format!("ask the user to run `counterfoil approve {execution_id}`, then try again");
    Reason { help: Some(help), ..reason }
}

impl Session {
    /// Asks every gate about a call that the host is about to execute. Opens its receipt if no gate
    /// denies it, and records the denial otherwise.
    ///
    /// # Errors
    /// When the call cannot be recorded.
    pub async fn before(
        &self,
        hosted: &HostedCall,
        around: &Surroundings,
        asking: Asking,
    ) -> Result<Before, CallError> {
        let guard = self.guard();
        let HostedCall { call, tool, arguments, .. } = hosted;
        if hosted.only_thought {
            return self.thought(call, around).await;
        }
        if let Ok(admitted) = Gates::unadmitted(call, tool, arguments.clone()) {
            return guard.before_admitted(self, Arc::new(admitted), around, asking).await;
        }
        self.deny(hosted, around, vec![not_judged(&tool.name)]).await
    }

    /// Records a call that contained only the model's thinking: its host must not execute it.
    pub(super) async fn thought(
        &self,
        call: &ToolCall,
        around: &Surroundings,
    ) -> Result<Before, CallError> {
        let answer = self.guard().skip(self, call, around).await?;
        let judged = Judged::Denied(vec![Reason::only_thinking()]);
        Ok(Before::new(judged, Some(answer.execution_id)))
    }

    /// Records that a host does not execute a call, for reasons of its own.
    ///
    /// # Errors
    /// When the call cannot be recorded.
    pub async fn deny(
        &self,
        hosted: &HostedCall,
        around: &Surroundings,
        reasons: Vec<Reason>,
    ) -> Result<Before, CallError> {
        let guard = self.guard();
        let HostedCall { call, tool, arguments, .. } = hosted;
        let held = self.hold(guard, around);
        let scene = self.scene(&held, around, guard.workspace(), guard.clock().wall());
        let mut intent =
            guard.intent(call, &tool.name, arguments, &scene).map_err(CallError::NoRandomness)?;
        intent.origin = tool.origin.clone();
        let stopped = Stopped::Denied(reasons.clone());
        let context = AuditContext { claim_source: scene.claim_source, ..AuditContext::default() };
        let denied = guard.deny(self, intent, stopped, context).await?;
        Ok(Before::new(Judged::Denied(reasons), Some(denied.execution_id)))
    }

    /// Opens the receipt of a call that its host executes.
    pub(super) async fn open_host(
        &self,
        admitted: &Arc<Admitted>,
        permitted: Permitted,
        scene: &Scene<'_>,
    ) -> Result<Result<String, Stopped>, CallError> {
        let opened = self.guard().open(self, admitted, permitted, Links::default(), scene).await?;
        Ok(opened.map(Recording::left_open))
    }

    /// Records that a call of a host was denied.
    pub(super) async fn deny_host(
        &self,
        admitted: &Admitted,
        stopped: Stopped,
        scene: &Scene<'_>,
        context: AuditContext<'_>,
    ) -> Result<Before, CallError> {
        let reasons = match &stopped {
            Stopped::Denied(reasons) => reasons.clone(),
            Stopped::NeedsApproval(_) => Vec::new(),
        };
        let denied = self.guard().deny_admitted(self, admitted, stopped, scene, context).await?;
        let id = denied.execution_id;
        let reasons = reasons.into_iter().map(|reason| with_command(reason, &id)).collect();
        Ok(Before::new(Judged::Denied(reasons), Some(id)))
    }
}

impl Guard {
    /// Judges and records a call that passed admission.
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
        let context =
            AuditContext { claim_source: scene.claim_source, consulted, ..AuditContext::default() };
        let (judged, permitted, switched_off) = for_host(outcome, session.host_basis(), asking);
        let secret = secrets::note(&admitted, self.runs_commands(&admitted.tool().name));
        let mut notes: Vec<String> = secret.into_iter().chain(switched_off).collect();
        if let Judged::Denied(reasons) = judged {
            let denied =
                session.deny_host(&admitted, Stopped::Denied(reasons), &scene, context).await?;
            return Ok(Before { notes, ..denied });
        }
        notes.extend(repetition::before(self, session, &admitted, around));
        if let (Judged::NeedsApproval(questions), Asking::Reported) = (&judged, asking) {
            let (around, questions) = (around.clone(), questions.clone());
            let undecided = Some(Undecided { admitted, around, questions });
            return Ok(Before { judged, notes, execution_id: None, undecided });
        }
        // A call without an id cannot be found again, so it is recorded after it has ended.
        if admitted.call().id.is_empty() {
            return Ok(Before { notes, ..Before::new(judged, None) });
        }
        // If the host asks a person and the person disagrees, the host's own log records that.
        match session.open_host(&admitted, permitted, &scene).await? {
            Ok(execution_id) => Ok(Before { notes, ..Before::new(judged, Some(execution_id)) }),
            Err(stopped) => {
                let denied = session.deny_host(&admitted, stopped, &scene, context).await?;
                Ok(Before { notes, ..denied })
            }
        }
    }
}

/// Returns the decision for the host, what permits the call, and the questions that are switched
/// off.
fn for_host(
    outcome: Result<Clearance, Stopped>,
    host: PermitBasis,
    asking: Asking,
) -> (Judged, Permitted, Option<String>) {
    let questions = match outcome {
        Ok(cleared) => {
            let (judged, permitted) = cleared.for_host(host);
            return (judged, permitted, None);
        }
        Err(Stopped::Denied(reasons)) => {
            let rules = Reason::rules(&reasons);
            return (Judged::Denied(reasons), Permitted { basis: host, rules }, None);
        }
        Err(Stopped::NeedsApproval(questions)) => questions,
    };
    let permitted = Permitted { basis: host, rules: Question::rules(&questions) };
    match asking {
        Asking::Person | Asking::Reported => (Judged::NeedsApproval(questions), permitted, None),
        Asking::SwitchedOff if !questions.iter().any(|q| q.stake.is_lasting()) => {
            let note = switched_off_note(&questions);
            (Judged::Allowed { matched: Vec::new() }, permitted, Some(note))
        }
        Asking::Unattended | Asking::SwitchedOff => {
            let reasons = questions.into_iter().map(not_agreed).collect();
            (Judged::Denied(reasons), permitted, None)
        }
    }
}
