use std::fmt;

use counterfoil_model::ExactValue;
use serde::Serialize;

use crate::issue::{Issue, IssueSeverity};

/// The result of checking one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallReport {
    /// The tool's name as emitted.
    pub tool: String,
    /// The name of the tool it resolves to, if a lossless repair of the name was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_name: Option<String>,
    /// All issues: blocking ones first, then in the order of the arguments.
    pub issues: Vec<Issue>,
    /// The parsed arguments; `None` if they are not a JSON object.
    #[serde(skip)]
    pub arguments: Option<ExactValue>,
    /// The arguments to run instead, if lossless corrections were applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_arguments: Option<ExactValue>,
}

impl CallReport {
    /// Whether the call may proceed, which means that no issue is blocking.
    #[must_use]
    pub fn valid(&self) -> bool {
        self.blocking().next().is_none()
    }

    /// The issues that prevent the call.
    pub fn blocking(&self) -> impl Iterator<Item = &Issue> {
        self.issues.iter().filter(|issue| issue.severity == IssueSeverity::Block)
    }

    /// The issues that do not prevent the call.
    pub fn warnings(&self) -> impl Iterator<Item = &Issue> {
        self.issues.iter().filter(|issue| issue.severity == IssueSeverity::Warn)
    }
}

/// Formats as `name: valid` or `name: BLOCKED`, then one line per issue, without a final line
/// break.
impl fmt::Display for CallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.valid() { "valid" } else { "BLOCKED" };
        let name = if self.tool.trim().is_empty() { "(no name)" } else { &self.tool };
        write!(f, "{name}: {verdict}")?;
        for issue in &self.issues {
            let mark = match issue.severity {
                IssueSeverity::Block => "",
                IssueSeverity::Warn => "warning ",
                IssueSeverity::Info => "note ",
            };
            write!(f, "\n  {mark}[{}] {}", issue.code, issue.message)?;
        }
        Ok(())
    }
}
