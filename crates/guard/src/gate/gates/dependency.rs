use counterfoil_tools::Scene;

use crate::admitted::Admitted;
use crate::gate::dependency::{ToolDependencyGraph, Turn};
use crate::gate::{Gate, GateId, Reason, Verdict};

pub(super) const ID: GateId = GateId("dependency");

/// Denies tools whose prerequisites have not succeeded. The same function decides which tools are
/// offered.
pub(super) struct Dependency {
    pub(super) settings: ToolDependencyGraph,
}

impl Gate for Dependency {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict {
        let tool = call.tool().name.as_str();
        let missing = self.settings.missing(tool, &Turn::new(scene));
        if missing.is_empty() {
            return Verdict::Allow { matched: None };
        }
        let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        let have = if names.len() == 1 { "has" } else { "have" };
        Verdict::Deny(Reason {
            gate: ID,
            code: "dependency_unmet",
            message: format!(
                "`{tool}` can only be used after {} {have} succeeded",
                names.join(" and ")
            ),
            matched: Some(format!("tools.dependencies.rules.{tool}")),
            help: Some(format!("call {} first", names.join(", then "))),
        })
    }
}
