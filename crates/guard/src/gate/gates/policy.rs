use counterfoil_tools::{Scene, ShellPolicyHandle};

use crate::admitted::Admitted;
use crate::gate::policy::{Facts, PolicySettings, Ruling};
use crate::gate::{Gate, GateId, Reason, Verdict};

pub(super) const ID: GateId = GateId("policy");

/// Applies the operator's rules: any denial wins, then an allowance, then the default.
pub(super) struct Policy {
    pub(super) settings: PolicySettings,
    pub(super) shell: ShellPolicyHandle,
}

impl Gate for Policy {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict {
        let deny = |message: String, matched: Option<String>| {
            let help = "choose another approach; only the operator can change the policy";
            let help = Some(help.to_owned());
            Verdict::Deny(Reason { gate: ID, code: "policy_denied", message, matched, help })
        };
        match self.settings.rule_on(&Facts::new(call, scene, &self.shell)) {
            Ruling::NotInForce => Verdict::Allow { matched: None },
            Ruling::Allowed { rule } => Verdict::Allow { matched: Some(rule.to_owned()) },
            Ruling::AllowedByDefault => {
                Verdict::Allow { matched: Some("default_effect".to_owned()) }
            }
            Ruling::Denied { rule, reason } => {
                let reason = reason.map_or_else(|| format!("denied by `{rule}`"), str::to_owned);
                deny(reason, Some(rule.to_owned()))
            }
            Ruling::DeniedByDefault => deny(
                format!("no rule allows `{}`, and the default is to deny", call.tool().name),
                Some("default_effect".to_owned()),
            ),
        }
    }
}
