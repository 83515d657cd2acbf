use std::sync::Arc;

use counterfoil_model::PermitBasis;

use super::before::{Before, not_agreed};
use crate::admitted::Admitted;
use crate::auditing::AuditContext;
use crate::call::{CallError, Stopped};
use crate::gate::{CANCELLED, Judged, Question, Reason};
use crate::permitted::Permitted;
use crate::session::{Session, Surroundings};

/// A call that a person is asked about by the host, which reports the answer. It has no receipt
/// yet.
#[derive(Debug, Clone)]
pub struct Undecided {
    pub(super) admitted: Arc<Admitted>,
    pub(super) around: Surroundings,
    pub(super) questions: Vec<Question>,
}

/// A person's answer to a host's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonsAnswer {
    /// The call may run.
    Agreed,
    /// The call may not run.
    Declined,
    /// There is no answer: the question could not be shown, or time ran out. The call still needs
    /// approval.
    Missing,
    /// The call was cancelled while the question was open.
    Withdrawn,
}

impl Session {
    /// Records what a person answered about a call. If they agreed, opens its receipt, with this
    /// answer as the basis; otherwise records the denial. `who` says how the person was asked.
    ///
    /// # Errors
    /// When the call cannot be recorded.
    pub async fn decided(
        &self,
        undecided: &Undecided,
        who: &str,
        answer: PersonsAnswer,
    ) -> Result<Before, CallError> {
        let guard = self.guard();
        let Undecided { admitted, around, questions } = undecided;
        let held = self.hold(guard, around);
        let scene = self.scene(&held, around, guard.workspace(), guard.clock().wall());
        let context = AuditContext { claim_source: scene.claim_source, ..AuditContext::default() };
        let stopped = match answer {
            PersonsAnswer::Agreed => {
                let basis = PermitBasis::Approval { who: who.to_owned(), reason: None, uses: None };
                let permitted = Permitted { basis, rules: Question::rules(questions) };
                match self.open_host(admitted, permitted, &scene).await? {
                    Ok(execution_id) => {
                        let allowed = Judged::Allowed { matched: Vec::new() };
                        return Ok(Before::new(allowed, Some(execution_id)));
                    }
                    Err(stopped) => stopped,
                }
            }
            PersonsAnswer::Declined => Stopped::Denied(
                questions.iter().map(|question| guard.declined(question, who, None)).collect(),
            ),
            PersonsAnswer::Missing => {
                Stopped::Denied(questions.iter().cloned().map(not_agreed).collect())
            }
            PersonsAnswer::Withdrawn => Stopped::Denied(questions.iter().map(withdrawn).collect()),
        };
        self.deny_host(admitted, stopped, &scene, context).await
    }
}

/// The denial of a call that was cancelled before a person answered.
fn withdrawn(question: &Question) -> Reason {
    Reason {
        gate: question.gate,
        code: CANCELLED,
        message: "the call was cancelled before the user answered".to_owned(),
        matched: question.matched.clone(),
        help: None,
    }
}
