//! Other arguments than the model wrote.

use std::sync::Arc;

use counterfoil_admission::{Issue, IssueSeverity};
use counterfoil_ledger::Requested;
use counterfoil_model::{Arguments, Code, ToolCall};

use crate::admitted::Admitted;
use crate::guard::Guard;
use crate::session::Session;
use crate::toolset::Toolset;

/// What stands in the receipt of a call whose arguments a person changed who was asked about it.
pub const CHANGED_BY_PERSON: Code = Code("CHANGED_BY_PERSON");

impl Guard {
    /// The call with the arguments that somebody gave who was asked about it.
    ///
    /// # Errors
    /// Why they cannot be used, for whoever gave them.
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
        // What a person writes, nobody has to have said before.
        let again = self.admit(session, tools, call, Requested::ByUser).map_err(|refused| {
            let issues = refused.report.blocking().map(|issue| issue.message.clone());
            issues.collect::<Vec<_>>().join("; ")
        })?;
        let shown = self.redactor().redact_exact(again.exact_arguments());
        let why = format!("{by} changed the arguments before it ran, to {shown}");
        instead(written, &again, CHANGED_BY_PERSON, why)
            .ok_or_else(|| "it is not a call".to_owned())
    }
}

/// What was admitted, in the place of what the model wrote, which stays beside it.
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
