use std::time::Duration;

use counterfoil_admission::{AdmissionSettings, FixationOptions, FixationSettings};
use counterfoil_ledger::{AuditSettings, LedgerSettings};
use counterfoil_rules::Settings as RuleSettings;
use counterfoil_tools::{
    FileSettings, FilterSettings, ResultCacheSettings, ShellPolicyHandle, WebSettings,
};

use crate::executor::ExecutorOrder;
use crate::gate::{
    AdversarialSettings, PermissionSettings, PolicySettings, ProtectedSettings,
    ToolDependencyGraph, TrustSettings, UtilitySettings,
};
use crate::offer::{TafcOptions, ToolFilterOptions};
use crate::overflow::OverflowSettings;
use crate::retry::RetrySettings;
use crate::shown_id::ShowId;
use crate::speculation::SpeculationSettings;

/// All validated settings of a guard.
#[derive(Debug, Clone)]
pub struct GuardSettings {
    /// How strictly calls are checked by admission.
    pub admission: AdmissionSettings,
    /// The order in which executors are asked for their tools.
    pub executors: ExecutorOrder,
    /// When repetition counts as lack of progress.
    pub fixation: FixationSettings,
    /// The shell policy in force, which may be replaced while calls run.
    pub shell: ShellPolicyHandle,
    /// Which files the file tools may use.
    pub file: FileSettings,
    /// Which pages may be fetched, and how.
    pub web: WebSettings,
    /// The operator's rules.
    pub policy: PolicySettings,
    /// Files and folders that control the agent, or whose content other programs run.
    pub protected: ProtectedSettings,
    /// Whether a model is shown all tools, or only those that suit the request.
    pub tool_filter: ToolFilterOptions,
    /// Whether a model is given room to think in schemas that are hard to fill in.
    pub tafc: TafcOptions,
    /// Which tools have to succeed before others.
    pub dependencies: ToolDependencyGraph,
    /// The trust that tools need.
    pub trust: TrustSettings,
    /// What a person has to agree to.
    pub permissions: PermissionSettings,
    /// Which calls are worth their cost.
    pub utility: UtilitySettings,
    /// The calls that a model is asked about.
    pub adversarial: AdversarialSettings,
    /// How long an unused approval is valid.
    pub approval_lifetime: Duration,
    /// The maximum number of first attempts per session; `None` means no limit.
    pub quota: Option<u64>,
    /// When a failed call is retried.
    pub retry: RetrySettings,
    /// Which results are cached.
    pub result_cache: ResultCacheSettings,
    /// Which calls run speculatively.
    pub speculation: SpeculationSettings,
    /// What is removed from the output of commands.
    pub filters: FilterSettings,
    /// How much of a long result is shown.
    pub overflow: OverflowSettings,
    /// The time after which a call is given up, whatever its executor does.
    pub longest_call: Duration,
    /// How the ledger is kept.
    pub ledger: LedgerSettings,
    /// How the audit log is kept.
    pub audit: AuditSettings,
    /// How the agent sees the id of an execution.
    pub show_id: ShowId,
    /// Which rules check an answer, and how strictly.
    pub rules: RuleSettings,
}

impl GuardSettings {
    /// Ten minutes.
    pub const LONGEST_CALL: Duration = Duration::from_secs(600);
    /// Ten minutes.
    pub const APPROVAL_LIFETIME: Duration = PermissionSettings::APPROVAL_LIFETIME;
}

impl Default for GuardSettings {
    fn default() -> Self {
        Self {
            admission: AdmissionSettings::default(),
            executors: ExecutorOrder::default(),
            fixation: FixationOptions::default().resolve().unwrap_or_default(),
            shell: ShellPolicyHandle::default(),
            file: FileSettings::default(),
            web: WebSettings::default(),
            policy: PolicySettings::default(),
            protected: ProtectedSettings::default(),
            tool_filter: ToolFilterOptions::default(),
            tafc: TafcOptions::default(),
            dependencies: ToolDependencyGraph::default(),
            trust: TrustSettings::default(),
            permissions: PermissionSettings::default(),
            utility: UtilitySettings::default(),
            adversarial: AdversarialSettings::default(),
            approval_lifetime: Self::APPROVAL_LIFETIME,
            quota: None,
            retry: RetrySettings::default(),
            result_cache: ResultCacheSettings::default(),
            speculation: SpeculationSettings::default(),
            filters: FilterSettings::default(),
            overflow: OverflowSettings::default(),
            longest_call: Self::LONGEST_CALL,
            ledger: LedgerSettings::default(),
            audit: AuditSettings::default(),
            show_id: ShowId::default(),
            rules: RuleSettings::default(),
        }
    }
}
