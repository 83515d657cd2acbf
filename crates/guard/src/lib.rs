//! Decides what tool calls may do and records what they did: a single entry point for every tool
//! call, with receipts that cannot be forged.
//!
//! A session has three operations. [`Session::offer`] returns the tools that the model may see,
//! [`Session::call`] takes one call through `admit → judge → open → execute → close → filter →
//! answer`, and [`Session::verify`] checks what the agent says against the receipts.
//!
//! ```
//! use counterfoil_guard::{
//!     Disposition, FunctionExecutor, Guard, SessionStart, Surroundings, ToolError,
//! };
//! use counterfoil_model::{Tool, ToolCall};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let ping = FunctionExecutor::new(Tool::named("ping"), |_| Ok::<_, ToolError>("pong"));
//! let guard = Guard::builder().executor(ping).build()?;
//! let session = guard.session(SessionStart::default())?;
//!
//! let call = ToolCall::new("call_1", "ping", "{}");
//! let answer = session.call(call, Surroundings::default()).await?;
//! assert_eq!(answer.text, "pong");
//! let verified = session.verify("I have cancelled your order.").await?;
//! assert_eq!(verified.disposition, Disposition::Block);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately not here: an HTTP server, a command line, any vendor's message format.
//!
//! Start with [`Guard::builder`], which is the only way to create a guard. Programs that embed the
//! guard use the crate `counterfoil-sdk`, which groups these names and those of the model by topic.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod admitted;
mod answer_judge;
mod approve;
mod auditing;
mod builder;
mod call;
mod call_stats;
mod cancel;
mod cited;
mod claim_source;
mod executor;
mod explained;
mod export;
mod extract_paths;
mod gate;
mod guard;
mod heard;
mod host;
mod named;
mod offer;
mod options;
mod overflow;
mod permitted;
mod ports;
mod read_only;
mod recording;
mod registration;
mod repeated;
mod replay;
mod retry;
mod session;
mod settings;
mod shown_id;
mod speculation;
mod state;
mod timeline;
mod tool_event;
mod toolset;
mod track;
mod verify;

pub use admitted::Admitted;
pub use answer_judge::LiveJudge;
pub use approve::PersonsDecision;
pub use builder::{BuildGuardError, GuardBuilder};
pub use call::{Answer, CHANGED_BY_PERSON, CallError};
pub use call_stats::{CallStats, HallucinatedTool};
pub use cited::{CitationFault, CitedExecution, NotStanding};
pub use counterfoil_ledger::{
    AppendAuditError, AppendError, AuditLog, AuditOptions, AuditSettings, Clock, Draft, Egress,
    Event, Lasts, Ledger, LedgerOptions, LedgerOptionsError, LedgerSettings, LedgerUrl,
    OpenAuditError, OpenLedgerError, Opened, Phase, Randomness, RandomnessError, ReadLedgerError,
    Receipt, Rejected, Requested, SystemClock, SystemRandomness, TraceContext, TraceContextError,
    TrustLevel,
};
pub use counterfoil_model::without_hidden;
pub use counterfoil_redact::{Redactor, SecretCategory};
#[cfg(feature = "shell")]
pub use counterfoil_sandbox::Sandbox;
pub use counterfoil_sandbox::{Profile, SandboxOptions, SandboxOptionsError, SandboxSettings};
#[cfg(feature = "web")]
pub use counterfoil_tools::Resolver;
pub use counterfoil_tools::{
    Blocklist, BlocklistOptions, BlocklistOptionsError, CacheCounts, CallEvent, CallName,
    FileOptions, FileOptionsError, FileSettings, Filter, FilterCounts, FilterOptions,
    FilterOptionsError, FilterSettings, FullText, OutputStream, PatternError, Progress, RecentCall,
    ResultCacheOptions, ResultCacheSettings, RolledBack, Scene, ShellOptions, ShellOptionsError,
    ShellOutputEnvelope, ShellPolicy, ShellPolicyHandle, ShellSettings, ToolError, ToolErrorKind,
    ToolEvent, ToolOutput, WebOptions, WebOptionsError, WebSettings,
};
#[cfg(feature = "file")]
pub use executor::FileExecutor;
#[cfg(feature = "shell")]
pub use executor::ShellExecutor;
#[cfg(feature = "web")]
pub use executor::WebExecutor;
pub use executor::{
    CompositeExecutor, DynExecutor, ErasedToolExecutor, ExecutorId, ExecutorKind, ExecutorOrder,
    ExecutorOrderError, FunctionExecutor, ToolErrorFeedback, ToolExecutor, TwoOwners,
    classify_issue, classify_judged, classify_report,
};
pub use explained::{VerdictParts, deciding_reasons, verdict_word, verdicts_json};
pub use export::export;
pub use extract_paths::extract_paths;
pub use gate::{
    Action, AdversarialOptions, AdversarialOptionsError, AdversarialSettings, AnyPermit, Approvals,
    AuthorizationOptions, Available, Basis, Below, ByApproval, ByPolicy, Clearance, Decision,
    DependencyOptions, DependencyOptionsError, Effect, ExampleCall, GainEstimator, Gate, GateId,
    Gates, GatesBuilder, IdleRule, Judged, ORDER, PermissionOptions, PermissionOptionsError,
    PermissionRule, PermissionSettings, Permit, PolicyError, PolicyOptions, PolicyRule,
    PolicySettings, ProtectedOptions, ProtectedOptionsError, ProtectedSettings, Question, Reason,
    RehearseError, Stake, ToolDependency, ToolDependencyGraph, TrustOptions, TrustOptionsError,
    TrustSettings, Turn, UtilityError, UtilityOptions, UtilityOptionsError, UtilityScore,
    UtilityScorer, UtilitySettings, Verdict, available, combine,
};
pub use guard::Guard;
pub use host::{
    Asking, Before, HostEnded, HostTools, HostedCall, Listed, PersonsAnswer, Review, Undecided,
    reason, remark, review,
};
pub use offer::{
    Excluded, InclusionReason, Offer, TafcOptions, ToolFilterOptions, ToolFilterResult, cosine,
    schema_complexity,
};
pub use options::{AgentOptions, GuardOptions, GuardOptionsError, ToolsOptions};
pub use overflow::{OverflowOptions, OverflowOptionsError, OverflowSettings};
pub use ports::{
    Approval, ApprovalReply, ApprovalRequest, Approver, BoxFuture, Completion, CompletionError,
    Embedder, EmbedderError, SessionEnd,
};
pub use registration::RegisterError;
pub use repeated::repetitions;
pub use replay::{RehearsalPlace, Replay, ReplayChange, SessionPast};
pub use retry::{RetryOptions, RetryOptionsError, RetrySettings, may_retry};
pub use session::{BeginSessionError, Session, SessionStart, Surroundings, WeakSession};
pub use settings::GuardSettings;
pub use shown_id::ShowId;
pub use speculation::{
    Guess, SpeculationCounts, SpeculationEngine, SpeculationMode, SpeculationOptions,
    SpeculationOptionsError, SpeculationSettings,
};
pub use state::StateFolder;
pub use timeline::{recorded_transcript, recorded_transcript_until};
pub use track::{Tracked, TrackedResult};
pub use verify::{Disposition, Verified, VerifyError};
