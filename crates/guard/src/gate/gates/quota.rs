use counterfoil_tools::Scene;

use crate::admitted::Admitted;
use crate::gate::{Gate, GateId, Reason, Verdict};

pub(super) const ID: GateId = GateId("quota");

/// Limits how many calls a session may make. First attempts count. The ledger counts them again
/// when the intent is recorded, so that a batch cannot overshoot.
pub(super) struct Quota {
    pub(super) limit: Option<u64>,
}

impl Gate for Quota {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, _: &Admitted, scene: &Scene<'_>) -> Verdict {
        match self.limit {
            Some(limit) if scene.calls_made >= limit => Verdict::Deny(Reason {
                gate: ID,
                code: "quota_blocked",
                message: format!(
                    "this session has made {} of its {limit} allowed calls",
                    scene.calls_made
                ),
                matched: Some("tools.max_tool_calls_per_session".to_owned()),
                help: Some("answer with what is known; no further call will run".to_owned()),
            }),
            _ => Verdict::Allow { matched: None },
        }
    }
}
