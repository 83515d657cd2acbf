//! The guard's part of the configuration. Each component defines and validates its own section;
//! this file combines them.

use std::time::Duration;

use counterfoil_admission::{AdmissionOptions, FixationOptions, FixationOptionsError};
use counterfoil_ledger::{AuditOptions, LedgerOptions, LedgerOptionsError};
use counterfoil_rules::Settings as RuleSettings;
use counterfoil_sandbox::{SandboxOptions, SandboxOptionsError};
use counterfoil_tools::{
    BlocklistOptions, BlocklistOptionsError, FileOptions, FileOptionsError, FilterOptions,
    FilterOptionsError, ResultCacheOptions, ShellOptions, ShellOptionsError, ShellPolicy,
    ShellPolicyHandle, WebOptions, WebOptionsError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::executor::{ExecutorKind, ExecutorOrder, ExecutorOrderError};
use crate::gate::{
    AdversarialOptions, AdversarialOptionsError, AuthorizationOptions, DependencyOptions,
    DependencyOptionsError, PermissionOptions, PermissionOptionsError, PolicyError, PolicyOptions,
    PolicySettings, ProtectedOptions, ProtectedOptionsError, TrustOptions, TrustOptionsError,
    UtilityOptions, UtilityOptionsError,
};
use crate::offer::{TafcOptions, ToolFilterOptions};
use crate::overflow::{OverflowOptions, OverflowOptionsError};
use crate::retry::{RetryOptions, RetryOptionsError};
use crate::settings::GuardSettings;
use crate::shown_id::ShowId;
use crate::speculation::{SpeculationOptions, SpeculationOptionsError};

/// Everything that a configuration says about the guard.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GuardOptions {
    /// What tools may do, and how they run.
    pub tools: ToolsOptions,
    /// How the ledger is kept.
    pub ledger: LedgerOptions,
    /// How the audit log is kept.
    pub audit: AuditOptions,
    /// What the model is offered.
    pub agent: AgentOptions,
}

/// `[agent]`: what a model is offered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentOptions {
    /// Whether a model is shown every tool, or those that a request is about.
    pub tool_filter: ToolFilterOptions,
}

/// `[tools]`: what tools may do, and how they run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsOptions {
    /// How many calls one session may make; not set is unlimited. Retries are free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls_per_session: Option<u32>,
    /// In which order executors and their tools are listed: every one of `skill`, `shell`, `file`,
    /// `web`, `mcp` and `native`; nothing is that order.
    pub executors: Vec<ExecutorKind>,
    /// How the agent gets to see the id of an execution: beside the result (`metadata`), as its
    /// last line (`trailer`), or in it (`embed`).
    pub show_id: ShowId,
    /// How strictly a call is held against its tool before anything else.
    pub admission: AdmissionOptions,
    /// When repetition without progress counts.
    pub fixation: FixationOptions,
    /// Commands that never run, beyond those that no configuration lets through.
    pub blocklist: BlocklistOptions,
    /// Places that decide about the agent, or that others run.
    pub protected: ProtectedOptions,
    /// Rules about which calls may run.
    pub policy: PolicyOptions,
    /// Rules from somebody else, who can only narrow what the policy allows.
    pub authorization: AuthorizationOptions,
    /// Which tools have to succeed before others can be used.
    pub dependencies: DependencyOptions,
    /// How far a turn has to be trusted for a tool to run.
    pub trust: TrustOptions,
    /// What runs by itself, what a person has to agree to, and what never runs.
    pub permissions: PermissionOptions,
    /// Which calls are worth their cost.
    pub utility: UtilityOptions,
    /// A separate model that judges calls by policies in plain language.
    pub adversarial_policy: AdversarialOptions,
    /// Whether a model is given room to think in schemas that are hard to fill in.
    pub tafc: TafcOptions,
    /// When a failed call is tried again.
    pub retry: RetryOptions,
    /// How shell commands run.
    pub shell: ShellOptions,
    /// What the kernel holds shell commands to.
    pub sandbox: SandboxOptions,
    /// Which files the file tools may use.
    pub file: FileOptions,
    /// Which pages may be fetched, and how.
    pub web: WebOptions,
    /// Which results are given again.
    pub result_cache: ResultCacheOptions,
    /// Which calls that only read are begun before it is known that they are wanted.
    pub speculation: SpeculationOptions,
    /// What is left out of what commands print.
    pub filters: FilterOptions,
    /// How much of a long result is shown.
    pub overflow: OverflowOptions,
}

/// How long an executor may take to end a call that exceeded its time limit.
const ENDING: Duration = Duration::from_secs(10);

/// Why a configuration is invalid. Each error names the section or the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardOptionsError {
    /// `[tools] executors`
    #[error("[tools]: {0}")]
    Executors(#[from] ExecutorOrderError),
    /// `[tools.fixation]`
    #[error("[tools.fixation]: {0}")]
    Fixation(#[from] FixationOptionsError),
    /// `[tools.blocklist]`
    #[error("[tools.blocklist]: {0}")]
    Blocklist(#[from] BlocklistOptionsError),
    /// `[tools.protected]`
    #[error(transparent)]
    Protected(#[from] ProtectedOptionsError),
    /// `[tools.policy]` or `[tools.authorization]`
    #[error("[tools.policy]: {0}")]
    Policy(#[from] PolicyError),
    /// `[tools.dependencies]`
    #[error(transparent)]
    Dependencies(#[from] DependencyOptionsError),
    /// `[tools.trust]`
    #[error(transparent)]
    Trust(#[from] TrustOptionsError),
    /// `[tools.permissions]`
    #[error(transparent)]
    Permissions(#[from] PermissionOptionsError),
    /// `[tools.utility]`
    #[error(transparent)]
    Utility(#[from] UtilityOptionsError),
    /// `[tools.adversarial_policy]`
    #[error(transparent)]
    Adversarial(#[from] AdversarialOptionsError),
    /// `[tools.speculation]`
    #[error("[tools.speculation]: {0}")]
    Speculation(#[from] SpeculationOptionsError),
    /// `[tools.retry]`
    #[error("[tools.retry]: {0}")]
    Retry(#[from] RetryOptionsError),
    /// `[tools.shell]`
    #[error("[tools.shell]: {0}")]
    Shell(#[from] ShellOptionsError),
    /// `[tools.sandbox]`
    #[error("[tools.sandbox]: {0}")]
    Sandbox(#[from] SandboxOptionsError),
    /// `[tools.file]`
    #[error("[tools.file]: {0}")]
    File(#[from] FileOptionsError),
    /// `[tools.web]`
    #[error("[tools.web]: {0}")]
    Web(#[from] WebOptionsError),
    /// `[tools.filters]`
    #[error("[tools.filters]: {0}")]
    Filters(#[from] FilterOptionsError),
    /// `[tools.overflow]`
    #[error("[tools.overflow]: {0}")]
    Overflow(#[from] OverflowOptionsError),
    /// `[ledger]`
    #[error("[ledger]: {0}")]
    Ledger(#[from] LedgerOptionsError),
}

impl GuardOptionsError {
    /// The key or section in the file.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Executors(_) => "tools.executors",
            Self::Fixation(_) => "tools.fixation",
            Self::Blocklist(_) => "tools.blocklist",
            Self::Protected(_) => "tools.protected",
            Self::Policy(rule) => rule.key(),
            Self::Dependencies(_) => "tools.dependencies",
            Self::Trust(_) => "tools.trust",
            Self::Permissions(_) => "tools.permissions",
            Self::Utility(_) => "tools.utility",
            Self::Adversarial(_) => "tools.adversarial_policy",
            Self::Speculation(_) => "tools.speculation",
            Self::Retry(_) => "tools.retry",
            Self::Shell(_) => "tools.shell",
            Self::Sandbox(_) => "tools.sandbox",
            Self::File(_) => "tools.file",
            Self::Web(_) => "tools.web",
            Self::Filters(_) => "tools.filters",
            Self::Overflow(_) => "tools.overflow",
            Self::Ledger(_) => "ledger",
        }
    }
}

impl GuardOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// When a section is invalid; the first one is reported.
    pub fn resolve(self) -> Result<GuardSettings, GuardOptionsError> {
        let Self { tools, ledger, audit, agent } = self;
        let permissions = tools.permissions.resolve()?;
        // A command may take as long as its section allows, and then its executor ends it.
        let command = Duration::from_secs(tools.shell.max_timeout_secs) + ENDING;
        let shell = ShellPolicy {
            blocklist: tools.blocklist.resolve()?,
            settings: tools.shell.resolve()?,
            sandbox: tools.sandbox.resolve()?,
        };
        Ok(GuardSettings {
            executors: ExecutorOrder::configured(&tools.executors)?,
            admission: tools.admission.resolve(),
            fixation: tools.fixation.resolve()?,
            shell: ShellPolicyHandle::new(shell),
            file: tools.file.resolve()?,
            web: tools.web.resolve()?,
            protected: tools.protected.resolve()?,
            policy: PolicySettings::resolve(tools.policy, tools.authorization)?,
            tool_filter: agent.tool_filter,
            tafc: tools.tafc.resolve(),
            dependencies: tools.dependencies.resolve()?,
            trust: tools.trust.resolve()?,
            utility: tools.utility.resolve()?,
            adversarial: tools.adversarial_policy.resolve()?,
            approval_lifetime: permissions.approval_lifetime,
            permissions,
            quota: tools.max_tool_calls_per_session.map(u64::from),
            retry: tools.retry.resolve()?,
            result_cache: tools.result_cache.resolve(),
            speculation: tools.speculation.resolve()?,
            filters: tools.filters.resolve()?,
            overflow: tools.overflow.resolve()?,
            ledger: ledger.resolve()?,
            audit: audit.resolve(),
            longest_call: command.max(GuardSettings::LONGEST_CALL),
            show_id: tools.show_id,
            rules: RuleSettings::default(),
        })
    }
}
