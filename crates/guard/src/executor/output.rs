use std::path::PathBuf;

use countersign_model::ToolErrorCategory;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ExitCause, ToolError};

/// What a tool gave back. A command that ran and ended badly is an output too: its failure is in
/// `failure`, and what it printed is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// The text of the result.
    pub text: String,
    /// The result as JSON, where the tool gives JSON. The recorded result is this, else the text.
    pub structured: Option<Value>,
    /// The envelope of the executor, versioned by it; never to be read as plain text.
    pub raw_response: Option<Value>,
    /// Why it counts as failed; `None` when it succeeded.
    pub failure: Option<ToolErrorCategory>,
    /// The exit code, where there is one.
    pub exit_code: Option<i32>,
    /// The text was cut.
    pub truncated: bool,
    /// What it did to the world, as far as the executor saw.
    pub side_effects: Vec<SideEffect>,
    /// How it was confined.
    pub confinement: Option<Confinement>,
}

impl ToolOutput {
    /// The failure as an error, for whoever has to act on it; `None` when it succeeded.
    #[must_use]
    pub fn error(&self) -> Option<ToolError> {
        let category = self.failure?;
        Some(match self.exit_code {
            Some(exit_code) => {
                let message = match category {
                    ToolErrorCategory::Timeout => "the command took too long".to_owned(),
                    ToolErrorCategory::Cancelled => "the command was given up".to_owned(),
                    _ => ExitCause::of(exit_code, &self.stderr()).map_or_else(
                        || "the command failed".to_owned(),
                        |cause| cause.message(exit_code),
                    ),
                };
                ToolError::Shell { exit_code, category, message }
            }
            None => ToolError::of(category, self.text.clone()),
        })
    }

    /// The error output of a command.
    fn stderr(&self) -> String {
        let stderr = self.raw_response.as_ref().and_then(|raw| raw.get("stderr"));
        stderr.and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

/// Something that an execution did to the world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideEffect {
    /// Wrote, created or deleted this path.
    Wrote(PathBuf),
    /// Reached this host.
    Reached(String),
}

/// How an execution was confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The profile: `read-only`, `workspace`, `network`, `off`.
    pub profile: String,
    /// What the kernel could not hold to, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_held: Vec<String>,
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// The JSON is the result; its text is what the model sees.
impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self { text: value.to_string(), structured: Some(value), ..Self::default() }
    }
}
