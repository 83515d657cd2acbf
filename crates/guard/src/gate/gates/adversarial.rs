use counterfoil_tools::Scene;

use crate::admitted::Admitted;
use crate::gate::adversarial::{AdversarialDecision, AdversarialSettings};
use crate::gate::{Gate, GateId, Reason, Verdict};

pub(super) const ID: GateId = GateId("adversarial");

/// Policies in plain language that a separate model judges. This is the most expensive gate, and no
/// other gate could loosen what it denies, so the model is asked afterwards and only if no gate
/// denied. This gate decides what can be decided without the model.
pub(super) struct Adversarial {
    pub(super) settings: AdversarialSettings,
    /// Whether there is a model to ask.
    pub(super) judged: bool,
}

impl Gate for Adversarial {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict {
        if !self.settings.concerns(call, scene) {
            return Verdict::Allow { matched: None };
        }
        let allow = |why: &str| Verdict::Allow {
            matched: Some(format!("tools.adversarial_policy: {why}")),
        };
        if self.judged {
            return allow("the model is asked");
        }
        match self.settings.without_judge() {
            AdversarialDecision::Allowed | AdversarialDecision::FailedOpen => allow("fail_open"),
            AdversarialDecision::Denied | AdversarialDecision::Unanswered => {
                Verdict::Deny(Reason {
                    gate: ID,
                    code: "adversarial_unanswered",
                    message: "a model must judge this call, but none is configured".to_owned(),
                    matched: Some("tools.adversarial_policy.enabled".to_owned()),
                    help: Some("set `url` and `model` in `[tools.adversarial_policy]`".to_owned()),
                })
            }
        }
    }
}
