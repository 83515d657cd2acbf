use counterfoil_ledger::Egress;
use counterfoil_model::{BackgroundRun, Confinement, SideEffect, ToolErrorCategory};
use serde::Serialize;
use serde_json::Value;

use crate::classification::ExitCause;
use crate::error::ToolError;

/// The output of a tool. A command that ran and failed has an output too: `failure` has the
/// category, and what it printed is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// The text of the result.
    pub text: String,
    /// The whole text if `text` is cut. It is recorded, so that it can be read later.
    pub full: Option<FullText>,
    /// The result as JSON, if the tool returns JSON. This is recorded instead of the text.
    pub structured: Option<Value>,
    /// The result as MCP content blocks (texts, images, audio, resources), if the tool returns more
    /// than text. `text` describes all of it.
    pub content: Vec<Value>,
    /// Metadata of the result: the member `_meta` of MCP.
    pub meta: Option<Value>,
    /// Warnings: problems that did not stop the tool.
    pub warnings: Vec<String>,
    /// The executor's envelope, versioned by the executor; not to be read as plain text.
    pub raw_response: Option<Value>,
    /// Why it counts as failed; `None` if it succeeded.
    pub failure: Option<ToolErrorCategory>,
    /// The exit code, if there is one.
    pub exit_code: Option<i32>,
    /// Whether the text was cut.
    pub truncated: bool,
    /// Its side effects, as far as the executor saw them.
    pub side_effects: Vec<SideEffect>,
    /// How it was confined.
    pub confinement: Option<Confinement>,
    /// The command in the background that it started, looked at or stopped.
    pub background: Option<BackgroundRun>,
    /// The network requests it sent, or that were blocked.
    pub egress: Vec<Egress>,
    /// What was rolled back, if its changes were.
    pub rolled_back: Option<RolledBack>,
}

impl ToolOutput {
    /// Appends a note to the text and to the whole text.
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

    /// The failure as an error; `None` if it succeeded.
    #[must_use]
    pub fn error(&self) -> Option<ToolError> {
        let category = self.failure?;
        Some(match self.exit_code {
            Some(exit_code) => {
                let message = match category {
                    ToolErrorCategory::Timeout => "the command timed out".to_owned(),
                    ToolErrorCategory::Cancelled => "the command was cancelled".to_owned(),
                    _ => ExitCause::from_exit(exit_code, &self.stderr()).map_or_else(
                        || "the command failed".to_owned(),
                        |cause| cause.message(exit_code),
                    ),
                };
                ToolError::Shell { exit_code, category, message }
            }
            None => ToolError::new(category, self.text.clone()),
        })
    }

    /// The error output of a command.
    fn stderr(&self) -> String {
        let stderr = self.raw_response.as_ref().and_then(|raw| raw.get("stderr"));
        stderr.and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

/// The result of a rollback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RolledBack {
    /// The number of files, folders and links restored.
    pub restored: u64,
    /// The number of new ones deleted.
    pub deleted: u64,
}

/// A text that is too long to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullText {
    /// The part that was kept.
    pub text: String,
    /// Whether even that is incomplete.
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
