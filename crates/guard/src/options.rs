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

/// The guard's part of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GuardOptions {
    /// What tools may do, and how they run.
    pub tools: ToolsOptions,
    /// How the ledger is kept.
    pub ledger: LedgerOptions,
    /// How the audit log is kept.
    pub audit: AuditOptions,
    /// Which tools the model is offered.
    pub agent: AgentOptions,
}

/// `[agent]`: which tools the model is offered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentOptions {
    /// Whether a model is shown all tools, or only those that suit the request.
    pub tool_filter: ToolFilterOptions,
}

/// `[tools]`: what tools may do, and how they run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsOptions {
    /// The maximum number of calls per session; unlimited if not set. Retries do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls_per_session: Option<u32>,
    /// The order in which executors are asked for their tools: a list of all of `skill`, `shell`,
    /// `file`, `web`, `mcp` and `native`. If the list is empty, they are asked in the order given
    /// here. The order matters only if two executors define the same tool: the error names them in
    /// this order. Tools are always offered in alphabetical order.
    pub executors: Vec<ExecutorKind>,
    /// How the agent sees the id of an execution: next to the result (`metadata`), as the result's
    /// last line (`trailer`), or inside the result (`embed`).
    pub show_id: ShowId,
    /// How strictly a call is checked against its tool's definition, before any other check.
    pub admission: AdmissionOptions,
    /// When repetition counts as lack of progress.
    pub fixation: FixationOptions,
    /// Commands that never run, in addition to those that no configuration can allow.
    pub blocklist: BlocklistOptions,
    /// Files and folders that control the agent, or whose content other programs run.
    pub protected: ProtectedOptions,
    /// Rules about which calls may run.
    pub policy: PolicyOptions,
    /// Rules from another party, which can only restrict what the policy allows.
    pub authorization: AuthorizationOptions,
    /// Which tools have to succeed before others can be used.
    pub dependencies: DependencyOptions,
    /// How far a turn has to be trusted for a tool to run.
    pub trust: TrustOptions,
    /// Which calls run without approval, which need a person's approval, and which never run.
    pub permissions: PermissionOptions,
    /// Which calls are worth their cost.
    pub utility: UtilityOptions,
    /// A separate model that judges calls by policies in plain language.
    pub adversarial_policy: AdversarialOptions,
    /// Whether tools with complex schemas get an extra argument for the model to think in.
    pub tafc: TafcOptions,
    /// When a failed call is retried.
    pub retry: RetryOptions,
    /// How shell commands run.
    pub shell: ShellOptions,
    /// The kernel restrictions for shell commands.
    pub sandbox: SandboxOptions,
    /// Which files the file tools may use.
    pub file: FileOptions,
    /// Which pages may be fetched, and how.
    pub web: WebOptions,
    /// Which results are cached.
    pub result_cache: ResultCacheOptions,
    /// Which read-only calls start before they are known to be needed.
    pub speculation: SpeculationOptions,
    /// What is removed from the output of commands.
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

impl ToolsOptions {
    /// Notices about options that have no effect as long as another one is off.
    #[must_use]
    pub fn without_effect(&self) -> Vec<String> {
        let Self { policy, authorization, shell, .. } = self;
        let rules = [
            ("policy", !policy.enabled && !policy.rules.is_empty()),
            ("authorization", !authorization.enabled && !authorization.rules.is_empty()),
        ];
        let rules = rules.into_iter().filter(|(_, are_off)| *are_off).map(|(section, _)| {
            format!("the rules of `tools.{section}` are off; to apply them, set `enabled = true`")
        });
        let snapshots = [
            ("auto_rollback", shell.auto_rollback),
            ("snapshot_required", shell.snapshot_required),
        ];
        let snapshots = snapshots.into_iter().filter(|(_, is_on)| *is_on && !shell.transactional);
        let snapshots = snapshots.map(|(key, _)| {
            format!("`tools.shell.{key}` has no effect without `transactional = true`")
        });
        rules.chain(snapshots).collect()
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
