use serde_json::Value;

use crate::canonical::{CanonicalForm, canonical_text};
use crate::exact::ExactValue;
use crate::json::{JsonError, JsonLimits, parse_strict};

/// The arguments of a call exactly as the model emitted them.
///
/// The bytes are kept because digests are computed from what the model wrote, not from how it was
/// parsed.
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

    /// Parses the arguments, keeping every number as written. Approvals, records and executions use
    /// this form.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn exact(&self) -> Result<ExactValue, JsonError> {
        ExactValue::parse(&self.0, JsonLimits::ARGUMENTS)
    }

    /// The canonical bytes of the arguments. Two calls with equal values have equal bytes.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn canonical(&self) -> Result<Vec<u8>, JsonError> {
        canonical_text(&self.0, CanonicalForm::WRITTEN, JsonLimits::ARGUMENTS)
    }

    /// Parses the arguments for readers that need no exact numbers: a number beyond 64 bits or the
    /// precision of a double becomes the nearest double. Duplicate keys, excessive depth and size
    /// are errors.
    ///
    /// # Errors
    /// When the text is invalid; the error says what is wrong, and at which byte.
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

/// A tool call as the model requested it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id that links the result to the call; empty if the log has none.
    pub id: String,
    /// The name as emitted.
    pub tool: String,
    /// The arguments as emitted.
    pub arguments: Arguments,
    /// 1-based line of the source; 0 if unknown.
    pub line: usize,
}

impl ToolCall {
    /// A call with the model's id, the tool's name and the text of the arguments.
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

/// The recorded result of one call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The id of the call; empty if the log has none.
    pub call_id: String,
    /// The text of the result, with all text blocks joined by line breaks.
    pub text: String,
    /// Whether the log marks it as an error; `None` if the log does not say.
    pub is_error: Option<bool>,
    /// The exit code, if the log has one.
    pub exit_code: Option<i32>,
    /// Whether the command was still running when this was recorded.
    pub running: bool,
    /// Whether the user or a policy refused the call, so that it never ran.
    pub refused: bool,
    /// Whether the field that says how the call ended was not understood, so that success is
    /// unknown.
    pub unread: bool,
    /// Whether the log shortened the text.
    pub truncated: bool,
    /// The number of tool calls by the sub-agent that produced this result, if recorded.
    pub subagent_calls: Option<u64>,
    /// 1-based line of the source; 0 if unknown.
    pub line: usize,
}
