use counterfoil_admission::Step;
use counterfoil_model::{Digest, Status};
use counterfoil_tools::{CachedResult, RecentCall, ShellOutputEnvelope, ToolEvent};

use super::CallError;
use super::beside::Beside;
use super::execute::Ended;
use crate::admitted::Admitted;
use crate::auditing::{AuditContext, reason_in};
use crate::gate::words;
use crate::guard::Guard;
use crate::recording::{Ending, Recorded, Recording};
use crate::repeated::ending_of;
use crate::session::Session;

/// An execution whose end is recorded in the ledger and in the audit log.
#[derive(Debug)]
pub(crate) struct ClosedCall {
    pub(crate) recorded: Recorded,
    /// The number of characters that the executor would show; `None` if it does not say.
    pub(super) shown_chars: Option<usize>,
    /// A hint for a model that repeats itself.
    pub(super) nudge: Option<String>,
    /// What the tool returned in addition to its text, redacted.
    pub(super) beside: Beside,
    /// The parts of a shell command's output, redacted.
    pub(super) envelope: Option<ShellOutputEnvelope>,
}

impl ClosedCall {
    /// The result in a form that can be cached. Only complete results that are plain text can be.
    pub(crate) fn as_result(&self) -> Option<CachedResult> {
        let closed = &self.recorded.closed;
        // From a result with blocks, only the text could be returned again.
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
    /// Records how the execution ended, in the ledger, in the audit log and in the session.
    pub(super) async fn close(
        &self,
        session: &Session,
        admitted: &Admitted,
        recording: Recording,
        ended: Ended,
        context: AuditContext<'_>,
    ) -> Result<ClosedCall, CallError> {
        let mut call = self.record(session, recording, ended, context).await?;
        let Recorded { closed, text, .. } = &call.recorded;
        let went = ending_of(closed.status);
        let tool = admitted.tool();
        let arguments = &admitted.call().arguments;
        let writes = tool.effects.writes;
        // As when the ledger is read again: `repeated.rs`.
        let result = &closed.raw_digest.to_string();
        let step = Step { tool: &tool.name, arguments, result, ending: went, writes };
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

    /// Records how the execution ended, in the ledger and in the audit log, but not in the session.
    pub(crate) async fn record(
        &self,
        session: &Session,
        recording: Recording,
        ended: Ended,
        context: AuditContext<'_>,
    ) -> Result<ClosedCall, CallError> {
        let Ended { output, status, category, attempts } = ended;
        let raw = output.raw_response.as_ref().map(|raw| self.redactor().redact_value(raw));
        let envelope = raw.and_then(|raw| serde_json::from_value(raw).ok());
        let beside = Beside::from_output(&output, self.redactor());
        // A result with blocks is more than its text, so the raw response has a digest of its own.
        let whole = output.raw_response.as_ref().filter(|_| !output.content.is_empty());
        let raw_digest = whole.map(Digest::of_json);
        // The shown result may be cut; the recorded result is the full one.
        let shown_chars = output.full.as_ref().map(|_| output.text.chars().count());
        let shown_cut = output.truncated;
        let rolled_back = output.rolled_back;
        let context = AuditContext { rolled_back, ..context };
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
            background: output.background,
            raw_digest,
        };
        let context = AuditContext { egress: &output.egress, ..context };
        let recorded = self.finish(session, recording, ending, context).await?;
        if let Some(rolled_back) = rolled_back {
            self.tell(session, &recorded.opened, || ToolEvent::Rollback { rolled_back });
        }
        Ok(ClosedCall { recorded, shown_chars, nudge: None, beside, envelope })
    }

    /// Records how an execution ended, whether an executor or a host performed it: in the ledger,
    /// then in the audit log.
    pub(crate) async fn finish(
        &self,
        session: &Session,
        recording: Recording,
        ending: Ending,
        context: AuditContext<'_>,
    ) -> Result<Recorded, CallError> {
        let recorded = recording.close(ending).await.map_err(CallError::ResultNotRecorded)?;
        let failed = recorded.closed.status != Status::Completed;
        let reason = failed.then(|| reason_in(&recorded.text)).flatten();
        let context = AuditContext { reason, ..context };
        self.audit_closed(session, &recorded.opened, &recorded.closed, context)
            .map_err(CallError::NotAudited)?;
        Ok(recorded)
    }
}
