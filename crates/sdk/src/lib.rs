//! Counterfoil for programs: a guard for every tool call of an agent, with receipts that the model
//! cannot forge.
//!
//! Three verbs: [`Session::offer`] says which tools the model may see, [`Session::call`] takes one call
//! through validation, policy, execution and receipt, [`Session::verify`] holds what the agent says
//! against the receipts.
//!
//! ```
//! use counterfoil_sdk::{Disposition, FunctionExecutor, Guard, ToolCall, ToolError};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct City { name: String }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let weather = FunctionExecutor::typed("get_weather", "Forecast for a city", |city: City| {
//!     Ok::<_, ToolError>(format!("sunny in {}", city.name))
//! });
//! let session = Guard::builder().executor(weather).build()?.session(Default::default())?;
//! // The call as the model wrote it, then what the model says.
//! let call = ToolCall::new("call_1", "get_weather", r#"{"name": "Oslo"}"#);
//! let answer = session.call(call, Default::default()).await?;
//! assert_eq!(answer.text, "sunny in Oslo");
//! let verified = session.verify("I have cancelled your order.").await?;
//! assert_eq!(verified.disposition, Disposition::Block);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! The items that most programs need are at the root; the rest are in modules by topic: [`tools`]
//! performs calls, [`policy`] decides, [`offer`] selects what the model is shown, [`ledger`] and
//! [`audit`] record, [`sandbox`] confines, [`host`] is for programs that execute calls themselves,
//! [`transcript`] checks recorded sessions, `mcp` implements the Model Context Protocol. This crate
//! defines nothing itself: it re-exports items of the crates below.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub use counterfoil_guard::{
    Answer, Approval, ApprovalReply, ApprovalRequest, Approver, BuildGuardError, CallError,
    Disposition, DynExecutor, FunctionExecutor, Guard, GuardBuilder, GuardOptions, GuardSettings,
    Lasts, Offer, Receipt, Session, SessionStart, StateFolder, Surroundings, ToolError,
    ToolExecutor, ToolOutput, TrustLevel, Verified, VerifyError,
};
pub use counterfoil_model::{
    Arguments, Effects, ExactValue, Role, Status, Tool, ToolCall, ToolErrorCategory,
};

/// Executors: functions of the program, shell commands, files, web pages, and traits for custom
/// executors.
pub mod tools {
    #[cfg(feature = "file")]
    pub use counterfoil_guard::FileExecutor;
    #[cfg(feature = "shell")]
    pub use counterfoil_guard::ShellExecutor;
    #[cfg(feature = "web")]
    pub use counterfoil_guard::WebExecutor;
    pub use counterfoil_guard::{
        Admitted, AnyPermit, ByApproval, ByPolicy, CompositeExecutor, DynExecutor,
        ErasedToolExecutor, ExecutorId, ExecutorKind, FullText, FunctionExecutor, Permit, Progress,
        RegisterError, Scene, ShellPolicyHandle, ToolError, ToolErrorFeedback, ToolExecutor,
        ToolOutput,
    };
    pub use counterfoil_model::{Catalog, Effects, Origin, Presentation, SideEffect, Tool};
}

/// Policy: gates and their inputs, approvals, trust, and models that are asked.
pub mod policy {
    pub use counterfoil_guard::{
        Approval, ApprovalReply, ApprovalRequest, Approvals, Approver, BoxFuture, Completion,
        CompletionError, Decision, Gate, GateId, Gates, GatesBuilder, Judged, Lasts, ORDER,
        PermissionOptions, Phase, PolicyOptions, PolicySettings, Question, Reason, Requested,
        ToolDependencyGraph, ToolsOptions, TraceContext, TrustLevel, TrustOptions, Verdict,
    };
}

/// A language model that reads answers in addition to the rules, and must cite its evidence.
pub mod judge {
    pub use counterfoil_guard::LiveJudge;
    pub use counterfoil_judge::{
        AnswerJudge, Grading, Judge, Prompt, Reading, ReadingOptions, Reply,
    };
}

/// The tools shown to the model: all that it may use, or those relevant to a request.
pub mod offer {
    pub use counterfoil_guard::{
        AgentOptions, Embedder, EmbedderError, Excluded, InclusionReason, Offer, TafcOptions,
        ToolFilterOptions, schema_complexity,
    };
}

/// The record of what happened: events, receipts and their proofs.
pub mod ledger {
    pub use counterfoil_ledger::{
        AppendError, Approved, Checkpoint, Closed, ConsistencyProof, Draft, Durability, Event,
        Expected, ExportedReceipt, InclusionProof, Ledger, LedgerOptions, LedgerSettings,
        LedgerStore, Opened, Pending, PublicKey, ReadLedgerError, Receipt, Rejected, Said,
        SqliteLedger, Verification,
    };
    pub use counterfoil_model::{Digest, ExecutionId, PermitBasis};
}

/// The audit log: a line for every call, each linked to the previous one.
pub mod audit {
    pub use counterfoil_ledger::{
        AuditEntry, AuditFilter, AuditLog, AuditOptions, AuditResult, AuditSettings, AuditStats,
        AuditVerification, tail_audit, verify_audit,
    };
}

/// Confines commands and servers to their workspace.
pub mod sandbox {
    #[cfg(feature = "sandbox")]
    pub use counterfoil_sandbox::{Abilities, ConfinedServer, Gap, HeldServer, Sandbox};
    pub use counterfoil_sandbox::{Profile, SandboxOptions, SandboxSettings};
}

/// Events of running calls, as delivered by [`Guard::events`](crate::Guard::events).
pub mod events {
    pub use counterfoil_guard::{CallEvent, CallName, OutputStream, ToolEvent};
}

/// For programs that execute calls themselves: the guard judges before, and records after.
pub mod host {
    pub use counterfoil_guard::{
        Asking, Before, HostEnded, HostedCall, Review, Tracked, TrackedResult, review,
    };
}

/// Recorded sessions: read in any supported format, checked, and exported.
pub mod transcript {
    pub use counterfoil_formats::{Reading, read, read_tools};
    pub use counterfoil_guard::{export, recorded_transcript};
    pub use counterfoil_model::{
        Catalog, Finding, Message, Outcome, Severity, Transcript, Verdict,
    };
    pub use counterfoil_rules::{Report, Settings, check};
}

/// The Model Context Protocol: servers as tools, the gateway, and a server for our own tools.
#[cfg(feature = "mcp")]
pub mod mcp {
    pub use counterfoil_serve::{
        Access, ClientOptions, Elicits, Gateway, HttpGateway, Limits, McpExecutor,
        McpExecutorError, NamedServer, Program, Remote, Server, Servers, inspect, relay, relay_to,
        serve, serve_http,
    };
}
