use countersign_model::Status;
use countersign_rules::Ending as Went;

use super::CallError;
use super::execute::Ended;
use crate::admitted::Admitted;
use crate::guard::Guard;
use crate::recording::{Ending, Recorded, Recording};
use crate::scene::Scene;
use crate::session::Session;

/// An execution that is recorded to its end, also in the audit log.
#[derive(Debug)]
pub(super) struct ClosedCall {
    pub(super) recorded: Recorded,
    /// A word to a model that repeats itself.
    pub(super) nudge: Option<String>,
}

impl Guard {
    /// Writes down how the execution ended: in the ledger, in the audit log, in the session.
    pub(super) async fn close(
        &self,
        session: &Session,
        admitted: &Admitted,
        recording: Recording,
        ended: Ended,
        scene: &Scene<'_>,
    ) -> Result<ClosedCall, CallError> {
        let Ended { output, status, category, attempts } = ended;
        let ending = Ending {
            status: Some(status),
            category,
            text: output.text,
            structured: output.structured,
            exit_code: output.exit_code,
            truncated: output.truncated,
            attempts,
            side_effects: output.side_effects,
            confinement: output.confinement,
        };
        let recorded = recording.close(ending).await.map_err(CallError::ResultNotRecorded)?;
        self.audit_closed(session, &recorded.opened, &recorded.closed, scene.claim_source)
            .map_err(CallError::NotAudited)?;
        let went = match status {
            Status::Completed => Went::Succeeded,
            Status::Open => Went::Unknown,
            _ => Went::Failed,
        };
        let tool = admitted.tool();
        let arguments = &admitted.call().arguments;
        let nudge = session.went(&tool.name, arguments, &recorded.text, went, tool.effects.writes);
        Ok(ClosedCall { recorded, nudge })
    }
}
