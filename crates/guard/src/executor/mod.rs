//! Performing permitted calls: an executor spends the permit, and has the work done. One a file; the
//! composite decides ownership.

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
#[cfg(feature = "file")]
pub use file::FileExecutor;
pub use function::FunctionExecutor;
pub use order::{ExecutorId, ExecutorKind, ExecutorOrder, ExecutorOrderError};
pub(crate) use overflow::{OverflowExecutor, READ_OVERFLOW};
#[cfg(feature = "shell")]
pub use shell::ShellExecutor;
#[cfg(feature = "web")]
pub use web::WebExecutor;

/// Performs one permitted call; the permit is spent.
///
/// Ownership is asked beforehand, so only the owner ever sees the permit; `Ok(None)` from the
/// owner is a fault, not a fall-through. Both ways to execute run every other control; approval
/// skips only the question. No default bodies where something is decided: a wrapper that inherits a permissive default would
/// be a hole.
///
/// A future that is dropped must leave nothing running.
pub trait ToolExecutor: Send + Sync {
    /// Which executor it is.
    fn id(&self) -> ExecutorId;

    /// The tools that it owns.
    fn tool_definitions(&self) -> Vec<Tool>;

    /// Whether a tool of this name is its own.
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

    /// Whether a person should agree to this call first; the text says why.
    fn requires_confirmation(&self, call: &Admitted, scene: &Scene<'_>) -> Option<String>;

    /// Why it would not execute this call even with a person's agreement, as far as is known beforehand.
    /// It only saves a question: execution decides again.
    fn refusal(&self, _call: &Admitted, _scene: &Scene<'_>) -> Option<ToolError> {
        None
    }

    /// Whether a failed call of this tool may be tried again: its effect happens at most once or
    /// does no harm twice.
    fn is_tool_retryable(&self, tool: &str) -> bool;

    /// Whether this tool may run before it is known that its result is needed.
    fn is_tool_speculatable(&self, tool: &str) -> bool;
}

impl<'c> From<&'c Admitted> for Wanted<'c> {
    fn from(call: &'c Admitted) -> Self {
        Self { tool: &call.tool().name, arguments: call.arguments() }
    }
}
