use counterfoil_model::Tool;
use counterfoil_tools::{Resolver, Scene, ToolError, ToolOutput, WebSettings, WebTools};

use super::{ExecutorId, ExecutorKind, ToolExecutor};
use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};

/// Fetches pages: as they are, or as Markdown.
///
/// Every hop is checked like the first: its URL, the addresses of its host, and the address that
/// was connected to. No proxy, no cookies, no credentials, no connection that is used twice.
#[derive(Debug, Clone)]
pub struct WebExecutor(WebTools);

impl WebExecutor {
    /// Works under these settings, and finds addresses as the system does.
    #[must_use]
    pub fn new(settings: WebSettings) -> Self {
        Self(WebTools::new(settings))
    }

    /// The same with another way to find addresses.
    #[must_use]
    pub fn resolving(settings: WebSettings, resolver: impl Resolver + 'static) -> Self {
        Self(WebTools::resolving(settings, resolver))
    }
}

impl ToolExecutor for WebExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Web, "")
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        WebTools::definitions()
    }

    fn owns(&self, tool: &str) -> bool {
        WebTools::owns(tool)
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.0.perform(permit.call().into(), scene).await
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.0.perform(permit.call().into(), scene).await
    }

    /// A person agrees to every host that the operator has not named.
    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        self.0.question(call.into(), scene)
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        self.0.refusal(call.into(), scene)
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        WebTools::owns(tool)
    }

    /// Nothing leaves the machine before it is known that it has to.
    fn is_tool_speculatable(&self, _tool: &str) -> bool {
        false
    }
}
