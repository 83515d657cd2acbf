//! Maps refusals by admission and gates to categories of failure.

use counterfoil_admission::CallReport;
use counterfoil_model::ToolErrorCategory;

use crate::gate::Judged;

/// Returns the category of a refused call; `None` if nothing blocks it. An unknown tool takes
/// precedence over everything else; a wrong type counts only if nothing else is wrong.
#[must_use]
pub fn classify_report(report: &CallReport) -> Option<ToolErrorCategory> {
    report.blocking().map(|issue| classify_issue(issue.code.0)).min_by_key(
        |category| match category {
            ToolErrorCategory::ToolNotFound => 0,
            ToolErrorCategory::PolicyBlocked => 1,
            ToolErrorCategory::TypeMismatch => 3,
            _ => 2,
        },
    )
}

/// The category of one blocking issue, by its code.
#[must_use]
pub fn classify_issue(code: &str) -> ToolErrorCategory {
    match code {
        "UNKNOWN_TOOL" => ToolErrorCategory::ToolNotFound,
        "WRONG_TYPE" => ToolErrorCategory::TypeMismatch,
        "REPEATED_CALL" => ToolErrorCategory::PolicyBlocked,
        _ => ToolErrorCategory::InvalidParameters,
    }
}

/// The category of the gates' decision; `None` if they allow the call.
#[must_use]
pub fn classify_judged(judged: &Judged) -> Option<ToolErrorCategory> {
    match judged {
        Judged::Allowed { .. } => None,
        Judged::NeedsApproval(_) => Some(ToolErrorCategory::ConfirmationRequired),
        Judged::Denied(_) => Some(ToolErrorCategory::PolicyBlocked),
    }
}
