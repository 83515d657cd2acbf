use counterfoil_model::{ExactValue, ToolErrorCategory};
use serde::{Deserialize, Serialize};

use super::egress::Egress;
use crate::circumstances::{Phase, TrustLevel};

/// One call in the audit log.
///
/// Secrets and hidden thinking are removed when the entry is written.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub call: ExactValue,
    /// How it ended.
    pub result: AuditResult,
    /// How far the turn was trusted.
    pub trust: TrustLevel,
    /// `auto` if the gates alone allowed it, otherwise the person who agreed. `None` if it was
    /// never permitted.
    pub approved_by: Option<String>,
    /// What is known about an exit code.
    pub exit_code: ExitCode,
    /// Whether the output was cut.
    pub truncated: bool,
    /// The network requests of the call, sent or blocked.
    pub egress: Vec<Egress>,
    /// Where the content that led to the call came from.
    pub claim_source: Option<String>,
    /// The phase of the agent's cycle.
    pub phase: Phase,
    /// The session.
    pub session_id: Option<String>,
    /// The sub-agent that called.
    pub caller_id: Option<String>,
    /// The policy rule that decided.
    pub policy_match: Option<String>,
    /// The decision of the model that judges by plain-language policies, if it was asked.
    pub adversarial_policy_decision: Option<String>,
    /// Codes of doubts about the call that did not stop it.
    pub warnings: Vec<String>,
    /// The id of the execution, or of the call that was not executed.
    pub execution_id: Option<String>,
    /// The id that joins it to external records: a trace or request id.
    pub correlation_id: Option<String>,
    /// Whether it ran before it was known to be wanted. Such calls are not counted.
    pub speculative: bool,
    /// The execution whose result was reused.
    pub cached_from: Option<String>,
    /// The MCP server whose tool it is.
    pub server: Option<String>,
}

impl AuditEntry {
    /// Creates an entry for a call of a tool that is not a shell, with every other field at its
    /// default.
    #[must_use]
    pub fn new(tool: impl Into<String>, call: impl Into<ExactValue>, result: AuditResult) -> Self {
        Self {
            tool: tool.into(),
            call: call.into(),
            result,
            trust: TrustLevel::default(),
            approved_by: None,
            exit_code: ExitCode::NoShell,
            truncated: false,
            egress: Vec::new(),
            claim_source: None,
            phase: Phase::default(),
            session_id: None,
            caller_id: None,
            policy_match: None,
            adversarial_policy_decision: None,
            warnings: Vec::new(),
            execution_id: None,
            correlation_id: None,
            speculative: false,
            cached_from: None,
            server: None,
        }
    }
}

/// How a call ended. Every failure has a category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditResult {
    /// It did what was asked.
    Success,
    /// It was not allowed to run.
    Blocked {
        /// Why.
        reason: String,
        /// The kind of failure.
        category: ToolErrorCategory,
    },
    /// It ran and failed, or was abandoned.
    Error {
        /// What went wrong.
        message: String,
        /// The kind of failure.
        category: ToolErrorCategory,
    },
    /// It took too long.
    Timeout,
    /// It failed, and its changes were rolled back.
    Rollback {
        /// The number of files whose old content was restored.
        restored: u64,
        /// The number of files it had created that were deleted.
        deleted: u64,
        /// The kind of failure that led to the rollback.
        category: ToolErrorCategory,
    },
}

impl AuditResult {
    /// Every word that [`Self::word`] returns.
    pub const WORDS: [&str; 5] = ["success", "blocked", "error", "timeout", "rollback"];

    /// The kind of failure; `None` only for success.
    #[must_use]
    pub fn category(&self) -> Option<ToolErrorCategory> {
        match self {
            Self::Success => None,
            Self::Timeout => Some(ToolErrorCategory::Timeout),
            Self::Blocked { category, .. }
            | Self::Error { category, .. }
            | Self::Rollback { category, .. } => Some(*category),
        }
    }

    /// The name in lines, queries and counts.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Blocked { .. } => "blocked",
            Self::Error { .. } => "error",
            Self::Timeout => "timeout",
            Self::Rollback { .. } => "rollback",
        }
    }
}

/// The exit code, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitCode {
    /// The exit code of the command.
    Code(i32),
    /// The tool runs no command.
    NoShell,
    /// The reason why it is unknown: the command never started, or its end was not observed.
    Missing(String),
}

/// The result as it is written to a line; the category is a field of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenResult {
    Success,
    Blocked { reason: String },
    Error { message: String },
    Timeout,
    Rollback { restored: u64, deleted: u64 },
}

impl From<AuditResult> for WrittenResult {
    fn from(result: AuditResult) -> Self {
        match result {
            AuditResult::Success => Self::Success,
            AuditResult::Blocked { reason, .. } => Self::Blocked { reason },
            AuditResult::Error { message, .. } => Self::Error { message },
            AuditResult::Timeout => Self::Timeout,
            AuditResult::Rollback { restored, deleted, .. } => Self::Rollback { restored, deleted },
        }
    }
}

impl WrittenResult {
    /// `None` if a failure has no category or a success has one.
    pub(super) fn with(self, category: Option<ToolErrorCategory>) -> Option<AuditResult> {
        Some(match (self, category) {
            (Self::Success, None) => AuditResult::Success,
            (Self::Blocked { reason }, Some(category)) => AuditResult::Blocked { reason, category },
            (Self::Error { message }, Some(category)) => AuditResult::Error { message, category },
            (Self::Timeout, Some(ToolErrorCategory::Timeout)) => AuditResult::Timeout,
            (Self::Rollback { restored, deleted }, Some(category)) => {
                AuditResult::Rollback { restored, deleted, category }
            }
            (Self::Success | Self::Timeout, Some(_)) | (_, None) => return None,
        })
    }
}
