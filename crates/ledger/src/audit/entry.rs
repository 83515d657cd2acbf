use counterfoil_model::{ExactValue, ToolErrorCategory};
use serde::{Deserialize, Serialize};

use super::egress::Egress;
use crate::circumstances::{Phase, TrustLevel};

/// What the audit log says about one call.
///
/// Secrets are replaced and hidden thinking is left out when it is written, whoever made it.
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
    /// `auto` where the gates alone allowed it, else who agreed. `None`: it was never permitted.
    pub approved_by: Option<String>,
    /// What is known about an exit code.
    pub exit_code: ExitCode,
    /// The output was cut.
    pub truncated: bool,
    /// What left for the network, or was held back.
    pub egress: Vec<Egress>,
    /// Where the content that led to the call came from.
    pub claim_source: Option<String>,
    /// When in the agent's cycle.
    pub phase: Phase,
    /// The session.
    pub session_id: Option<String>,
    /// The sub-agent that called.
    pub caller_id: Option<String>,
    /// The rule of a policy that decided.
    pub policy_match: Option<String>,
    /// What a model that judges by policies in plain language said, where it was asked.
    pub adversarial_policy_decision: Option<String>,
    /// Codes of what was doubtful about the call, and did not keep it from running.
    pub warnings: Vec<String>,
    /// The id of the execution, or of the call that was not executed.
    pub execution_id: Option<String>,
    /// What joins it to somebody else's records: a trace or request id.
    pub correlation_id: Option<String>,
    /// It ran before it was known to be wanted: it is none of the calls that are counted.
    pub speculative: bool,
    /// The execution whose result was given again.
    pub cached_from: Option<String>,
}

impl AuditEntry {
    /// A call of a tool that is no shell, about which nothing more is known.
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
        }
    }
}

/// How a call ended. Whatever failed has its category: there is no other way to say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditResult {
    /// It did what it was asked.
    Success,
    /// It was not let through.
    Blocked {
        /// Why.
        reason: String,
        /// What kind of failure.
        category: ToolErrorCategory,
    },
    /// It ran and failed, or was given up.
    Error {
        /// What went wrong.
        message: String,
        /// What kind of failure.
        category: ToolErrorCategory,
    },
    /// It took too long.
    Timeout,
    /// It failed, and what it had changed was put back.
    Rollback {
        /// Files that have their old content again.
        restored: u64,
        /// Files that it had made and that are gone.
        deleted: u64,
        /// What kind of failure led to it.
        category: ToolErrorCategory,
    },
}

impl AuditResult {
    /// Every word that [`Self::word`] can say.
    pub const WORDS: [&str; 5] = ["success", "blocked", "error", "timeout", "rollback"];

    /// The kind of failure; `None` exactly for success.
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

/// What is known about an exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitCode {
    /// The command ended with it.
    Code(i32),
    /// The tool runs no command.
    NoShell,
    /// The command never started, or nobody saw its end: why.
    Missing(String),
}

/// A result as a line has it: the category stands beside it.
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
    /// `None` where a failure has no category, or a success has one.
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
