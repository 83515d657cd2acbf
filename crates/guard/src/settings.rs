use std::time::Duration;

use countersign_rules::{AdmissionSettings, FixationSettings, Settings as RuleSettings};

use crate::audit::AuditSettings;
use crate::executor::ShellPolicyHandle;
use crate::gate::{
    DependencySettings, Gates, GatesBuilder, PermissionSettings, PolicySettings, TrustSettings,
};
use crate::ledger::LedgerSettings;
use crate::retry::RetrySettings;
use crate::shown_id::ShowId;

/// Everything about a guard that can be configured, checked.
#[derive(Debug, Clone)]
pub struct GuardSettings {
    /// How strict admission is.
    pub admission: AdmissionSettings,
    /// When repetition counts.
    pub fixation: FixationSettings,
    /// The shell policy in force, which may be swapped under running calls.
    pub shell: ShellPolicyHandle,
    /// The operator's rules.
    pub policy: PolicySettings,
    /// Which tools have to come first.
    pub dependencies: DependencySettings,
    /// What trust a tool needs.
    pub trust: TrustSettings,
    /// What a person has to agree to.
    pub permissions: PermissionSettings,
    /// How long an approval that nobody uses is good for.
    pub approval_lifetime: Duration,
    /// First attempts that one session may make; `None` is unlimited.
    pub quota: Option<u64>,
    /// When a failed call is tried again.
    pub retry: RetrySettings,
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
    /// Ten minutes.
    pub const LONGEST_CALL: Duration = Duration::from_secs(600);
    /// Five minutes.
    pub const APPROVAL_LIFETIME: Duration = Duration::from_secs(300);

    /// The gates that go by these settings: the same for every surface, and for whoever only wants
    /// to know what they would say.
    #[must_use]
    pub fn gates(&self) -> GatesBuilder {
        Gates::builder()
            .shell(self.shell.clone())
            .quota(self.quota)
            .policy(self.policy.clone())
            .dependencies(self.dependencies.clone())
            .trust(self.trust.clone())
            .permissions(self.permissions.clone())
    }
}

impl Default for GuardSettings {
    fn default() -> Self {
        Self {
            admission: AdmissionSettings::default(),
            fixation: FixationSettings::default(),
            shell: ShellPolicyHandle::default(),
            policy: PolicySettings::default(),
            dependencies: DependencySettings::default(),
            trust: TrustSettings::default(),
            permissions: PermissionSettings::default(),
            approval_lifetime: Self::APPROVAL_LIFETIME,
            quota: None,
            retry: RetrySettings::default(),
            longest_call: Self::LONGEST_CALL,
            ledger: LedgerSettings::default(),
            audit: AuditSettings::default(),
            show_id: ShowId::default(),
            rules: RuleSettings::default(),
        }
    }
}
