//! Performs permitted calls: an executor spends the permit and has the work done. Each executor has
//! its own file; the composite decides which one owns a tool.

mod classification;
mod composite;
mod dynamic;
mod erased;
mod feedback;
#[cfg(feature = "file")]
mod file;
mod function;
mod order;
mod overflow;
#[cfg(feature = "shell")]
mod shell;
#[cfg(feature = "web")]
mod web;

use std::future::Future;

use counterfoil_model::Tool;
use counterfoil_tools::{Scene, ToolError, ToolOutput, Wanted};

use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};

pub use classification::{classify_issue, classify_judged, classify_report};
pub use composite::{CompositeExecutor, TwoOwners};
pub use dynamic::DynExecutor;
pub use erased::ErasedToolExecutor;
pub use feedback::ToolErrorFeedback;
pub(crate) use feedback::without_block;
#[cfg(feature = "file")]
pub use file::FileExecutor;
pub use function::FunctionExecutor;
pub use order::{ExecutorId, ExecutorKind, ExecutorOrder, ExecutorOrderError};
pub(crate) use overflow::{OverflowExecutor, READ_OVERFLOW};
#[cfg(feature = "shell")]
pub use shell::ShellExecutor;
#[cfg(feature = "web")]
pub use web::WebExecutor;

/// Performs one permitted call, which spends the permit.
///
/// Ownership is checked beforehand, so only the owner ever sees the permit; `Ok(None)` from the
/// owner is an error, not a fall-through. Both ways to execute run every other control; approval
/// skips only the question. Methods that decide something have no default bodies: a wrapper that
/// inherits a permissive default would be a hole.
///
/// Dropping a future must leave nothing running.
pub trait ToolExecutor: Send + Sync {
    /// The id of the executor.
    fn id(&self) -> ExecutorId;

    /// The tools that it owns.
    fn tool_definitions(&self) -> Vec<Tool>;

    /// Whether it owns the tool of this name.
    fn owns(&self, tool: &str) -> bool;

    /// Executes a call that the gates allowed.
    fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        scene: &Scene<'_>,
    ) -> impl Future<Output = Result<Option<ToolOutput>, ToolError>> + Send;

    /// Executes a call that a person approved.
    fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        scene: &Scene<'_>,
    ) -> impl Future<Output = Result<Option<ToolOutput>, ToolError>> + Send;

    /// Whether a person should agree to this call first; the text is the reason.
    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String>;

    /// Why it would not execute this call even after a person agreed, as far as this is known
    /// beforehand. This only avoids a pointless question: execution decides again.
    fn refusal(&self, _call: &Admitted, _scene: &Scene<'_>) -> Option<ToolError> {
        None
    }

    /// Whether a failed call of this tool may be retried: its effect happens at most once, or
    /// repeating it does no harm.
    fn is_tool_retryable(&self, tool: &str) -> bool;

    /// Whether this tool may run speculatively, before its result is known to be needed.
    fn is_tool_speculatable(&self, tool: &str) -> bool;
}

impl<'c> From<&'c Admitted> for Wanted<'c> {
    fn from(call: &'c Admitted) -> Self {
        Self { tool: &call.tool().name, arguments: call.arguments() }
    }
}
