use serde_json::Value;

use crate::canonical::{CanonicalForm, canonical_text};
use crate::exact::ExactValue;
use crate::json::{JsonError, JsonLimits, parse_strict};

/// The arguments of a call exactly as the model emitted them.
///
/// The bytes are kept because digests are taken over what was said, not over what was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments(String);

impl Arguments {
    /// Wraps raw argument text.
    #[must_use]
    pub fn raw(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as emitted.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The arguments with every number as it is written: what is approved, recorded and run.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn exact(&self) -> Result<ExactValue, JsonError> {
        ExactValue::parse(&self.0, JsonLimits::ARGUMENTS)
    }

    /// The canonical bytes of the arguments: two calls have the same if they have the same values.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn canonical(&self) -> Result<Vec<u8>, JsonError> {
        canonical_text(&self.0, CanonicalForm::WRITTEN, JsonLimits::ARGUMENTS)
    }

    /// The arguments as JSON, for whoever only reads them: a number longer than 64 bits or a double
    /// is the nearest one. Duplicate keys, excessive depth and size are errors.
    ///
    /// # Errors
    /// What is wrong with the text, and at which byte.
    pub fn parse(&self) -> Result<Value, JsonError> {
        parse_strict(&self.0, JsonLimits::ARGUMENTS)
    }
}

impl From<&Value> for Arguments {
    fn from(value: &Value) -> Self {
        Self(value.to_string())
    }
}

impl From<&ExactValue> for Arguments {
    fn from(value: &ExactValue) -> Self {
        Self(value.to_string())
    }
}

/// One call of a tool, as the model asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id that ties the result to the call; empty when the log has none.
    pub id: String,
    /// The name as emitted.
    pub tool: String,
    /// The arguments as emitted.
    pub arguments: Arguments,
    /// 1-based line of the source on which the call stands; 0 when unknown.
    pub line: usize,
}

impl ToolCall {
    /// A call as a model made it: its id of the call, the name and the text of the arguments.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        let arguments = Arguments::raw(arguments);
        Self { id: id.into(), tool: tool.into(), arguments, line: 0 }
    }
}

/// What came back from one call, as recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The id of the call that it answers; empty when the log has none.
    pub call_id: String,
    /// The text of the result, all text blocks joined by a line break.
    pub text: String,
    /// Whether the log marks it as an error; `None` when the log does not say.
    pub is_error: Option<bool>,
    /// The exit code, where the log has one.
    pub exit_code: Option<i32>,
    /// The command had not ended when this was recorded.
    pub running: bool,
    /// The user or a policy refused the call: it never ran.
    pub refused: bool,
    /// What tells how the call ended was not understood: whether it succeeded is unknown.
    pub unread: bool,
    /// The log shortened the text.
    pub truncated: bool,
    /// How many tool calls the sub-agent behind this result made, where recorded.
    pub subagent_calls: Option<u64>,
    /// 1-based line of the source; 0 when unknown.
    pub line: usize,
}
