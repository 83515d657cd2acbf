use std::sync::Arc;

use arc_swap::ArcSwap;
use counterfoil_sandbox::SandboxSettings;

use super::shell::ShellSettings;
use crate::blocklist::Blocklist;

/// The policy for shell commands, which may change while the guard runs.
#[derive(Debug, Clone, Default)]
pub struct ShellPolicy {
    /// What may not run.
    pub blocklist: Blocklist,
    /// How the rest runs.
    pub settings: ShellSettings,
    /// How the kernel confines it.
    pub sandbox: SandboxSettings,
}

/// The current shell policy, shared by the gate and the executor. Changes are atomic: holders of
/// the old policy keep it, later loads get the new one.
#[derive(Debug, Clone, Default)]
pub struct ShellPolicyHandle {
    policy: Arc<ArcSwap<ShellPolicy>>,
}

impl ShellPolicyHandle {
    /// Creates a handle with this policy.
    #[must_use]
    pub fn new(policy: ShellPolicy) -> Self {
        Self { policy: Arc::new(ArcSwap::from_pointee(policy)) }
    }

    /// The current policy.
    #[must_use]
    pub fn load(&self) -> Arc<ShellPolicy> {
        self.policy.load_full()
    }

    /// Replaces the policy.
    pub fn rebuild(&self, policy: ShellPolicy) {
        self.policy.store(Arc::new(policy));
    }
}
