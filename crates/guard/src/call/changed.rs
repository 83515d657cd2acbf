//! Calls whose arguments a person changed.

use std::sync::Arc;

use counterfoil_admission::{Issue, IssueSeverity};
use counterfoil_ledger::Requested;
use counterfoil_model::{Arguments, Code, ToolCall};

use crate::admitted::Admitted;
use crate::guard::Guard;
use crate::session::Session;
use crate::toolset::Toolset;

/// The code in the receipt of a call whose arguments were changed by the person who was asked about
/// it.
pub const CHANGED_BY_PERSON: Code = Code("CHANGED_BY_PERSON");

impl Guard {
    /// Returns the call with the arguments that a person gave when asked about it.
    ///
    /// # Errors
    /// Why the arguments cannot be used, as a message for that person.
    pub(super) fn changed(
        &self,
        session: &Session,
        tools: &Toolset,
        admitted: &Admitted,
        by: &str,
        arguments: &str,
    ) -> Result<Arc<Admitted>, String> {
        let written = admitted.call();
        let call = ToolCall {
            tool: admitted.tool().name.clone(),
            arguments: Arguments::raw(arguments),
            ..written.clone()
        };
        // Values that a person writes need no other source.
        let again = self.admit(session, tools, call, Requested::ByUser).map_err(|refused| {
            let issues = refused.report.blocking().map(|issue| issue.message.clone());
            issues.collect::<Vec<_>>().join("; ")
        })?;
        let shown = self.redactor().redact_exact(again.exact_arguments());
        let why = format!("{by} changed the arguments before the call ran: {shown}");
        instead(written, &again, CHANGED_BY_PERSON, why)
            .ok_or_else(|| "with the changed arguments, the call is not valid".to_owned())
    }
}

/// Replaces what the model wrote with what was admitted; the original is kept next to it.
pub(super) fn instead(
    written: &ToolCall,
    admitted: &Admitted,
    code: Code,
    message: String,
) -> Option<Arc<Admitted>> {
    let mut report = admitted.report().clone();
    report.corrected_arguments = Some(admitted.exact_arguments().clone());
    report.issues.push(Issue {
        code,
        severity: IssueSeverity::Warn,
        message,
        tool: written.tool.clone(),
        parameter: String::new(),
        expected: None,
        actual: None,
    });
    Admitted::new(written.clone(), admitted.tool().clone(), report).ok().map(Arc::new)
}
