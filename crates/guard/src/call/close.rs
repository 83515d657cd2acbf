use counterfoil_admission::Step;
use counterfoil_model::{Digest, Status};
use counterfoil_tools::{CachedResult, RecentCall, ShellOutputEnvelope, ToolEvent};

use super::CallError;
use super::beside::Beside;
use super::execute::Ended;
use crate::admitted::Admitted;
use crate::auditing::{Said, reason_in};
use crate::gate::words;
use crate::guard::Guard;
use crate::recording::{Ending, Recorded, Recording};
use crate::repeated::ending_of;
use crate::session::Session;

/// An execution that is recorded to its end, also in the audit log.
#[derive(Debug)]
pub(crate) struct ClosedCall {
    pub(crate) recorded: Recorded,
    /// Characters that the executor would show of it; `None` where it says nothing about that.
    pub(super) shown_chars: Option<usize>,
    /// A word to a model that repeats itself.
    pub(super) nudge: Option<String>,
    /// What stands beside the text: redacted.
    pub(super) beside: Beside,
    /// What a shell command gave back, in its parts: redacted.
    pub(super) envelope: Option<ShellOutputEnvelope>,
}

impl ClosedCall {
    /// What can be given again of it: whole results that are text.
    pub(crate) fn as_result(&self) -> Option<CachedResult> {
        let closed = &self.recorded.closed;
        // Of a result in blocks only the text would be given again.
        if closed.status != Status::Completed || closed.is_partial() || self.beside.has_blocks() {
            return None;
        }
        Some(CachedResult {
            execution_id: closed.execution_id.clone(),
            text: self.recorded.text.clone(),
            structured: self.recorded.structured.clone(),
        })
    }
}

impl Guard {
    /// Writes down how the execution ended: in the ledger, in the audit log, in the session.
    pub(super) async fn close(
        &self,
        session: &Session,
        admitted: &Admitted,
        recording: Recording,
        ended: Ended,
        said: Said<'_>,
    ) -> Result<ClosedCall, CallError> {
        let mut call = self.record(session, recording, ended, said).await?;
        let Recorded { closed, text, .. } = &call.recorded;
        let went = ending_of(closed.status);
        let tool = admitted.tool();
        let arguments = &admitted.call().arguments;
        let writes = tool.effects.writes;
        let step = Step { tool: &tool.name, arguments, result: text, ending: went, writes };
        call.nudge = session.went(step);
        if self.policy().settings.utility.enabled() {
            let ran = RecentCall {
                execution_id: closed.execution_id.clone(),
                tool: tool.name.clone(),
                digest: admitted.digest(),
                words: words(admitted.arguments()),
                succeeded: closed.status == Status::Completed,
                result_chars: text.chars().count(),
                outdated: false,
            };
            session.record().calls.ran(ran, self.writes(admitted));
        }
        Ok(call)
    }

    /// The same but for what the session learns of it.
    pub(crate) async fn record(
        &self,
        session: &Session,
        recording: Recording,
        ended: Ended,
        said: Said<'_>,
    ) -> Result<ClosedCall, CallError> {
        let Ended { output, status, category, attempts } = ended;
        let raw = output.raw_response.as_ref().map(|raw| self.redactor().redact_value(raw));
        let envelope = raw.and_then(|raw| serde_json::from_value(raw).ok());
        let beside = Beside::of(&output, self.redactor());
        // A result in blocks is more than its text.
        let whole = output.raw_response.as_ref().filter(|_| !output.content.is_empty());
        let raw_digest = whole.map(Digest::of_json);
        // What is shown may be cut; what is recorded is all there is.
        let shown_chars = output.full.as_ref().map(|_| output.text.chars().count());
        let shown_cut = output.truncated;
        let rolled_back = output.rolled_back;
        let said = Said { rolled_back, ..said };
        let (text, kept_cut) = match output.full {
            Some(full) => (full.text, full.cut),
            None => (output.text, shown_cut),
        };
        let truncated = shown_cut || kept_cut;
        let ending = Ending {
            status: Some(status),
            category,
            text,
            structured: output.structured,
            exit_code: output.exit_code,
            truncated,
            kept_whole: truncated && !kept_cut,
            attempts,
            side_effects: output.side_effects,
            confinement: output.confinement,
            raw_digest,
        };
        let said = Said { egress: &output.egress, ..said };
        let recorded = self.finish(session, recording, ending, said).await?;
        if let Some(rolled_back) = rolled_back {
            self.tell(session, &recorded.opened, || ToolEvent::Rollback { rolled_back });
        }
        Ok(ClosedCall { recorded, shown_chars, nudge: None, beside, envelope })
    }

    /// Writes down how an execution ended, whoever performed it: in the ledger, then in the audit
    /// log.
    pub(crate) async fn finish(
        &self,
        session: &Session,
        recording: Recording,
        ending: Ending,
        said: Said<'_>,
    ) -> Result<Recorded, CallError> {
        let recorded = recording.close(ending).await.map_err(CallError::ResultNotRecorded)?;
        let failed = recorded.closed.status != Status::Completed;
        let reason = failed.then(|| reason_in(&recorded.text)).flatten();
        let said = Said { reason, ..said };
        self.audit_closed(session, &recorded.opened, &recorded.closed, said)
            .map_err(CallError::NotAudited)?;
        Ok(recorded)
    }
}
