use std::borrow::Cow;

use counterfoil_admission::Issue;
use counterfoil_ledger::{Draft, ReadLedgerError, Receipt};
use counterfoil_model::{Digest, Status, ToolErrorCategory};
use counterfoil_tools::{FilterConfidence, ShellOutputEnvelope};
use serde::Serialize;
use serde_json::Value;

use super::close::ClosedCall;
use super::error::CallError;
use super::filter::Shown;
use crate::admitted::Admitted;
use crate::executor::without_block;
use crate::gate::Question;
use crate::guard::Guard;
use crate::recording::Recorded;
use crate::session::Session;

/// The result of a call: what the agent will see, and the id of the call's receipt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The id of the receipt. Rejected calls have one too.
    pub execution_id: String,
    /// How the call ended.
    pub status: Status,
    /// Why the call did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<ToolErrorCategory>,
    /// The codes of the issues or reasons for which the call was not executed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    /// The text that the agent sees, redacted.
    pub text: String,
    /// The result as JSON, if the tool returned JSON; redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The result as MCP content blocks, if the tool returned more than a text; redacted. If the
    /// agent sees a different text than the tool returned, the blocks contain that text, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Value>,
    /// Metadata that the tool returned with its result, redacted.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// The exit code, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the result was cut.
    pub truncated: bool,
    /// How certain the filters were about what they removed; `None` if nothing was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filtered: Option<FilterConfidence>,
    /// The questions that a person would have to agree to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// A hint for a model that repeats itself without making progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nudge: Option<String>,
    /// Issues of the call that did not block it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Issue>,
    /// Problems that did not keep the tool from doing its work, redacted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_warnings: Vec<String>,
    /// The parts of a shell command's output, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<ShellOutputEnvelope>,
}

impl Answer {
    /// The receipt of this call.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn receipt(&self, guard: &Guard) -> Result<Option<Receipt>, ReadLedgerError> {
        guard.ledger().receipt(&self.execution_id)
    }

    /// The answer for a person: its text without the error block for models, and why the call
    /// failed, if there is such a block.
    #[must_use]
    pub fn for_a_person(&self) -> (Cow<'_, str>, Option<&str>) {
        without_block(&self.text)
    }

    /// The answer as one text for a person: the text of its result, or else why it failed.
    #[must_use]
    pub fn plain(&self) -> Cow<'_, str> {
        match self.for_a_person() {
            (text, Some(why)) if text.trim().is_empty() => Cow::Borrowed(why),
            (text, _) => text,
        }
    }
}

impl Guard {
    /// The issues of an admitted call, redacted.
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

    /// Returns the result to the caller. If it differs from the recorded result, the difference is
    /// recorded as well.
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
