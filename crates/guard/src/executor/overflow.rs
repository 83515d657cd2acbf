use counterfoil_ledger::Ledger;
use counterfoil_model::{Effects, Origin, Tool, ToolErrorCategory};
use counterfoil_tools::{Scene, ToolError, ToolOutput, whole};
use serde_json::{Value, json};

use super::{ExecutorId, ExecutorKind, ToolExecutor};
use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};

/// The name of the tool.
pub(crate) const READ_OVERFLOW: &str = "read_overflow";

/// Reads recorded results of the same session in pieces. Recorded results are redacted.
pub(crate) struct OverflowExecutor {
    ledger: Ledger,
    /// The maximum length of one piece, in characters.
    most: usize,
}

impl OverflowExecutor {
    pub(crate) fn new(ledger: Ledger, most: usize) -> Self {
        Self { ledger, most }
    }

    fn read(&self, call: &Admitted, scene: &Scene<'_>) -> Result<ToolOutput, ToolError> {
        let wrong = |message: String| ToolError::new(ToolErrorCategory::InvalidParameters, message);
        let number = |name: &str, default: usize| match call.arguments().get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => whole(value)
                .and_then(|number| usize::try_from(number).ok())
                .ok_or_else(|| wrong(format!("`{name}` must be a non-negative integer"))),
        };
        let id = call.arguments().get("id").and_then(Value::as_str);
        let id = id.ok_or_else(|| wrong("`id` is missing".to_owned()))?;
        let (offset, limit) = (number("offset", 0)?, number("limit", self.most)?.min(self.most));
        let text = self.text(id, scene.session)?;
        let all = text.chars().count();
        let piece: String = text.chars().skip(offset).take(limit).collect();
        let next = offset.saturating_add(limit);
        let more = if next < all { format!("; next `offset`: {next}") } else { String::new() };
        let from = offset.min(all);
        let note = format!("[characters {from} to {} of {all}{more}]\n", next.min(all));
        Ok(ToolOutput::from(note + &piece))
    }

    /// Returns the recorded result of an execution of this session.
    fn text(&self, id: &str, session: &str) -> Result<String, ToolError> {
        let failed = |message: String| ToolError::new(ToolErrorCategory::PermanentFailure, message);
        let unreadable = |error| failed(format!("cannot read the record: {error}"));
        let receipt = self.ledger.receipt(id).map_err(unreadable)?;
        // INVARIANT: a result of another session looks the same as one that does not exist.
        let receipt = receipt.filter(|receipt| receipt.session_id == session);
        let receipt =
            receipt.ok_or_else(|| failed(format!("this session has no execution `{id}`")))?;
        if let Some(answer) = receipt.answer {
            return Ok(answer);
        }
        let digest = receipt.recorded_digest;
        let digest = digest.ok_or_else(|| failed(format!("`{id}` has not ended")))?;
        let bytes = self.ledger.result(&digest).map_err(unreadable)?;
        let bytes = bytes.ok_or_else(|| failed(format!("the result of `{id}` is not stored")))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl ToolExecutor for OverflowExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Native, READ_OVERFLOW)
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        let parameters = json!({
            "type": "object",
            "properties": {
                "id": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The execution id shown with the result."
                },
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "How many characters to skip."
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "description": format!("How many characters to read, at most {}.", self.most)
                }
            },
            "required": ["id"],
            "additionalProperties": false
        });
        vec![Tool {
            description: "Reads a result from this session that was too long to show, or that \
                          was shown with lines left out."
                .to_owned(),
            parameters: Some(parameters),
            origin: Origin::Builtin,
            effects: Effects {
                reads: Some(true),
                writes: Some(false),
                network: Some(false),
                idempotent: Some(true),
                retrieves: Some(true),
            },
            ..Tool::named(READ_OVERFLOW)
        }]
    }

    fn owns(&self, tool: &str) -> bool {
        tool == READ_OVERFLOW
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        if !self.owns(&permit.call().tool().name) {
            return Ok(None);
        }
        self.read(permit.call(), scene).map(Some)
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        if !self.owns(&permit.call().tool().name) {
            return Ok(None);
        }
        self.read(permit.call(), scene).map(Some)
    }

    fn requires_confirmation(&self, _call: &Admitted, _scene: &Scene<'_>) -> Option<String> {
        None
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        self.owns(tool)
    }

    fn is_tool_speculatable(&self, tool: &str) -> bool {
        self.owns(tool)
    }
}
