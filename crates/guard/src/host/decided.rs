use std::sync::Arc;

use counterfoil_model::PermitBasis;

use super::before::Before;
use crate::admitted::Admitted;
use crate::auditing::AuditContext;
use crate::call::{CallError, Stopped};
use crate::gate::{Judged, Question};
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
    /// There is no answer: the question was cancelled, or time ran out.
    Missing,
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
        let said = AuditContext { claim_source: scene.claim_source, ..AuditContext::default() };
        let stopped = match answer {
            PersonsAnswer::Agreed => {
                let basis = PermitBasis::Approval { who: who.to_owned(), reason: None, uses: None };
                match self.open_host(admitted, basis, &scene).await? {
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
            PersonsAnswer::Missing => Stopped::Asked(questions.clone()),
        };
        self.deny_host(admitted, stopped, &scene, said).await
    }
}
