use counterfoil_ledger::Links;
use counterfoil_model::{Arguments, ExactValue, PermitBasis, Status, ToolCall, ToolErrorCategory};
use serde_json::{Value, json};

use crate::auditing::AuditContext;
use crate::call::CallError;
use crate::guard::Guard;
use crate::recording::{Ending, Recorded, Recording};
use crate::session::{Session, Surroundings};

/// An execution that a host performs itself and the guard records.
///
/// Dropping it records `cancelled`.
pub struct Tracked {
    guard: Guard,
    session: Session,
    recording: Recording,
}

/// An execution that a host performed and whose end is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedResult {
    /// The id of the receipt.
    pub execution_id: String,
    /// The recorded result as the agent should see it: redacted, and with the execution id if the
    /// settings put it into the text.
    pub text: String,
}

impl Session {
    /// Opens a receipt for a call that the host executes on its own authority.
    ///
    /// # Errors
    /// When the intent cannot be recorded. The host must not execute the call then.
    pub async fn track(
        &self,
        tool: &str,
        arguments: &ExactValue,
        around: Surroundings,
    ) -> Result<Tracked, CallError> {
        let guard = self.guard();
        let held = self.hold(guard, &around);
        let scene = self.scene(&held, &around, guard.workspace(), guard.clock().wall());
        let call = ToolCall {
            id: String::new(),
            tool: tool.to_owned(),
            arguments: Arguments::from(arguments),
            line: 0,
        };
        let mut opened =
            guard.intent(&call, tool, arguments, &scene).map_err(CallError::NoRandomness)?;
        opened.permit = PermitBasis::Host;
        opened.links = Links {
            retry_of: around.retry_of.clone(),
            rollback_of: around.rollback_of.clone(),
            ..Links::default()
        };
        if let Some(known) = guard.catalog().get(tool) {
            opened.origin = known.origin.clone();
        }
        let recording = guard.open_without_quota(self, opened).await?;
        Ok(Tracked { guard: guard.clone(), session: self.clone(), recording })
    }
}

impl Tracked {
    /// The id of the receipt.
    #[must_use]
    pub fn execution_id(&self) -> &str {
        self.recording.execution_id()
    }

    /// Records that the execution succeeded with this result.
    ///
    /// # Errors
    /// When the end cannot be recorded.
    pub async fn complete(self, result: Value) -> Result<TrackedResult, CallError> {
        let (text, structured) = match result {
            Value::String(text) => (text, None),
            value => (value.to_string(), Some(value)),
        };
        self.close(Ending { text, structured, ..Ending::default() }).await
    }

    /// Records that the execution failed with this message.
    ///
    /// # Errors
    /// When the end cannot be recorded.
    pub async fn fail(
        self,
        category: ToolErrorCategory,
        message: &str,
    ) -> Result<TrackedResult, CallError> {
        let status = match category {
            ToolErrorCategory::Timeout => Status::Timeout,
            ToolErrorCategory::Cancelled => Status::Cancelled,
            _ => Status::Failed,
        };
        let text = message.to_owned();
        let (status, category) = (Some(status), Some(category));
        self.close(Ending { status, category, text, ..Ending::default() }).await
    }

    async fn close(self, ending: Ending) -> Result<TrackedResult, CallError> {
        let Self { guard, session, recording } = self;
        // Whether a host's tool wrote anything is unknown.
        session.cache().invalidate();
        let recorded = guard.finish(&session, recording, ending, AuditContext::default()).await?;
        let Recorded { opened, text, structured, .. } = recorded;
        let text = guard.with_id(&text, structured.as_ref(), &opened);
        Ok(TrackedResult { execution_id: opened.execution_id, text })
    }
}

impl std::fmt::Debug for Tracked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.execution_id();
        f.debug_struct("Tracked").field("execution_id", &json!(id)).finish_non_exhaustive()
    }
}
