//! What is reported and recorded about calls that have no result.

use counterfoil_guard::{CallError, HostEnded, Reason, ToolErrorFeedback};
use counterfoil_ledger::APPROVAL_DECLINED;
use counterfoil_model::{Status, ToolErrorCategory};
use serde_json::Value;

/// The text for the model about a denial.
pub(super) fn denied(reasons: &[Reason]) -> String {
    let mut text = "This tool call was blocked; nothing was executed.".to_owned();
    let messages: Vec<&str> = reasons.iter().map(|reason| reason.message.as_str()).collect();
    let category = Reason::category(reasons);
    let feedback = ToolErrorFeedback::new(category, messages.join("; "));
    for reason in reasons {
        text.push_str(&format!("\n- [{}] {}", reason.code, reason.message));
        // The last line says what the help about a declined call says.
        let help = reason.help.as_ref().filter(|_| reason.code != APPROVAL_DECLINED);
        if let Some(help) = help {
            text.push_str(&format!(" ({help})"));
        }
    }
    text.push_str(match category {
        ToolErrorCategory::ConfirmationRequired => "\nDo not report it as done.\n\n",
        _ => "\nDo not try to do it another way, and do not report it as done.\n\n",
    });
    text.push_str(&feedback.format_for_llm());
    text
}

/// The outcome of a call without a result.
pub(super) fn gone(status: Status, category: ToolErrorCategory, why: &str) -> HostEnded {
    let result = Value::String(why.to_owned());
    HostEnded { status, category: Some(category), result, exit_code: None, truncated: false }
}

pub(super) fn not_recorded(error: &CallError) -> String {
    format!("counterfoil: {error}")
}
