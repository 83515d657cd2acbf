use counterfoil_ledger::Egress;
use counterfoil_model::{Confinement, SideEffect, ToolErrorCategory};
use serde::Serialize;
use serde_json::Value;

use crate::classification::ExitCause;
use crate::error::ToolError;

/// What a tool gave back. A command that ran and ended badly is an output too: its failure is in
/// `failure`, and what it printed is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// The text of the result.
    pub text: String,
    /// The whole text, where `text` is cut: what is recorded, so that it can be read later.
    pub full: Option<FullText>,
    /// The result as JSON, where the tool gives JSON. The recorded result is this, else the text.
    pub structured: Option<Value>,
    /// The result in blocks, where the tool gives more than a text: texts, pictures, sounds,
    /// resources, in the form of MCP. `text` says all of it in words.
    pub content: Vec<Value>,
    /// What the tool says beside its result, in the member `_meta` of MCP.
    pub meta: Option<Value>,
    /// What was not as it should be and did not keep the tool from doing its work, in words.
    pub warnings: Vec<String>,
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
    /// What left for the network, or was held back.
    pub egress: Vec<Egress>,
    /// What it had changed was put back.
    pub rolled_back: Option<RolledBack>,
}

impl ToolOutput {
    /// Adds a note behind the text, also behind the whole of it.
    #[cfg(feature = "shell")]
    pub(crate) fn add(&mut self, note: &str) {
        for text in [Some(&mut self.text), self.full.as_mut().map(|full| &mut full.text)] {
            let Some(text) = text else { continue };
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(note);
        }
    }

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

/// What was put back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RolledBack {
    /// Files, folders and links that are again what they were.
    pub restored: u64,
    /// Those that had not been there and are gone.
    pub deleted: u64,
}

/// A text that is too long to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullText {
    /// All that was kept of it.
    pub text: String,
    /// Even of that something is missing.
    pub cut: bool,
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
