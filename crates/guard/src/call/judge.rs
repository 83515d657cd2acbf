use std::sync::Arc;

use crate::admitted::Admitted;
use crate::gate::{Clearance, Decision, Question, Reason};
use crate::guard::Guard;
use crate::scene::Scene;

/// Why a call did not get a permit.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Nobody agreed.
    Asked(Vec<Question>),
    /// Gates said no.
    Denied(Vec<Reason>),
}

impl Guard {
    /// Asks every gate, and where they ask, a person.
    pub(super) async fn judge(
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
        // All questions are about the same call: whoever agrees, agrees to the call.
        let Some(approval) = approver.ask(question).await else {
            return Err(Stopped::Asked(questions));
        };
        self.approvals().grant(scene.session, question, &approval.by);
        // Judged anew: meanwhile a policy may have been swapped.
        match self.gates().decide(admitted, scene, self.approvals()) {
            Decision::Cleared(cleared) => Ok(cleared),
            Decision::Denied(reasons) => Err(Stopped::Denied(reasons)),
            Decision::Asked(questions) => Err(Stopped::Asked(questions)),
        }
    }
}
