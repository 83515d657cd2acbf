use std::sync::Arc;

use arc_swap::ArcSwap;
use counterfoil_sandbox::SandboxSettings;

use super::shell::ShellSettings;
use crate::blocklist::Blocklist;

/// What decides about shell commands and may change while the guard runs.
#[derive(Debug, Clone, Default)]
pub struct ShellPolicy {
    /// What may not run.
    pub blocklist: Blocklist,
    /// How the rest runs.
    pub settings: ShellSettings,
    /// What the kernel holds it to.
    pub sandbox: SandboxSettings,
}

/// The shell policy in force, shared by the gate and the executor. A change is atomic: whoever
/// holds the old policy keeps it, whoever asks afterwards gets the new one.
#[derive(Debug, Clone, Default)]
pub struct ShellPolicyHandle {
    policy: Arc<ArcSwap<ShellPolicy>>,
}

impl ShellPolicyHandle {
    /// Begins with this policy.
    #[must_use]
    pub fn new(policy: ShellPolicy) -> Self {
        Self { policy: Arc::new(ArcSwap::from_pointee(policy)) }
    }

    /// The policy in force now.
    #[must_use]
    pub fn load(&self) -> Arc<ShellPolicy> {
        self.policy.load_full()
    }

    /// Puts another policy in force.
    pub fn rebuild(&self, policy: ShellPolicy) {
        self.policy.store(Arc::new(policy));
    }
}
