use counterfoil_ledger::{APPROVAL_REQUIRED, AppendError, Opened, Rejected};
use counterfoil_model::{
    Digest, ExactValue, PermitBasis, Status, Tool, ToolCall, ToolErrorCategory,
};
use counterfoil_tools::Scene;

use super::{repetition, secrets};
use crate::admitted::call_digest;
use crate::approve::approval_used;
use crate::auditing::Said;
use crate::call::CallError;
use crate::gate::{GateId, Gates, Judged, Question, Reason, combine};
use crate::guard::{BeginSessionError, Guard};
use crate::recording::Recording;
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

impl Guard {
    /// Begins or goes on with a session whose calls a host executes. What was recorded before is
    /// read only when something asks for it, so this costs the same however long the session is.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn host_session(&self, start: SessionStart) -> Result<Session, BeginSessionError> {
        let id = self.session_id(&start)?;
        let policy = self.policy();
        let past = policy.settings.dependencies.is_enabled() || policy.settings.trust.taints();
        let learned = (self.settings().fixation.clone(), self.settings().reads());
        Session::hosted(id, start, learned, self.ledger(), past)
    }

    /// Asks every gate about a call that the host is about to execute, and opens its receipt where
    /// none denies it. A denied one is recorded as denied.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn before(
        &self,
        session: &Session,
        hosted: &HostedCall,
        around: &Surroundings,
        asking: Asking,
    ) -> Result<Before, CallError> {
        let held = session.hold(self, around);
        let scene = session.scene(&held, around, self.workspace(), self.clock().wall());
        let HostedCall { call, tool, arguments } = hosted;
        let (judged, consulted) = self.verdict_on(hosted, &scene).await;
        let (judged, permit, unasked) = self.with_approval(session, hosted, judged, asking);
        let secret = secrets::note(hosted, self.runs_commands(&tool.name));
        let mut notes: Vec<String> = secret.into_iter().chain(unasked).collect();
        let execution_id = match &judged {
            Judged::Denied(reasons) => {
                let denied = self.deny(session, hosted, reasons, &scene, consulted).await?;
                Some(denied.call.execution_id)
            }
            // A call without an id is not found again: it is recorded once it has ended.
            Judged::Allowed { .. } | Judged::Asked(_) if call.id.is_empty() => {
                notes.extend(repetition::before(self, session, hosted, around));
                None
            }
            // Where somebody is asked and does not agree, the host's own log tells it.
            Judged::Allowed { .. } | Judged::Asked(_) => {
                notes.extend(repetition::before(self, session, hosted, around));
                let mut opened = self
                    .intent(call, &tool.name, arguments, hosted.digest(), &scene)
                    .map_err(CallError::NoRandomness)?;
                opened.origin = tool.origin.clone();
                opened.permit = permit;
                match self.open_hosted(session, opened).await? {
                    Ok(recording) => Some(recording.left_open()),
                    Err(reason) => {
                        let reasons = vec![reason];
                        let denied =
                            self.deny(session, hosted, &reasons, &scene, consulted).await?;
                        let execution_id = Some(denied.call.execution_id);
                        return Ok(Before { judged: Judged::Denied(reasons), notes, execution_id });
                    }
                }
            }
        };
        Ok(Before { judged, notes, execution_id })
    }

    /// The judgement, with what somebody agreed to ahead of the call, and on what it may run.
    fn with_approval(
        &self,
        session: &Session,
        hosted: &HostedCall,
        judged: Judged,
        asking: Asking,
    ) -> (Judged, PermitBasis, Option<String>) {
        let basis = session.host_basis();
        let Judged::Asked(questions) = judged else { return (judged, basis, None) };
        // Of a call without an id nothing is opened that would use the approval up.
        let redeem = || self.approvals().redeem(session.id(), hosted.digest());
        match (!hosted.call.id.is_empty()).then(redeem).flatten() {
            Some(agreed) => {
                let permit = agreed.basis();
                let matched = vec![(GateId("approval"), agreed.by)];
                (Judged::Allowed { matched }, permit, None)
            }
            None if let Some(reason) = self.refusal_of(session, &questions) => {
                (Judged::Denied(vec![reason]), basis, None)
            }
            None => match asking {
                Asking::Person => (Judged::Asked(questions), basis, None),
                Asking::SwitchedOff if !questions.iter().any(|q| q.stake.is_lasting()) => {
                    let note = unasked(&questions);
                    (Judged::Allowed { matched: Vec::new() }, basis, Some(note))
                }
                Asking::Nobody | Asking::SwitchedOff => {
                    let reasons = questions.into_iter().map(not_agreed).collect();
                    (Judged::Denied(reasons), basis, None)
                }
            },
        }
    }

    /// Why nobody is asked: somebody has said no to this call.
    fn refusal_of(&self, session: &Session, questions: &[Question]) -> Option<Reason> {
        questions.first().and_then(|question| self.declined_before(session.id(), question))
    }

    /// Writes down the intent; or why the ledger, which counts for all processes, does not let it.
    async fn open_hosted(
        &self,
        session: &Session,
        opened: Opened,
    ) -> Result<Result<Recording, Reason>, CallError> {
        match Recording::open(self, session, opened, self.quota()).await {
            Ok(recording) => Ok(Ok(recording)),
            Err(AppendError::QuotaExhausted { limit }) => {
                Ok(Err(crate::call::quota_blocked(limit)))
            }
            Err(AppendError::ApprovalUsed) => Ok(Err(approval_used())),
            Err(error) => Err(CallError::NotRecorded(error)),
        }
    }

    /// What gates say, and the model that judges by policies where none of them denies; with that
    /// model's word.
    async fn verdict_on(
        &self,
        hosted: &HostedCall,
        scene: &Scene<'_>,
    ) -> (Judged, Option<&'static str>) {
        let HostedCall { call, tool, arguments } = hosted;
        let Ok(seen) = Gates::unadmitted(call, tool, arguments.clone()) else {
            return (Judged::Denied(vec![not_judged(&tool.name)]), None);
        };
        let verdicts = self.gates().explain(&seen, scene);
        let judged = combine(verdicts);
        let Some(judge) = self.consulting(&seen, scene) else {
            return (judged, self.unconsulted(&seen, scene));
        };
        if matches!(judged, Judged::Denied(_)) {
            return (judged, None);
        }
        let (word, objection) = self.consult(judge, &seen, scene).await;
        (objection.map_or(judged, |reason| Judged::Denied(vec![reason])), Some(word))
    }

    async fn deny(
        &self,
        session: &Session,
        hosted: &HostedCall,
        reasons: &[Reason],
        scene: &Scene<'_>,
        consulted: Option<&'static str>,
    ) -> Result<Rejected, CallError> {
        let HostedCall { call, tool, arguments } = hosted;
        let intent = self
            .intent(call, &tool.name, arguments, hosted.digest(), scene)
            .map_err(CallError::NoRandomness)?;
        let messages: Vec<&str> = reasons.iter().map(|reason| reason.message.as_str()).collect();
        let rejected = Rejected {
            call: Opened { origin: tool.origin.clone(), ..intent },
            status: Status::Denied,
            category: ToolErrorCategory::PolicyBlocked,
            codes: reasons.iter().map(|reason| reason.code.to_owned()).collect(),
            answer: self.redactor().redact(&messages.join("; ")).into_owned(),
        };
        let said = Said { claim_source: scene.claim_source, consulted, ..Said::default() };
        self.record_rejected(session, &rejected, said).await?;
        Ok(rejected)
    }
}
