//! Performing permitted calls. One executor a folder or file; the composite decides ownership.

mod classification;
mod composite;
mod dynamic;
mod erased;
mod error;
mod feedback;
mod file;
mod function;
mod number;
mod order;
mod output;
mod overflow;
mod shell;
mod web;

use std::future::Future;

use counterfoil_model::Tool;

use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};
use crate::scene::Scene;

pub use classification::{
    ExitCause, classify_http_status, classify_io, classify_issue, classify_judged, classify_report,
};
pub use composite::{CompositeExecutor, TwoOwners};
pub use dynamic::DynExecutor;
pub use erased::ErasedToolExecutor;
pub use error::{ToolError, ToolErrorKind};
pub use feedback::ToolErrorFeedback;
pub use file::{FileExecutor, FileOptions, FileOptionsError, FileSettings};
pub use function::FunctionExecutor;
pub use order::{ExecutorId, ExecutorKind, ExecutorOrder, ExecutorOrderError};
pub use output::{Confinement, FullText, RolledBack, SideEffect, ToolOutput};
pub(crate) use overflow::{OverflowExecutor, READ_OVERFLOW};
pub use shell::{
    Blocklist, BlocklistOptions, BlocklistOptionsError, CommandArgument, Refusal, RefusalKind,
    SessionEnd, ShellExecutor, ShellOptions, ShellOptionsError, ShellOutputEnvelope, ShellPolicy,
    ShellPolicyHandle, ShellSettings, SinceChanged, Substitution, UndoError, Unread,
    find_blocked_command, has_snapshot, judge_command, undo_snapshot,
};
pub(crate) use shell::{NoCommand, only_reads};
pub use web::{
    Egress, Reserved, Resolver, SystemResolver, TlsError, WebExecutor, WebOptions, WebOptionsError,
    WebSettings, reserved, trusted_tls,
};

/// Performs one permitted call; the permit is spent.
///
/// Ownership is asked beforehand, so only the owner ever sees the permit; `Ok(None)` from the
/// owner is a fault, not a fall-through. Both ways to execute run every other control; approval
/// skips only the question. No default bodies: a wrapper that inherits a permissive default would
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

    /// Whether a failed call of this tool may be tried again: its effect happens at most once or
    /// does no harm twice.
    fn is_tool_retryable(&self, tool: &str) -> bool;

    /// Whether this tool may run before it is known that its result is needed.
    fn is_tool_speculatable(&self, tool: &str) -> bool;
}
