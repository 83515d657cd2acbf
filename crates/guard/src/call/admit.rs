use std::sync::Arc;

use counterfoil_admission::CallReport;
use counterfoil_ledger::Requested;
use counterfoil_model::{Catalog, ToolCall, ToolErrorCategory, without_hidden};
use counterfoil_tools::Scene;

use crate::admitted::Admitted;
use crate::executor::ErasedToolExecutor as _;
use crate::gate::{GateId, Reason};
use crate::guard::Guard;
use crate::heard::Seen;
use crate::session::Session;
use crate::toolset::Toolset;

/// A call that admission refused, with its issues.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) call: ToolCall,
    pub(crate) report: CallReport,
}

impl Guard {
    /// Returns what admission would make of a call at the start of a session. Nothing is recorded
    /// and no person is asked. [`Gates::explain`](crate::Gates::explain) shows what the gates would
    /// say.
    ///
    /// # Errors
    /// The issues of the call, if it would not be admitted.
    pub fn rehearse(&self, call: ToolCall) -> Result<Arc<Admitted>, Box<CallReport>> {
        let call = without_hidden(call);
        let tools = self.toolset();
        let report = tools.admission.admit(&call, None);
        settled(&tools.catalog, call, report).map_err(|refused| Box::new(refused.report))
    }

    /// Returns why the executor would refuse an admitted call even after a person agreed, as far as
    /// this is known before it runs.
    #[must_use]
    pub fn refusal(&self, admitted: &Admitted, scene: &Scene<'_>) -> Option<Reason> {
        let error = self.executor().refusal(admitted, scene)?;
        let is_policy = error.category() == ToolErrorCategory::PolicyBlocked;
        is_policy.then(|| Reason {
            gate: GateId("tool"),
            code: "tool_refuses",
            message: error.to_string(),
            matched: None,
            help: None,
        })
    }

    /// Checks the call against the catalog, the tool's schema and the session's history.
    pub(crate) fn admit(
        &self,
        session: &Session,
        tools: &Toolset,
        call: ToolCall,
        requested: Requested,
    ) -> Result<Arc<Admitted>, Box<Refused>> {
        let report = {
            let record = session.record();
            let seen = Seen { heard: &record.heard, workspace: self.workspace() };
            let mut report = tools.admission.admit(&call, Some(&seen));
            tools.admission.hide(&mut report, &|tool| self.never_runs(tool).is_none());
            if requested == Requested::ByUser {
                // Values in a call that the user wrote need no other source.
                report.issues.retain(|issue| !issue.code.0.starts_with("UNGROUNDED"));
            }
            let tool = report.resolved_name.as_deref().unwrap_or(&call.tool);
            report.issues.extend(session.conduct().fixation.before(tool, &call.arguments));
            report
        };
        settled(&tools.catalog, call, report)
    }
}

/// Admits the call, or returns its issues.
pub(crate) fn settled(
    catalog: &Catalog,
    call: ToolCall,
    mut report: CallReport,
) -> Result<Arc<Admitted>, Box<Refused>> {
    let name = report.resolved_name.clone().unwrap_or_else(|| call.tool.clone());
    let Some(tool) = catalog.get(&name).cloned() else {
        // Admission refuses unknown names already; this is a second safeguard.
        report.arguments = None;
        return Err(Box::new(Refused { call, report }));
    };
    match Admitted::new(call, tool, report) {
        Ok(admitted) => Ok(Arc::new(admitted)),
        Err(refused) => {
            let (call, report) = *refused;
            Err(Box::new(Refused { call, report }))
        }
    }
}
