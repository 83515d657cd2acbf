use counterfoil_model::ToolCall;
use counterfoil_rules::CallReport;

use crate::call::{Answer, CallError, Refused};
use crate::guard::Guard;
use crate::session::{Session, Surroundings};

impl Guard {
    /// Records a call that a host does not execute because it does not fit its tool, and says what
    /// the model is to be told.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn refused(
        &self,
        session: &Session,
        call: ToolCall,
        report: CallReport,
        around: &Surroundings,
    ) -> Result<Answer, CallError> {
        let held = session.hold(self, around);
        let scene = session.scene(&held, around, self.workspace(), self.clock().wall());
        self.refuse(session, Refused { call, report }, &scene).await
    }
}
