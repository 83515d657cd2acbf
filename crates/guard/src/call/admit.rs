use std::sync::Arc;

use counterfoil_admission::CallReport;
use counterfoil_ledger::Requested;
use counterfoil_model::{Catalog, ToolCall, ToolErrorCategory};
use counterfoil_redact::without_hidden;
use counterfoil_tools::Scene;

use crate::admitted::Admitted;
use crate::executor::ErasedToolExecutor as _;
use crate::gate::{GateId, Reason};
use crate::guard::Guard;
use crate::heard::Seen;
use crate::session::Session;
use crate::toolset::Toolset;

/// A call that admission did not let pass, with what is wrong with it.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) call: ToolCall,
    pub(crate) report: CallReport,
}

impl Guard {
    /// What admission would make of a call that begins a session. Nothing is recorded, and nobody
    /// is asked; what gates say to it, [`Gates::explain`](crate::Gates::explain) tells.
    ///
    /// # Errors
    /// What is wrong with the call, where it would not be admitted.
    pub fn rehearse(&self, call: ToolCall) -> Result<Arc<Admitted>, Box<CallReport>> {
        let call = without_hidden(call);
        let tools = self.toolset();
        let report = tools.admission.admit(&call, None);
        settled(&tools.catalog, call, report).map_err(|refused| Box::new(refused.report))
    }

    /// Why the executor would refuse an admitted call even with a person's agreement, as far as is known
    /// before it runs.
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

    /// Holds the call against the catalog, the tool's schema and the session's history.
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
            if requested == Requested::ByUser {
                // Where a value comes from that the user wrote, nobody has to ask.
                report.issues.retain(|issue| !issue.code.0.starts_with("UNGROUNDED"));
            }
            let tool = report.resolved_name.as_deref().unwrap_or(&call.tool);
            report.issues.extend(session.conduct().fixation.before(tool, &call.arguments));
            report
        };
        settled(&tools.catalog, call, report)
    }
}

/// The call, admitted; or what is wrong with it.
pub(crate) fn settled(
    catalog: &Catalog,
    call: ToolCall,
    mut report: CallReport,
) -> Result<Arc<Admitted>, Box<Refused>> {
    let name = report.resolved_name.clone().unwrap_or_else(|| call.tool.clone());
    let Some(tool) = catalog.get(&name).cloned() else {
        // Admission refuses unknown names; this holds even if it did not.
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
