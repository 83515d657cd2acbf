use std::sync::Arc;

use crate::admitted::Admitted;
use crate::gate::{AdversarialDecision, Clearance, Decision, GateId, Judged, Question, Reason};
use crate::guard::Guard;
use crate::ports::{ApprovalReply, ApprovalRequest, Completion, CompletionError};
use crate::scene::Scene;

/// Why a call did not get a permit.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Nobody agreed.
    Asked(Vec<Question>),
    /// Gates said no.
    Denied(Vec<Reason>),
}

/// What became of a call before the gates.
#[derive(Debug)]
pub(super) struct Ruling {
    pub(super) outcome: Result<Clearance, Stopped>,
    /// What the model said that judges by policies in plain language, where it was asked.
    pub(super) consulted: Option<&'static str>,
}

impl Guard {
    /// Asks every gate; where none denies, the model that judges by policies, if there is one; and
    /// where gates ask, a person.
    pub(super) async fn judge(&self, admitted: &Arc<Admitted>, scene: &Scene<'_>) -> Ruling {
        let mut consulted = None;
        if let Some(judge) = self.consulting(admitted, scene) {
            // No approval is used up before the model has spoken.
            if let Judged::Denied(reasons) = self.gates().judge(admitted, scene) {
                return Ruling { outcome: Err(Stopped::Denied(reasons)), consulted };
            }
            let (word, objection) = self.consult(judge, admitted, scene).await;
            consulted = Some(word);
            if let Some(reason) = objection {
                return Ruling { outcome: Err(Stopped::Denied(vec![reason])), consulted };
            }
        }
        Ruling { outcome: self.permit(admitted, scene).await, consulted }
    }

    async fn permit(
        &self,
        admitted: &Arc<Admitted>,
        scene: &Scene<'_>,
    ) -> Result<Clearance, Stopped> {
        let questions = match self.gates().decide(admitted, scene, self.approvals()) {
            Decision::Cleared(cleared) => return Ok(cleared),
            Decision::Denied(reasons) => return Err(Stopped::Denied(reasons)),
            Decision::Asked(questions) => questions,
        };
        let (Some(approver), Some(question)) = (self.approver(), questions.first()) else {
            return Err(Stopped::Asked(questions));
        };
        let request = ApprovalRequest {
            session: scene.session,
            call_id: &admitted.call().id,
            caller: scene.caller,
            phase: scene.phase,
            questions: &questions,
        };
        match approver.ask(&request).await {
            ApprovalReply::Nobody => return Err(Stopped::Asked(questions)),
            ApprovalReply::Declined { by, reason } => {
                let declined = self.declined(question, &by, reason.as_deref());
                return Err(Stopped::Denied(vec![declined]));
            }
            ApprovalReply::Agreed(approval) => {
                self.agreed(scene.session, question, approval).await;
            }
        }
        // Judged anew: meanwhile a policy may have been swapped.
        match self.gates().decide(admitted, scene, self.approvals()) {
            Decision::Cleared(cleared) => Ok(cleared),
            Decision::Denied(reasons) => Err(Stopped::Denied(reasons)),
            Decision::Asked(questions) => Err(Stopped::Asked(questions)),
        }
    }

    /// Whom to ask about this call. Where nobody is there, its gate has the last word.
    pub(crate) fn consulting(
        &self,
        admitted: &Admitted,
        scene: &Scene<'_>,
    ) -> Option<&dyn Completion> {
        let judge = self.policy_judge()?;
        self.policy().settings.adversarial.concerns(admitted, scene).then_some(judge)
    }

    /// The word of the model that judges by policies, and its objection where it has one.
    pub(crate) async fn consult(
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
        let late = |_| Err(CompletionError("it took too long".to_owned()));
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
            ("adversarial_denied", "the call does not keep to the operator's policies")
        }
        AdversarialDecision::Unanswered => (
            "adversarial_unanswered",
            "whether the call keeps to the operator's policies could not be found out",
        ),
    };
    Some(Reason {
        gate: GateId("adversarial"),
        code,
        message: message.to_owned(),
        matched: Some("tools.adversarial_policy".to_owned()),
        help: Some("choose another way; the operator's policies decide".to_owned()),
    })
}
