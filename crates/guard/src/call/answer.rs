use counterfoil_admission::Issue;
use counterfoil_ledger::{AppendError, Draft, RandomnessError, ReadLedgerError, Receipt};
use counterfoil_model::{Digest, Status, ToolErrorCategory};
use counterfoil_tools::{FilterConfidence, ShellOutputEnvelope};
use serde::Serialize;
use serde_json::Value;

use super::close::ClosedCall;
use super::filter::Shown;
use crate::admitted::Admitted;
use crate::gate::Question;
use crate::guard::Guard;
use crate::recording::Recorded;
use crate::session::Session;

/// What came of a call: what the agent will see, and the id of the receipt that stands behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The id of the receipt. Rejected calls have one too.
    pub execution_id: String,
    /// How the call ended.
    pub status: Status,
    /// Why it did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<ToolErrorCategory>,
    /// Codes of the issues or reasons for which it was not executed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    /// What the agent sees: redacted.
    pub text: String,
    /// The result as JSON, where the tool gives JSON: redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The result in blocks, where the tool gives more than a text: redacted, in the form of MCP.
    /// Where the text that the agent sees differs from what the tool gave, these say that, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Value>,
    /// What the tool says beside its result: redacted.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// The exit code, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The result was cut.
    pub truncated: bool,
    /// How well the filters knew what they left something out of; `None` when nothing is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filtered: Option<FilterConfidence>,
    /// What a person would have to agree to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// A word to a model that repeats itself without getting anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nudge: Option<String>,
    /// What was doubtful about the call, and did not keep it from running.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Issue>,
    /// What was not as it should be and did not keep the tool from doing its work: redacted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_warnings: Vec<String>,
    /// What a shell command gave back, in its parts: redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<ShellOutputEnvelope>,
}

/// The record of a call could not be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// Nothing was executed.
    #[error("the call cannot be recorded, so it was not executed: {0}")]
    NotRecorded(#[source] AppendError),
    /// It was executed, and its result is withheld. The ledger holds its intent.
    #[error("the call ran, but its end cannot be recorded, so its result is withheld: {0}")]
    ResultNotRecorded(#[source] AppendError),
    /// The audit log could not be written.
    #[error("the audit log cannot be written, so the result is withheld: {0}")]
    NotAudited(#[source] counterfoil_ledger::AppendAuditError),
    /// No id could be made.
    #[error(transparent)]
    NoRandomness(RandomnessError),
    /// What was recorded before could not be read.
    #[error("the record of the session cannot be read: {0}")]
    Unreadable(#[source] ReadLedgerError),
}

impl Answer {
    /// The receipt that stands behind it.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn receipt(&self, guard: &Guard) -> Result<Option<Receipt>, ReadLedgerError> {
        guard.ledger().receipt(&self.execution_id)
    }
}

impl Guard {
    /// What admission found doubtful, without secrets.
    fn doubts(&self, admitted: &Admitted) -> Vec<Issue> {
        let clean = |text: &str| self.redactor().redact(text).into_owned();
        let issues = admitted.report().issues.iter().cloned();
        let cleaned = issues.map(|issue| Issue {
            message: clean(&issue.message),
            actual: issue.actual.as_deref().map(clean),
            expected: issue.expected.as_deref().map(clean),
            ..issue
        });
        cleaned.collect()
    }

    /// Lets the result leave. Where it differs from what is recorded, that is recorded too.
    pub(super) async fn answer(
        &self,
        session: &Session,
        admitted: &Admitted,
        call: ClosedCall,
        shown: Shown,
    ) -> Result<Answer, CallError> {
        let ClosedCall { recorded, nudge, envelope, beside, .. } = call;
        let content = beside.content((!shown.filters.is_empty()).then_some(&shown.text));
        let Recorded { closed, structured, text, .. } = recorded;
        if !shown.filters.is_empty() {
            let digest = Digest::of_bytes(shown.text.as_bytes());
            let execution_id = closed.execution_id.clone();
            let bytes = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
            let draft = Draft::Shown {
                execution_id,
                digest,
                filters: shown.filters,
                recorded_bytes: bytes(&text),
                shown_bytes: bytes(&shown.text),
            };
            let event = self
                .ledger()
                .append(session.id(), draft, Vec::new())
                .await
                .map_err(CallError::ResultNotRecorded)?;
            session.note(event, Vec::new());
        }
        let truncated = closed.is_partial() || shown.cut;
        Ok(Answer {
            execution_id: closed.execution_id,
            status: closed.status,
            category: closed.category,
            codes: Vec::new(),
            text: shown.text,
            structured,
            content,
            meta: beside.meta,
            exit_code: closed.exit_code,
            truncated,
            filtered: shown.filtered,
            questions: Vec::new(),
            nudge,
            warnings: self.doubts(admitted),
            tool_warnings: beside.warnings,
            envelope,
        })
    }
}
