use counterfoil_ledger::Requested;
use counterfoil_tools::{Scene, may_write};

use crate::admitted::Admitted;
use crate::gate::utility::UtilitySettings;
use crate::gate::{Gate, GateId, Reason, Verdict};

pub(super) const ID: GateId = GateId("utility");

/// Denies calls of read-only tools that are not worth their cost.
pub(super) struct Utility {
    pub(super) settings: UtilitySettings,
}

impl Gate for Utility {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict {
        let tool = call.tool();
        let allow = |why: &str| Verdict::Allow { matched: Some(format!("tools.utility: {why}")) };
        if !self.settings.enabled() {
            return Verdict::Allow { matched: None };
        }
        if scene.requested == Requested::ByUser {
            return allow("requested by the user");
        }
        // "please use read_file"
        if scene.mentioned.contains(&tool.name) {
            return allow("named by the user");
        }
        if self.settings.exempts(&tool.name) {
            return allow("exempt");
        }
        // INVARIANT: a call that may have an effect is never skipped because of a score alone.
        if may_write(tool) {
            return Verdict::Allow { matched: None };
        }
        let deny = |code, message, help: &str| {
            let matched = Some("tools.utility.threshold".to_owned());
            Verdict::Deny(Reason { gate: ID, code, message, matched, help: Some(help.to_owned()) })
        };
        match self.settings.scorer().score(call, scene) {
            Ok(score) if score.total >= self.settings.threshold() => {
                Verdict::Allow { matched: None }
            }
            Ok(score) => {
                let like = score.like.map(|id| format!(", and it resembles the call `{id}`"));
                let like = like.unwrap_or_default();
                let message = format!(
                    "the call was skipped: its score {:.2} is below the threshold {:.2}{like}",
                    score.total,
                    self.settings.threshold()
                );
                let help = "use what is already known, or request something else";
                deny("utility_skipped", message, help)
            }
            Err(error) => deny("utility_unknown", error.to_string(), "choose another approach"),
        }
    }
}
