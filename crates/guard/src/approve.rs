use counterfoil_ledger::{
    APPROVAL_DECLINED, AppendError, Approved, Declined, Draft, Lasts, Receipt,
};
use counterfoil_model::Digest;

use crate::gate::{GateId, Question, Reason};
use crate::guard::Guard;
use crate::ports::Approval;

/// What a person says to a call that was denied.
#[derive(Debug, Clone)]
pub enum PersonsDecision {
    /// They agree.
    Agree(Approval),
    /// They say no, until somebody agrees.
    Refuse {
        /// Who.
        by: String,
        /// Why, where they said.
        reason: Option<String>,
    },
}

impl Guard {
    /// Somebody agrees to a call ahead of it: to this tool with the arguments of this digest (see
    /// [`Question::digest`] and [`Receipt::arguments_digest`](crate::Receipt)) in this session.
    /// It stands in the ledger, so every process honours it, and only one call uses it up.
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

    /// The same for the call of a receipt, by somebody who knows what was decided on it up to the
    /// place `seen` of its session: of several who decide at once, in whichever process, one does.
    ///
    /// # Errors
    /// When somebody decided meanwhile, or it cannot be recorded.
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

    /// Somebody says no to such a call, now and later: until somebody agrees to it, it is denied,
    /// and the agent is told who said so. Approvals of it that were given before hold no longer.
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

    /// Why a call is denied about which somebody would be asked who has said no already.
    pub(crate) fn declined_before(&self, session: &str, question: &Question) -> Option<Reason> {
        let found = self.ledger().standing_refusal(session, question.digest);
        // What cannot be read is no agreement either: it is asked about.
        let found = found
            .inspect_err(|error| tracing::error!("refusals cannot be read: {error}"))
            .ok()??;
        Some(self.declined(question, &found.by, found.reason.as_deref()))
    }

    /// Takes note that somebody who was asked agreed.
    pub(crate) async fn agreed(&self, session: &str, question: &Question, approval: Approval) {
        let reason = approval.reason.map(|reason| self.redactor().redact(&reason).into_owned());
        let approval = Approval { reason, ..approval };
        // Agreement to what somebody refused stands beside the refusal, or is none.
        let is_refused = self.approvals().is_refused(session, question.digest);
        if !is_refused {
            self.approvals().grant(session, question, approval.clone());
        }
        if is_refused || approval.lasts == Lasts::Session {
            // Whoever goes on with the session elsewhere is not asked again; or is, where this
            // cannot be kept.
            let (tool, digest) = (&question.tool, question.digest);
            if let Err(error) = self.approve(session, tool, digest, approval).await {
                tracing::error!("an approval is not recorded: {error}");
            }
        }
    }

    /// Why a call does not run to which somebody said no.
    pub(crate) fn declined(&self, question: &Question, by: &str, why: Option<&str>) -> Reason {
        let why = why.map(|why| self.redactor().redact(why));
        let said = why.map(|why| format!(": {why}")).unwrap_or_default();
        Reason {
            gate: question.gate,
            code: APPROVAL_DECLINED,
            message: format!("{by} did not agree to this call{said}"),
            matched: None,
            help: Some("do not try it another way, and do not report it as done".to_owned()),
        }
    }
}

/// Why a call does not run whose approval another one used up meanwhile.
pub(crate) fn approval_used() -> Reason {
    Reason {
        gate: GateId("approval"),
        code: "approval_used",
        message: "the approval of this call was used up by another one".to_owned(),
        matched: None,
        help: Some("a person has to agree once more".to_owned()),
    }
}
