use counterfoil_ledger::{
    APPROVAL_DECLINED, AppendError, Approved, Declined, Draft, Lasts, Receipt,
};
use counterfoil_model::Digest;

use crate::gate::{GateId, Question, Reason};
use crate::guard::Guard;
use crate::ports::Approval;

/// A person's decision on a call that was denied.
#[derive(Debug, Clone)]
pub enum PersonsDecision {
    /// The person agrees.
    Agree(Approval),
    /// The person refuses. The refusal holds until someone agrees.
    Refuse {
        /// Who refused.
        by: String,
        /// The reason, if one was given.
        reason: Option<String>,
    },
}

impl Guard {
    /// Records an approval before the call is made: for this tool, with the arguments of this
    /// digest (see [`Question::digest`] and [`Receipt::arguments_digest`](crate::Receipt)), in this
    /// session. The approval is kept in the ledger, so every process honours it; one call uses it
    /// up.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn approve(
        &self,
        session: &str,
        tool: &str,
        digest: Digest,
        approval: Approval,
    ) -> Result<(), AppendError> {
        let draft = self.approved(tool, digest, approval);
        self.ledger().append(session, draft, Vec::new()).await.map(drop)
    }

    /// Records a decision on the call of a receipt. `seen` is the last position in the session that
    /// the person had seen. When several people decide at the same time, in any process, only one
    /// of them succeeds.
    ///
    /// # Errors
    /// When someone else has decided in the meantime, or the decision cannot be recorded.
    pub async fn decide(
        &self,
        receipt: &Receipt,
        decision: PersonsDecision,
        seen: u64,
    ) -> Result<(), AppendError> {
        let (tool, digest) = (receipt.tool.clone(), receipt.arguments_digest);
        let draft = match decision {
            PersonsDecision::Agree(approval) => self.approved(&tool, digest, approval),
            PersonsDecision::Refuse { by, reason } => {
                let reason = reason.map(|reason| self.redactor().redact(&reason).into_owned());
                Draft::Declined(Declined { arguments_digest: digest, tool, by, reason })
            }
        };
        self.ledger().append_decision(&receipt.session_id, draft, seen).await.map(drop)
    }

    fn approved(&self, tool: &str, digest: Digest, approval: Approval) -> Draft {
        let Approval { by, reason, lasts } = approval;
        let lifetime = i64::try_from(self.approvals().lifetime().as_millis()).unwrap_or(i64::MAX);
        let until = (lasts == Lasts::Once).then(|| self.clock().wall().saturating_add(lifetime));
        let reason = reason.map(|reason| self.redactor().redact(&reason).into_owned());
        let tool = tool.to_owned();
        Draft::Approved(Approved { arguments_digest: digest, tool, by, reason, lasts, until })
    }

    /// Records a refusal of such a call. The call is denied, now and later, until someone agrees to
    /// it, and the agent is told who refused. Earlier approvals of the call become void.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn decline(
        &self,
        session: &str,
        tool: &str,
        digest: Digest,
        by: String,
        reason: Option<String>,
    ) -> Result<(), AppendError> {
        let reason = reason.map(|reason| self.redactor().redact(&reason).into_owned());
        let declined = Declined { arguments_digest: digest, tool: tool.to_owned(), by, reason };
        self.ledger().append(session, Draft::Declined(declined), Vec::new()).await.map(drop)
    }

    /// Why a call is denied without asking: someone has already refused it.
    pub(crate) fn declined_before(&self, session: &str, question: &Question) -> Option<Reason> {
        let found = self.ledger().standing_refusal(session, question.digest);
        // A refusal that cannot be read is not an approval: the question is still asked.
        let found = found
            .inspect_err(|error| tracing::error!("cannot read recorded refusals: {error}"))
            .ok()??;
        Some(self.declined(question, &found.by, found.reason.as_deref()))
    }

    /// Records that the person who was asked agreed.
    pub(crate) async fn agreed(&self, session: &str, question: &Question, approval: Approval) {
        let reason = approval.reason.map(|reason| self.redactor().redact(&reason).into_owned());
        let approval = Approval { reason, ..approval };
        // A call that was refused before runs only if the agreement is recorded next to the
        // refusal.
        let is_refused = self.approvals().is_refused(session, question.digest);
        if !is_refused {
            self.approvals().grant(session, question, approval.clone());
        }
        if is_refused || approval.lasts == Lasts::Session {
            // Recording the approval means that another process that continues the session does not
            // ask again. If recording fails, it does.
            let (tool, digest) = (&question.tool, question.digest);
            if let Err(error) = self.approve(session, tool, digest, approval).await {
                tracing::error!("cannot record an approval: {error}");
            }
        }
    }

    /// The denial of a call that a person refused.
    pub(crate) fn declined(&self, question: &Question, by: &str, why: Option<&str>) -> Reason {
        let why = why.map(|why| self.redactor().redact(why));
        let suffix = why.map(|why| format!(": {why}")).unwrap_or_default();
        Reason {
            gate: question.gate,
            code: APPROVAL_DECLINED,
            message: format!("{by} did not approve this call{suffix}"),
            matched: question.matched.clone(),
            help: Some("do not try it another way, and do not report it as done".to_owned()),
        }
    }
}

/// The denial of a call whose approval another call has used up in the meantime.
pub(crate) fn approval_used() -> Reason {
    Reason {
        gate: GateId("approval"),
        code: "approval_used",
        message: "the approval for this call was already used by another call".to_owned(),
        matched: None,
        help: Some("this call needs a new approval".to_owned()),
    }
}
