//! Calls of hosts that know their tools: such calls are first checked against the tools.

use counterfoil_admission::{Admission, AdmissionSettings, CallReport, CatalogIssue};
use counterfoil_model::{Catalog, Tool, ToolCall, take_hidden_out};

use super::before::{Asking, Before};
use super::hosted_call::HostedCall;
use crate::call::{Answer, CallError, Refused, settled};
use crate::session::{Session, Surroundings};

/// The tools of a host, and the admission that checks calls of them.
#[derive(Debug)]
pub struct HostTools {
    catalog: Catalog,
    admission: Admission,
    issues: Vec<CatalogIssue>,
}

/// The result of judging a call of a host that knows its tools.
#[derive(Debug, Clone)]
pub enum Listed {
    /// The call does not fit its tool. The refusal is recorded, and the answer is for the model.
    Refused(Box<Answer>, CallReport),
    /// The call fits: the resolved tool, and the arguments that are to run, possibly corrected,
    /// with the gates' decision.
    Judged(Box<HostedCall>, Before),
}

impl HostTools {
    /// Compiles the schemas of the tools.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = Tool>, settings: &AdmissionSettings) -> Self {
        let (catalog, _) = Catalog::known(tools);
        let (admission, issues) = Admission::compile(&catalog, settings.clone());
        Self { catalog, admission, issues }
    }

    /// Problems in the definitions of the tools.
    #[must_use]
    pub fn issues(&self) -> &[CatalogIssue] {
        &self.issues
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.catalog.get(name)
    }
}

impl Session {
    /// Checks a call that the host is about to execute against its tools, then continues like
    /// [`before`](Self::before). A call that does not fit is recorded as refused.
    ///
    /// # Errors
    /// When the call cannot be recorded.
    pub async fn before_listed(
        &self,
        call: ToolCall,
        tools: &HostTools,
        around: &Surroundings,
        asking: Asking,
    ) -> Result<Listed, CallError> {
        let guard = self.guard();
        let (call, only_thought) = take_hidden_out(call);
        if only_thought {
            let before = self.thought(&call, around).await?;
            let tool = tools.get(&call.tool).cloned().unwrap_or_else(|| Tool::named(&call.tool));
            return Ok(Listed::Judged(Box::new(HostedCall::new(call, tool)), before));
        }
        let mut report = tools.admission.admit(&call, None);
        tools.admission.hide(&mut report, &|tool| guard.never_runs(tool).is_none());
        match settled(&tools.catalog, call, report) {
            Ok(admitted) => {
                let hosted = HostedCall::from(&*admitted);
                let before = guard.before_admitted(self, admitted, around, asking).await?;
                Ok(Listed::Judged(Box::new(hosted), before))
            }
            Err(refused) => {
                let Refused { call, report } = *refused;
                let held = self.hold(guard, around);
                let scene = self.scene(&held, around, guard.workspace(), guard.clock().wall());
                let refused = Refused { call, report: report.clone() };
                let answer = guard.refuse(self, refused, &scene).await?;
                Ok(Listed::Refused(Box::new(answer), report))
            }
        }
    }
}
