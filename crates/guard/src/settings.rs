use std::time::Duration;

use counterfoil_admission::{AdmissionSettings, FixationOptions, FixationSettings};
use counterfoil_ledger::{AuditSettings, LedgerSettings};
use counterfoil_rules::Settings as RuleSettings;
use counterfoil_tools::{
    FileSettings, FilterSettings, ResultCacheSettings, ShellPolicyHandle, WebSettings,
};

use crate::executor::ExecutorOrder;
use crate::gate::{
    AdversarialSettings, Gates, GatesBuilder, PermissionSettings, PolicySettings,
    ProtectedSettings, ToolDependencyGraph, TrustSettings, UtilitySettings,
};
use crate::offer::{TafcOptions, ToolFilterOptions};
use crate::overflow::OverflowSettings;
use crate::retry::RetrySettings;
use crate::session::ReadSettings;
use crate::shown_id::ShowId;
use crate::speculation::SpeculationSettings;

/// Everything about a guard that can be configured, checked.
#[derive(Debug, Clone)]
pub struct GuardSettings {
    /// How strict admission is.
    pub admission: AdmissionSettings,
    /// In which order executors and their tools are listed.
    pub executors: ExecutorOrder,
    /// When repetition counts.
    pub fixation: FixationSettings,
    /// The shell policy in force, which may be swapped under running calls.
    pub shell: ShellPolicyHandle,
    /// Which files the file tools may use.
    pub file: FileSettings,
    /// Which pages may be fetched, and how.
    pub web: WebSettings,
    /// The operator's rules.
    pub policy: PolicySettings,
    /// Places that decide about the agent, or that others run.
    pub protected: ProtectedSettings,
    /// Whether a model is shown every tool, or those that a request is about.
    pub tool_filter: ToolFilterOptions,
    /// Whether a model is given room to think in schemas that are hard to fill in.
    pub tafc: TafcOptions,
    /// Which tools have to come first.
    pub dependencies: ToolDependencyGraph,
    /// What trust a tool needs.
    pub trust: TrustSettings,
    /// What a person has to agree to.
    pub permissions: PermissionSettings,
    /// Which calls are worth their cost.
    pub utility: UtilitySettings,
    /// About which calls a model is asked.
    pub adversarial: AdversarialSettings,
    /// How long an approval that nobody uses is good for.
    pub approval_lifetime: Duration,
    /// First attempts that one session may make; `None` is unlimited.
    pub quota: Option<u64>,
    /// When a failed call is tried again.
    pub retry: RetrySettings,
    /// Which results are given again.
    pub result_cache: ResultCacheSettings,
    /// Which calls run ahead.
    pub speculation: SpeculationSettings,
    /// What is left out of the output of commands.
    pub filters: FilterSettings,
    /// How much of a long result is shown.
    pub overflow: OverflowSettings,
    /// After what time a call is given up, whatever its executor does.
    pub longest_call: Duration,
    /// How the ledger is kept.
    pub ledger: LedgerSettings,
    /// How the audit log is kept.
    pub audit: AuditSettings,
    /// How the agent gets to see the id of an execution.
    pub show_id: ShowId,
    /// Which rules judge an answer, and how strictly.
    pub rules: RuleSettings,
}

impl GuardSettings {
    /// What a session does about results of calls that only read.
    pub(crate) fn reads(&self) -> ReadSettings {
        ReadSettings { cache: self.result_cache, speculation: self.speculation }
    }

    /// Ten minutes.
    pub const LONGEST_CALL: Duration = Duration::from_secs(600);
    /// Ten minutes.
    pub const APPROVAL_LIFETIME: Duration = Duration::from_secs(600);

    /// The gates that go by these settings: the same for every surface, and for whoever only wants
    /// to know what they would say.
    #[must_use]
    pub fn gates(&self) -> GatesBuilder {
        Gates::builder()
            .shell(self.shell.clone())
            .quota(self.quota)
            .policy(self.policy.clone())
            .protected(self.protected.clone())
            .dependencies(self.dependencies.clone())
            .trust(self.trust.clone())
            .permissions(self.permissions.clone())
            .utility(self.utility.clone())
            .adversarial(self.adversarial.clone())
    }
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
