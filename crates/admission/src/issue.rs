use counterfoil_model::Code;
use serde::Serialize;
use serde_json::Value;

/// One thing that is wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Stable for ever.
    pub code: Code,
    /// What it leads to.
    pub severity: IssueSeverity,
    /// One sentence that a person and a model understand.
    pub message: String,
    /// The tool's name as emitted.
    pub tool: String,
    /// JSON Pointer of the argument; empty for the call as a whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parameter: String,
    /// What would have been right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was there, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}

/// What an issue leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueSeverity {
    /// For information.
    Info,
    /// The call proceeds; the issue stays in the record.
    Warn,
    /// The call does not run.
    Block,
}

impl Issue {
    /// An issue with the call as a whole.
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

    /// The same about one argument.
    pub(crate) fn at(mut self, pointer: impl Into<String>) -> Self {
        self.parameter = pointer.into();
        self
    }

    /// The same with what would have been right.
    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// The same with what was there.
    pub(crate) fn actual(mut self, actual: impl Into<String>) -> Self {
        self.actual = Some(actual.into());
        self
    }
}

/// The codes of call issues.
pub mod code {
    use counterfoil_model::Code;

    /// No such tool.
    pub const UNKNOWN_TOOL: Code = Code("UNKNOWN_TOOL");
    /// A required parameter is missing.
    pub const MISSING_REQUIRED: Code = Code("MISSING_REQUIRED");
    /// Another JSON type.
    pub const WRONG_TYPE: Code = Code("WRONG_TYPE");
    /// Outside what the schema allows.
    pub const INVALID_VALUE: Code = Code("INVALID_VALUE");
    /// Not the format that the schema names.
    pub const INVALID_FORMAT: Code = Code("INVALID_FORMAT");
    /// An undeclared argument.
    pub const UNKNOWN_PARAM: Code = Code("UNKNOWN_PARAM");
    /// Not one JSON object.
    pub const MALFORMED_ARGUMENTS: Code = Code("MALFORMED_ARGUMENTS");
    /// A template that nobody filled in.
    pub const PLACEHOLDER_VALUE: Code = Code("PLACEHOLDER_VALUE");
    /// A text of unusual length.
    pub const SUSPICIOUS_LENGTH: Code = Code("SUSPICIOUS_LENGTH");
    /// A path that nothing mentioned.
    pub const UNGROUNDED_PATH: Code = Code("UNGROUNDED_PATH");
    /// A value that nothing mentioned.
    pub const UNGROUNDED_VALUE: Code = Code("UNGROUNDED_VALUE");
    /// A schema that nobody can check a call against.
    pub const INVALID_SCHEMA: Code = Code("INVALID_SCHEMA");
    /// The same again, without progress.
    pub const REPEATED_CALL: Code = Code("REPEATED_CALL");
}

/// At most `limit` characters of a text, with "…" where something was left out.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A JSON value as it is shown in a message: one line, at most 100 characters.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        // A text may be huge: it is cut before it is quoted.
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
