use counterfoil_tools::{Scene, ShellPolicyHandle};

use crate::admitted::Admitted;
use crate::gate::trust::{Below, TrustSettings};
use crate::gate::{Gate, GateId, Question, Reason, Verdict};

pub(super) const ID: GateId = GateId("trust");

/// Compares the least trusted source of the turn with the trust that the tool needs.
pub(super) struct Trust {
    pub(super) settings: TrustSettings,
    pub(super) shell: ShellPolicyHandle,
}

impl Gate for Trust {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict {
        let tool = call.tool();
        let (need, declared) = self.settings.need(tool);
        if scene.trust >= need || (!declared && self.only_reads(call)) {
            return Verdict::Allow { matched: None };
        }
        let (need, trust) = (need.name(), scene.trust.name());
        let since =
            scene.tainted_by.map(|by| format!(", because `{by}` returned untrusted content"));
        let since = since.unwrap_or_default();
        let why =
            format!("`{}` requires a {need} turn, but this turn is {trust}{since}", tool.name);
        match self.settings.below {
            Below::Ask => Verdict::Ask(Question::about(call, ID, why)),
            Below::Deny => Verdict::Deny(Reason {
                gate: ID,
                code: "trust_too_low",
                message: why,
                matched: declared.then(|| "tools.trust.needs".to_owned()),
                help: Some("try again in a turn without untrusted content".to_owned()),
            }),
        }
    }
}

impl Trust {
    /// Whether this is a shell command whose parts are all known to only read.
    fn only_reads(&self, call: &Admitted) -> bool {
        let policy = self.shell.load();
        policy
            .blocklist
            .command_in(call.into())
            .and_then(Result::ok)
            .is_some_and(|(command, _)| self.settings.only_reads(&command))
    }
}
