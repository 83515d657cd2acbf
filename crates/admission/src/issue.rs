use counterfoil_model::Code;
use serde::Serialize;
use serde_json::Value;

/// One problem with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// The code, which never changes.
    pub code: Code,
    /// The consequence.
    pub severity: IssueSeverity,
    /// One sentence for people and models.
    pub message: String,
    /// The tool's name as emitted.
    pub tool: String,
    /// JSON Pointer of the argument; empty if the issue is about the whole call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parameter: String,
    /// What would have been correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The actual value, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}

/// The consequence of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueSeverity {
    /// For information.
    Info,
    /// The call proceeds; the issue is recorded.
    Warn,
    /// The call does not run.
    Block,
}

impl Issue {
    /// An issue with the whole call.
    pub fn new(
        code: Code,
        severity: IssueSeverity,
        tool: &str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            tool: tool.to_owned(),
            parameter: String::new(),
            expected: None,
            actual: None,
        }
    }

    /// Sets the argument that the issue is about.
    pub(crate) fn at(mut self, pointer: impl Into<String>) -> Self {
        self.parameter = pointer.into();
        self
    }

    /// Sets what would have been correct.
    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Sets the actual value.
    pub(crate) fn actual(mut self, actual: impl Into<String>) -> Self {
        self.actual = Some(actual.into());
        self
    }
}

/// The codes of call issues.
pub mod code {
    use counterfoil_model::Code;

    /// There is no such tool.
    pub const UNKNOWN_TOOL: Code = Code("UNKNOWN_TOOL");
    /// A required parameter is missing.
    pub const MISSING_REQUIRED: Code = Code("MISSING_REQUIRED");
    /// An argument has the wrong JSON type.
    pub const WRONG_TYPE: Code = Code("WRONG_TYPE");
    /// The schema does not allow the value.
    pub const INVALID_VALUE: Code = Code("INVALID_VALUE");
    /// The value does not have the declared format.
    pub const INVALID_FORMAT: Code = Code("INVALID_FORMAT");
    /// An argument is not declared.
    pub const UNKNOWN_PARAM: Code = Code("UNKNOWN_PARAM");
    /// The arguments are not one JSON object.
    pub const MALFORMED_ARGUMENTS: Code = Code("MALFORMED_ARGUMENTS");
    /// A template was not filled in.
    pub const PLACEHOLDER_VALUE: Code = Code("PLACEHOLDER_VALUE");
    /// A text is unusually long.
    pub const SUSPICIOUS_LENGTH: Code = Code("SUSPICIOUS_LENGTH");
    /// A path occurs nowhere in the context.
    pub const UNGROUNDED_PATH: Code = Code("UNGROUNDED_PATH");
    /// A value occurs nowhere in the context.
    pub const UNGROUNDED_VALUE: Code = Code("UNGROUNDED_VALUE");
    /// The schema cannot be used to check a call.
    pub const INVALID_SCHEMA: Code = Code("INVALID_SCHEMA");
    /// The call is repeated without progress.
    pub const REPEATED_CALL: Code = Code("REPEATED_CALL");
}

/// The first `limit` characters of a text, followed by "…" if it is longer.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A JSON value for a message: one line, at most 100 characters.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        // A string may be huge, so it is cut before it is quoted.
        Value::String(text) => Value::from(shortened(text, 100)).to_string(),
        other => shortened(&other.to_string(), 100),
    }
}

/// The pointer of a member or an item below `parent`.
pub(crate) fn below(parent: &str, segment: &str) -> String {
    if segment.contains(['~', '/']) {
        format!("{parent}/{}", segment.replace('~', "~0").replace('/', "~1"))
    } else {
        format!("{parent}/{segment}")
    }
}

/// The name of a member, from a segment of a pointer.
pub(crate) fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}
