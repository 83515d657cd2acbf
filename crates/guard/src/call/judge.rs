use std::sync::Arc;
use std::time::Duration;

use counterfoil_tools::Scene;

use super::Performer;
use crate::admitted::Admitted;
use crate::gate::{
    AdversarialDecision, Approvals, Clearance, Decision, GateId, Judged, Question, Reason,
};
use crate::guard::Guard;
use crate::ports::{Approval, ApprovalReply, ApprovalRequest, Completion, CompletionError};
use crate::session::Session;
use crate::toolset::Toolset;

/// Why a call did not get a permit.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// No person agreed.
    NeedsApproval(Vec<Question>),
    /// Gates denied the call.
    Denied(Vec<Reason>),
}

impl Stopped {
    /// The rules that stopped the call, each after its gate.
    pub(crate) fn rules(&self) -> Vec<String> {
        match self {
            Self::NeedsApproval(questions) => Question::rules(questions),
            Self::Denied(reasons) => Reason::rules(reasons),
        }
    }
}

/// The outcome of judging a call.
#[derive(Debug)]
pub(crate) struct Ruling {
    /// The call that was judged. It differs from the original if a person changed it.
    pub(crate) admitted: Arc<Admitted>,
    pub(crate) outcome: Result<Clearance, Stopped>,
    /// The decision of the model that judges by policies in plain language, if it was asked.
    pub(crate) consulted: Option<&'static str>,
}

/// A person's reply, as far as the guard can use it.
enum Reply {
    Agreed(Approval),
    Declined(Reason),
    Changed(Arc<Admitted>, String),
    NoAnswer,
}

/// The outcome of asking for permission.
enum Permission {
    Given(Clearance),
    Stopped(Stopped),
    /// This person rewrote the call; the new call has to be judged.
    Changed(Arc<Admitted>, String),
}

impl From<Decision> for Permission {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Cleared(cleared) => Self::Given(cleared),
            Decision::Denied(reasons) => Self::Stopped(Stopped::Denied(reasons)),
            Decision::NeedsApproval(questions) => Self::Stopped(Stopped::NeedsApproval(questions)),
        }
    }
}

impl Guard {
    /// Asks every gate. If none denies, asks the model that judges by policies, if there is one. If
    /// gates ask, asks a person. If the person changes the call, starts over with the changed call.
    pub(crate) async fn judge(
        &self,
        session: &Session,
        performer: Performer<'_>,
        mut admitted: Arc<Admitted>,
        scene: &Scene<'_>,
    ) -> Ruling {
        let mut changed_by = None;
        loop {
            let (objection, consulted) = self.objection(&admitted, scene).await;
            let outcome = match objection {
                Some(reasons) => Err(Stopped::Denied(reasons)),
                None => match self.permit(session, performer, &admitted, scene, changed_by).await {
                    Permission::Changed(call, by) => {
                        admitted = call;
                        changed_by = Some(by);
                        continue;
                    }
                    Permission::Given(cleared) => Ok(cleared),
                    Permission::Stopped(stopped) => Err(stopped),
                },
            };
            return Ruling { admitted, outcome, consulted };
        }
    }

    /// Returns why the call is denied before a person is asked, and the decision of the model that
    /// judges by policies.
    async fn objection(
        &self,
        admitted: &Admitted,
        scene: &Scene<'_>,
    ) -> (Option<Vec<Reason>>, Option<&'static str>) {
        let Some(judge) = self.consulting(admitted, scene) else {
            return (None, self.unconsulted(admitted, scene));
        };
        // The gates judge first without using up an approval; the model has not decided yet.
        if let Judged::Denied(reasons) = self.gates().judge(admitted, scene) {
            return (Some(reasons), None);
        }
        let (word, objection) = self.consult(judge, admitted, scene).await;
        (objection.map(|reason| vec![reason]), Some(word))
    }

    /// Decides on a call, asking a person if needed. If `changed_by` is set, that person wrote the
    /// arguments and thereby agrees to the call.
    async fn permit(
        &self,
        session: &Session,
        performer: Performer<'_>,
        admitted: &Arc<Admitted>,
        scene: &Scene<'_>,
        changed_by: Option<String>,
    ) -> Permission {
        let questions = match self.decision(performer, admitted, scene) {
            Decision::NeedsApproval(questions) => questions,
            decided => return decided.into(),
        };
        let Some(question) = questions.first() else {
            return Permission::Stopped(Stopped::NeedsApproval(questions));
        };
        if let Some(reason) = self.no_question(performer, admitted, scene, question, &changed_by) {
            return Permission::Stopped(Stopped::Denied(vec![reason]));
        }
        let approval = match (changed_by, performer) {
            (Some(by), _) => Approval::by(by),
            (None, Performer::Host) => {
                return Permission::Stopped(Stopped::NeedsApproval(questions));
            }
            (None, Performer::Guard(tools)) => {
                match self.ask(session, tools, admitted, scene, &questions).await {
                    Reply::Agreed(approval) => approval,
                    Reply::Changed(call, by) => return Permission::Changed(call, by),
                    Reply::Declined(reason) => {
                        return Permission::Stopped(Stopped::Denied(vec![reason]));
                    }
                    Reply::NoAnswer => {
                        return Permission::Stopped(Stopped::NeedsApproval(questions));
                    }
                }
            }
        };
        self.agreed(scene.session, question, approval).await;
        // Judged again, because a policy may have been replaced in the meantime.
        self.gates().decide(admitted, scene, self.approvals()).into()
    }

    /// What the gates decide with the existing approvals.
    fn decision(
        &self,
        performer: Performer<'_>,
        admitted: &Arc<Admitted>,
        scene: &Scene<'_>,
    ) -> Decision {
        // A host's call without an id opens no receipt, so it cannot use up an approval.
        match performer {
            Performer::Host if admitted.call().id.is_empty() => {
                let none = Approvals::new(Arc::clone(self.shared_clock()), Duration::ZERO);
                self.gates().decide(admitted, scene, &none)
            }
            _ => self.gates().decide(admitted, scene, self.approvals()),
        }
    }

    /// Why no person is asked: the call would not run even if they agreed, or someone has already
    /// refused it.
    fn no_question(
        &self,
        performer: Performer<'_>,
        admitted: &Admitted,
        scene: &Scene<'_>,
        question: &Question,
        changed_by: &Option<String>,
    ) -> Option<Reason> {
        let refused = match performer {
            Performer::Guard(_) => self.refusal(admitted, scene),
            Performer::Host => None,
        };
        let declined = || match changed_by {
            None => self.declined_before(scene.session, question),
            Some(_) => None,
        };
        refused.or_else(declined)
    }

    /// Asks a person, and asks again while the arguments that they give instead cannot be used.
    async fn ask(
        &self,
        session: &Session,
        tools: &Toolset,
        admitted: &Admitted,
        scene: &Scene<'_>,
        questions: &[Question],
    ) -> Reply {
        let (Some(approver), Some(question)) = (self.approver(), questions.first()) else {
            return Reply::NoAnswer;
        };
        let mut wrong: Option<String> = None;
        loop {
            let request = ApprovalRequest {
                session: scene.session,
                call_id: &admitted.call().id,
                caller: scene.caller,
                phase: scene.phase,
                questions,
                arguments: admitted.exact_arguments(),
                wrong: wrong.as_deref(),
            };
            return match approver.ask(&request).await {
                ApprovalReply::NoAnswer => Reply::NoAnswer,
                ApprovalReply::Agreed(approval) => Reply::Agreed(approval),
                ApprovalReply::Declined { by, reason } => {
                    Reply::Declined(self.declined(question, &by, reason.as_deref()))
                }
                ApprovalReply::Changed { by, arguments } => {
                    match self.changed(session, tools, admitted, &by, &arguments) {
                        Ok(call) => Reply::Changed(call, by),
                        Err(why) => {
                            wrong = Some(why);
                            continue;
                        }
                    }
                }
            };
        }
    }

    /// The model to ask about this call. Without one, the gate itself decides.
    pub(crate) fn consulting(
        &self,
        admitted: &Admitted,
        scene: &Scene<'_>,
    ) -> Option<&dyn Completion> {
        let judge = self.policy_judge()?;
        self.policy().settings.adversarial.concerns(admitted, scene).then_some(judge)
    }

    /// The word in the audit log for a call that a model should judge when there is no model.
    fn unconsulted(&self, admitted: &Admitted, scene: &Scene<'_>) -> Option<&'static str> {
        let policy = self.policy();
        let settings = &policy.settings.adversarial;
        let missing = self.policy_judge().is_none() && settings.concerns(admitted, scene);
        missing.then(|| settings.word_without_judge())
    }

    /// Asks the model that judges by policies. Returns its decision and, if it denies the call, the
    /// reason.
    async fn consult(
        &self,
        judge: &dyn Completion,
        admitted: &Admitted,
        scene: &Scene<'_>,
    ) -> (&'static str, Option<Reason>) {
        let decision = self.decision_of(judge, admitted, scene).await;
        (decision.word(), denial(decision))
    }

    async fn decision_of(
        &self,
        judge: &dyn Completion,
        admitted: &Admitted,
        scene: &Scene<'_>,
    ) -> AdversarialDecision {
        let policy = self.policy();
        let settings = &policy.settings.adversarial;
        let Some(question) = settings.question(admitted, scene, self.redactor()) else {
            return AdversarialDecision::Unanswered;
        };
        let answer = tokio::time::timeout(settings.timeout, judge.complete(&question)).await;
        let late = |_| Err(CompletionError("it timed out".to_owned()));
        let answer = answer.unwrap_or_else(late);
        if let Err(error) = &answer {
            tracing::warn!("{error}");
        }
        settings.decide(answer)
    }
}

fn denial(decision: AdversarialDecision) -> Option<Reason> {
    let (code, message) = match decision {
        AdversarialDecision::Allowed | AdversarialDecision::FailedOpen => return None,
        AdversarialDecision::Denied => {
            ("adversarial_denied", "the call violates the operator's policies")
        }
        AdversarialDecision::Unanswered => (
            "adversarial_unanswered",
            "could not determine whether the call complies with the operator's policies",
        ),
    };
    Some(Reason {
        gate: GateId("adversarial"),
        code,
        message: message.to_owned(),
        matched: Some("tools.adversarial_policy".to_owned()),
        help: Some("choose another approach; only the operator can change the policies".to_owned()),
    })
}
