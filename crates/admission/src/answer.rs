use counterfoil_model::{Outcome, ToolCall};

use crate::report::CallReport;

/// The answer to a rejected call: a tool result with the call's id, so that the model can correct
/// the call.
#[must_use]
pub fn rejection(call: &ToolCall, report: &CallReport) -> Outcome {
    Outcome {
        call_id: call.id.clone(),
        text: rejection_text(report),
        is_error: Some(true),
        refused: true,
        line: call.line,
        ..Outcome::default()
    }
}

/// The text for the model: that the call was rejected, why, what is expected, and whether to try
/// again.
#[must_use]
pub fn rejection_text(report: &CallReport) -> String {
    let has = |code: &str| report.blocking().any(|issue| issue.code.0 == code);
    let next = if has("UNKNOWN_TOOL") {
        "Call only the available tools, by their exact names."
    } else if has("REPEATED_CALL") {
        "Do not make this call again: continue with what you already know."
    } else if has("MALFORMED_ARGUMENTS") {
        "Make the call once more, with all of its arguments in one JSON object."
    } else {
        "Correct the arguments named above and make the call once more."
    };
    format!("{}\n\n{next} Do not report this call as done.", issues_text(report))
}

/// Like [`rejection_text`], for a model that has used up its corrections: it should not try again.
#[must_use]
pub fn last_rejection_text(report: &CallReport, used_up: CorrectionsUsedUp) -> String {
    let CorrectionsUsedUp { limit } = used_up;
    format!(
        "{}\n\nThis call is rejected after {limit} corrections without a successful call: make \
         no further calls of this kind. Tell the user what you could not do, and do not report it as done.",
        issues_text(report)
    )
}

fn issues_text(report: &CallReport) -> String {
    let name = report.tool.trim();
    let mut text = if name.is_empty() {
        "Tool call rejected; nothing was executed.".to_owned()
    } else {
        format!("Tool call rejected: {name}; nothing was executed.")
    };
    text.push_str("\n\nIssues:");
    for issue in report.blocking() {
        text.push_str(&format!("\n- [{}] {}", issue.code, issue.message));
    }
    text
}

/// Counts the correction rounds of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrections {
    limit: u32,
    used: u32,
}

impl Default for Corrections {
    /// Allows three rounds.
    fn default() -> Self {
        Self::limited_to(3)
    }
}

impl Corrections {
    /// Allows at most `limit` rounds of rejected calls per turn.
    #[must_use]
    pub fn limited_to(limit: u32) -> Self {
        Self { limit, used: 0 }
    }

    /// Counts one round and returns the number of rounds so far.
    ///
    /// # Errors
    /// When all rounds are used up.
    pub fn again(&mut self) -> Result<u32, CorrectionsUsedUp> {
        if self.used >= self.limit {
            return Err(CorrectionsUsedUp { limit: self.limit });
        }
        self.used += 1;
        Ok(self.used)
    }
}

/// The model kept making invalid calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("turn stopped: no valid tool call after {limit} rounds of correction")]
pub struct CorrectionsUsedUp {
    limit: u32,
}
