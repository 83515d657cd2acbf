//! The gates, one per file, in one declared order.

mod adversarial;
mod blocklist;
mod dependency;
mod permission;
mod policy;
mod protected;
mod quota;
mod secrets;
mod trust;
mod utility;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use counterfoil_admission::CallReport;
use counterfoil_model::{ExactValue, Tool, ToolCall, without_hidden};
use counterfoil_tools::{Scene, ShellPolicyHandle};

use super::Gate;
use super::adversarial::AdversarialSettings;
use super::approvals::Approvals;
use super::clearance::Clearance;
use super::dependency::ToolDependencyGraph;
use super::permission::PermissionSettings;
use super::policy::PolicySettings;
use super::protected::ProtectedSettings;
use super::trust::TrustSettings;
use super::utility::UtilitySettings;
use super::verdict::{GateId, Judged, Question, Reason, Verdict, combine};
use crate::admitted::Admitted;
use crate::executor::ErasedToolExecutor;
use crate::settings::GuardSettings;

/// The order in which gates judge. It affects only the order of what is shown, never the outcome:
/// all gates judge every call.
pub const ORDER: [GateId; 10] = [
    blocklist::ID,   // unconditional: nothing bypasses it
    protected::ID,   // what decides about the agent
    quota::ID,       // a count
    policy::ID,      // what the operator wrote
    dependency::ID,  // what has to come first
    trust::ID,       // where the turn's content comes from
    permission::ID,  // what a person has to agree to
    secrets::ID,     // what must not leave the machine
    utility::ID,     // what is not worth its cost
    adversarial::ID, // what a model thinks of it: the dearest
];

/// All gates that judge calls. The declared ones are always included.
pub struct Gates {
    gates: Vec<Box<dyn Gate>>,
}

/// Configures the declared gates. What is not set has its default; no gate can be left out.
#[derive(Default)]
pub struct GatesBuilder {
    shell: ShellPolicyHandle,
    protected: ProtectedSettings,
    quota: Option<u64>,
    policy: PolicySettings,
    dependencies: ToolDependencyGraph,
    trust: TrustSettings,
    permissions: PermissionSettings,
    utility: UtilitySettings,
    adversarial: AdversarialSettings,
    judged: bool,
    hosted: bool,
    executor: Option<Arc<dyn ErasedToolExecutor>>,
    more: Vec<Box<dyn Gate>>,
}

/// The gates' decision on one call.
#[derive(Debug)]
pub enum Decision {
    /// The call may run: it is allowed, or a person approved it.
    Cleared(Clearance),
    /// No gate denies the call, but a person has to agree first.
    NeedsApproval(Vec<Question>),
    /// The call may not run.
    Denied(Vec<Reason>),
}

/// A call that cannot be rehearsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arguments of `{tool}` are not a JSON object")]
pub struct RehearseError {
    /// The tool.
    pub tool: String,
}

impl Gates {
    /// Starts a builder. It is the only way to create gates.
    #[must_use]
    pub fn builder() -> GatesBuilder {
        GatesBuilder::default()
    }

    /// Returns the combined verdict of all gates. Every gate judges, so that every reason is known.
    #[must_use]
    pub fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Judged {
        combine(self.explain(call, scene))
    }

    /// The gates, in the order in which they judge.
    #[must_use]
    pub fn ids(&self) -> Vec<GateId> {
        self.gates.iter().map(|gate| gate.id()).collect()
    }

    /// The verdict of each gate, in the declared order.
    #[must_use]
    pub fn explain(&self, call: &Admitted, scene: &Scene<'_>) -> Vec<(GateId, Verdict)> {
        self.gates.iter().map(|gate| (gate.id(), guarded(gate.as_ref(), call, scene))).collect()
    }

    /// Judges the call, and clears it if the gates allow it, or if they ask and a person has agreed
    /// to exactly this call. That approval is used up.
    #[must_use]
    pub fn decide(
        &self,
        call: &Arc<Admitted>,
        scene: &Scene<'_>,
        approvals: &Approvals,
    ) -> Decision {
        match self.judge(call, scene) {
            Judged::Denied(reasons) => Decision::Denied(reasons),
            Judged::Allowed { matched } => Decision::Cleared(Clearance::by_policy(call, matched)),
            Judged::NeedsApproval(questions) => {
                match approvals.redeem(scene.session, call.digest()) {
                    Some(agreed) => {
                        Decision::Cleared(Clearance::by_approval(call, agreed, &questions))
                    }
                    None => Decision::NeedsApproval(questions),
                }
            }
        }
    }

    /// The verdict that each gate would give on a hypothetical call. Nothing runs, and no approval
    /// is used up.
    ///
    /// # Errors
    /// When the arguments are not a JSON object.
    pub fn rehearse(
        &self,
        call: &ToolCall,
        tool: &Tool,
        scene: &Scene<'_>,
    ) -> Result<Vec<(GateId, Verdict)>, RehearseError> {
        let call = without_hidden(call.clone());
        let arguments = call.arguments.exact().unwrap_or_default();
        Ok(self.explain(&Self::unadmitted(&call, tool, arguments)?, scene))
    }

    /// A call in the form that gates judge, without admission: one that a host makes, or a
    /// hypothetical one.
    ///
    /// # Errors
    /// When the arguments are not a JSON object.
    pub(crate) fn unadmitted(
        call: &ToolCall,
        tool: &Tool,
        arguments: ExactValue,
    ) -> Result<Admitted, RehearseError> {
        let report = CallReport {
            tool: call.tool.clone(),
            resolved_name: None,
            issues: Vec::new(),
            arguments: Some(arguments).filter(|arguments| arguments.is_object()),
            corrected_arguments: None,
        };
        Admitted::new(call.clone(), tool.clone(), report)
            .map_err(|refused| RehearseError { tool: refused.1.tool })
    }
}

impl std::fmt::Debug for Gates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.gates.iter().map(|gate| gate.id())).finish()
    }
}

/// Runs a gate. A gate that panics denies.
fn guarded(gate: &dyn Gate, call: &Admitted, scene: &Scene<'_>) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| gate.judge(call, scene))).unwrap_or_else(|_| {
        Verdict::Deny(Reason {
            gate: gate.id(),
            code: "gate_failed",
            message: format!("the gate `{}` failed, so the call is denied", gate.id()),
            matched: None,
            help: None,
        })
    })
}

impl GatesBuilder {
    /// Sets the shell policy. Its blocklist may be replaced while calls are judged.
    #[must_use]
    pub fn shell(mut self, policy: ShellPolicyHandle) -> Self {
        self.shell = policy;
        self
    }

    /// Sets what happens to calls that may change what controls the agent.
    #[must_use]
    pub fn protected(mut self, settings: ProtectedSettings) -> Self {
        self.protected = settings;
        self
    }

    /// Sets how many calls a session may make; `None` means no limit.
    #[must_use]
    pub fn quota(mut self, limit: Option<u64>) -> Self {
        self.quota = limit;
        self
    }

    /// Sets the operator's rules.
    #[must_use]
    pub fn policy(mut self, settings: PolicySettings) -> Self {
        self.policy = settings;
        self
    }

    /// Sets which tools have to come first.
    #[must_use]
    pub fn dependencies(mut self, settings: ToolDependencyGraph) -> Self {
        self.dependencies = settings;
        self
    }

    /// Sets the trust that each tool needs.
    #[must_use]
    pub fn trust(mut self, settings: TrustSettings) -> Self {
        self.trust = settings;
        self
    }

    /// Sets what a person has to agree to.
    #[must_use]
    pub fn permissions(mut self, settings: PermissionSettings) -> Self {
        self.permissions = settings;
        self
    }

    /// Sets which calls are worth their cost.
    #[must_use]
    pub fn utility(mut self, settings: UtilitySettings) -> Self {
        self.utility = settings;
        self
    }

    /// Sets the calls that a model is asked about.
    #[must_use]
    pub fn adversarial(mut self, settings: AdversarialSettings) -> Self {
        self.adversarial = settings;
        self
    }

    /// Declares that there is a model that is asked after these gates have judged.
    #[must_use]
    pub fn with_judge(mut self) -> Self {
        self.judged = true;
        self
    }

    /// Declares that a host executes the calls: what its tools and commands would send is checked,
    /// too.
    #[must_use]
    pub fn for_host(mut self) -> Self {
        self.hosted = true;
        self
    }

    /// Sets the executor that is asked whether a call requires confirmation.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn ErasedToolExecutor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Adds a gate after the declared ones. It can only restrict further.
    #[must_use]
    pub fn gate(mut self, gate: impl Gate + 'static) -> Self {
        self.more.push(Box::new(gate));
        self
    }

    /// Builds the gates, in the declared order.
    #[must_use]
    pub fn build(self) -> Gates {
        let permissions = self.permissions.clone();
        let permission = permission::Permission {
            settings: self.permissions,
            executor: self.executor,
            shell: self.shell.clone(),
        };
        let policy_shell = self.shell.clone();
        let protected =
            protected::Protected { settings: self.protected, shell: self.shell.clone() };
        let trust = trust::Trust { settings: self.trust, shell: self.shell.clone() };
        let secrets = secrets::Secrets { hosted: self.hosted, shell: self.shell.clone() };
        let mut gates: Vec<Box<dyn Gate>> = vec![
            Box::new(blocklist::BlocklistGate { shell: self.shell, permissions }),
            Box::new(protected),
            Box::new(quota::Quota { limit: self.quota }),
            Box::new(policy::Policy { settings: self.policy, shell: policy_shell }),
            Box::new(dependency::Dependency { settings: self.dependencies }),
            Box::new(trust),
            Box::new(permission),
            Box::new(secrets),
            Box::new(utility::Utility { settings: self.utility }),
            Box::new(adversarial::Adversarial { settings: self.adversarial, judged: self.judged }),
        ];
        debug_assert!(gates.iter().map(|gate| gate.id()).eq(ORDER));
        gates.extend(self.more);
        Gates { gates }
    }
}

impl GuardSettings {
    /// The gates with these settings, for every surface and for explaining what the gates would
    /// decide.
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use counterfoil_admission::{Issue, IssueSeverity};
    use counterfoil_ledger::{Phase, Requested, TrustLevel};
    use counterfoil_model::{Arguments, Code};
    use serde_json::json;

    use super::*;

    /// What admission suspects (unknown paths, values without a source) travels with the call as
    /// warnings; the call is judged the same with and without them.
    #[test]
    fn suspicion_never_blocks() {
        let arguments = json!({ "path": "/no/such/file", "to": "nobody@example.com" });
        let call = ToolCall {
            id: "c1".to_owned(),
            tool: "send".to_owned(),
            arguments: Arguments::from(&arguments),
            line: 0,
        };
        let suspicion = |code: &'static str| Issue {
            code: Code(code),
            severity: IssueSeverity::Warn,
            message: "nobody has heard of it".to_owned(),
            tool: "send".to_owned(),
            parameter: "/path".to_owned(),
            expected: None,
            actual: None,
        };
        let suspicions = vec![suspicion("UNGROUNDED_PATH"), suspicion("UNGROUNDED_VALUE")];
        let admitted = |issues: Vec<Issue>| {
            let report = CallReport {
                tool: "send".to_owned(),
                resolved_name: None,
                issues,
                arguments: Some(arguments.clone().into()),
                corrected_arguments: None,
            };
            Admitted::new(call.clone(), Tool::named("send"), report).unwrap()
        };
        let (environment, nothing) = (BTreeMap::new(), BTreeSet::new());
        let scene = Scene {
            session: "s1",
            phase: Phase::Executor,
            trust: TrustLevel::Provisional,
            caller: None,
            model: None,
            requested: Requested::ByModel,
            workspace: Path::new("/project"),
            environment: &environment,
            calls_made: 0,
            completed: &nothing,
            tools: &nothing,
            mentioned: &nothing,
            recent: &[],
            claim_source: None,
            trace: None,
            tainted_by: None,
            now: 0,
        };
        let gates = Gates::builder().build();
        let suspected = admitted(suspicions);
        assert_eq!(suspected.report().warnings().count(), 2);
        let judged = gates.judge(&suspected, &scene);
        assert_eq!(judged, gates.judge(&admitted(Vec::new()), &scene));
        assert_eq!(judged, Judged::Allowed { matched: Vec::new() });
    }
}
