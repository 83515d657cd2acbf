use counterfoil_tools::Scene;

use crate::admitted::Admitted;
use crate::gate::adversarial::{AdversarialDecision, AdversarialSettings};
use crate::gate::{Gate, GateId, Reason, Verdict};

pub(super) const ID: GateId = GateId("adversarial");

/// Policies in plain language, which a separate model judges by. The dearest gate, and nothing
/// behind it could loosen what it denies: so the model itself is asked afterwards, and only if
/// no gate denied. What can be said without it is said here.
pub(super) struct Adversarial {
    pub(super) settings: AdversarialSettings,
    /// Whether there is somebody to ask.
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
                    message: "a model has to judge this call, and there is none".to_owned(),
                    matched: Some("tools.adversarial_policy.enabled".to_owned()),
                    help: Some("set `url` and `model` in `[tools.adversarial_policy]`".to_owned()),
                })
            }
        }
    }
}
