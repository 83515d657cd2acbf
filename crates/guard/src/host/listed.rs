//! Calls of hosts that know what tools there are: they are held against them first.

use counterfoil_admission::{Admission, AdmissionSettings, CallReport, CatalogIssue};
use counterfoil_model::{Catalog, Origin, Tool, ToolCall};

use super::before::{Asking, Before, HostedCall};
use crate::call::{Answer, CallError, Refused, settled};
use crate::session::{Session, Surroundings};

/// The tools of a host, and what calls of them are held against.
#[derive(Debug)]
pub struct HostTools {
    catalog: Catalog,
    admission: Admission,
    issues: Vec<CatalogIssue>,
}

/// What is to be said about a call of a host that knows its tools.
#[derive(Debug, Clone, PartialEq)]
pub enum Listed {
    /// It does not fit its tool. That is recorded, and this is what the model is to be told.
    Refused(Box<Answer>, CallReport),
    /// It fits, as it stands here: the tool that is meant, and the arguments that are to run,
    /// which may be corrected ones. The gates say this.
    Judged(Box<HostedCall>, Before),
}

impl HostTools {
    /// Makes the tools' schemas ready.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = Tool>, settings: &AdmissionSettings) -> Self {
        let (catalog, _) = Catalog::known(tools);
        let (admission, issues) = Admission::compile(&catalog, settings.clone());
        Self { catalog, admission, issues }
    }

    /// What is wrong with the tools themselves.
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

impl HostedCall {
    /// A call of a tool of which only its name is known, and where it comes from.
    #[must_use]
    pub fn of_unknown(call: ToolCall, origin: Origin) -> Self {
        let tool = Tool { origin, ..Tool::named(&call.tool) };
        // What cannot be read is no object, and no object is denied.
        let arguments = call.arguments.exact().unwrap_or_default();
        Self { call, tool, arguments }
    }
}

impl Session {
    /// Holds a call that the host is about to execute against its tools, and then does what
    /// [`before`](Self::before) does. A call that does not fit is recorded as refused.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn before_listed(
        &self,
        call: ToolCall,
        tools: &HostTools,
        around: &Surroundings,
        asking: Asking,
    ) -> Result<Listed, CallError> {
        let guard = self.guard();
        let report = tools.admission.admit(&call, None);
        match settled(&tools.catalog, call, report) {
            Ok(admitted) => {
                let hosted = HostedCall {
                    call: admitted.call().clone(),
                    tool: admitted.tool().clone(),
                    arguments: admitted.exact_arguments().clone(),
                };
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
