use counterfoil_model::Tool;
use counterfoil_tools::{Resolver, Scene, ToolError, ToolOutput, WebSettings, WebTools};

use super::{ExecutorId, ExecutorKind, ToolExecutor};
use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};

/// Fetches web pages, unchanged or as Markdown.
///
/// Every hop is checked like the first one: its URL, the addresses of its host, and the address
/// that was connected to. It uses no proxy, no cookies and no credentials, and reuses no
/// connection.
#[derive(Debug, Clone)]
pub struct WebExecutor(WebTools);

impl WebExecutor {
    /// Creates an executor with these settings and the system's resolver.
    #[must_use]
    pub fn new(settings: WebSettings) -> Self {
        Self(WebTools::new(settings))
    }

    /// Creates an executor with these settings and another resolver.
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

    /// A person has to agree to every host that the operator has not listed.
    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String> {
        self.0.question(call.into(), scene)
    }

    fn refusal(&self, call: &Admitted, scene: &Scene<'_>) -> Option<ToolError> {
        self.0.refusal(call.into(), scene)
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        WebTools::owns(tool)
    }

    /// Nothing is sent over the network speculatively.
    fn is_tool_speculatable(&self, _tool: &str) -> bool {
        false
    }
}
