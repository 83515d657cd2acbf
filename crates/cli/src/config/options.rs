use std::collections::BTreeMap;
use std::path::PathBuf;

#[cfg(feature = "guard")]
use counterfoil_guard::GuardOptions;
use counterfoil_rules::{Obligation, ObligationError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judge_options::JudgeOptions;
use super::sections::{
    AgentOptions, AuditOptions, HooksOptions, LedgerOptions, LlmOptions, McpOptions, ProxyOptions,
    ToolsOptions,
};
use crate::choices::{FailOn, Level, OutputFormat, RuleMode};

/// The contents of a configuration file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "counterfoil.toml")]
pub(crate) struct Options {
    /// The files that these options were read from. Not a key of the file.
    #[serde(skip)]
    pub(crate) files: Vec<PathBuf>,
    /// Defaults of `counterfoil check`.
    pub(crate) check: CheckOptions,
    /// The judge that reads answers in addition to the rules; none by default.
    pub(crate) judge: JudgeOptions,
    /// Rule modes that differ from the defaults, by code or name.
    pub(crate) rules: BTreeMap<String, RuleMode>,
    /// What tools may do, and how they run.
    pub(crate) tools: ToolsOptions,
    /// How the ledger is kept.
    pub(crate) ledger: LedgerOptions,
    /// How the audit log is kept.
    pub(crate) audit: AuditOptions,
    /// How the hooks of coding agents behave.
    pub(crate) hooks: HooksOptions,
    /// The agent of `counterfoil chat`, and which tools a model is offered.
    pub(crate) agent: AgentOptions,
    /// Language models.
    pub(crate) llm: LlmOptions,
    /// The servers that `counterfoil mcp` offers.
    pub(crate) mcp: McpOptions,
    /// What `counterfoil proxy` does between an agent and its model.
    pub(crate) proxy: ProxyOptions,
    /// Work that must accompany other work (CS019); none by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) obligations: Vec<ObligationOptions>,
}

/// An obligation, with exactly one of `after` and `before`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ObligationOptions {
    /// The work that must be followed by something: `edit`, or a kind of action (`create`,
    /// `deploy`, …).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
    /// The work that must be preceded by something, with the same values as `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    /// The files to which the obligation applies; `*` matches anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) paths: Vec<String>,
    /// What is required: `passing test`, `passing build`, `passing lint`, `look-up`, or a kind of
    /// action.
    pub(crate) needs: String,
}

impl ObligationOptions {
    /// Returns the obligation for the rules.
    pub(crate) fn checked(&self) -> Result<Obligation, ObligationError> {
        let (after, before) = (self.after.as_deref(), self.before.as_deref());
        Obligation::new(after, before, self.paths.clone(), &self.needs)
    }
}

/// Defaults of `counterfoil check`. Flags with the same names override them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CheckOptions {
    /// The minimum severity that makes a run fail.
    pub(crate) fail_on: FailOn,
    /// The minimum severity that is shown.
    pub(crate) severity: Level,
    /// The output format.
    pub(crate) format: OutputFormat,
    /// Show every claim with its evidence, not only findings.
    pub(crate) show_supported: bool,
    /// Maximum age in seconds of an execution that the agent may cite (CS003); 0 means no limit.
    pub(crate) execution_window: u64,
    /// Rules that do not run, by code or name.
    pub(crate) ignore: Vec<String>,
    /// A file with the list of tools, for logs that do not contain one. Relative to the file that
    /// sets this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<String>,
    /// A file with accepted findings. Relative to the file that sets this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) baseline: Option<String>,
}

impl Options {
    /// Keys that hold a path, which is relative to the file that contains it.
    pub(super) const PATHS: [[&str; 2]; 6] = [
        ["check", "tools"],
        ["check", "baseline"],
        ["ledger", "key"],
        ["ledger", "password_file"],
        ["proxy", "tls_cert"],
        ["proxy", "tls_key"],
    ];

    /// Returns the options of the guard.
    #[cfg(feature = "guard")]
    pub(crate) fn guard(&self) -> GuardOptions {
        let Self { tools, ledger, audit, agent, .. } = self.clone();
        let agent = counterfoil_guard::AgentOptions { tool_filter: agent.tool_filter };
        GuardOptions { tools, ledger, audit, agent }
    }
}
