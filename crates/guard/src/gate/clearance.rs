use std::sync::Arc;

use counterfoil_model::PermitBasis;
use counterfoil_tools::Progress;

use super::approvals::Agreed;
use super::permit::{AnyPermit, ByApproval, ByPolicy, Permit};
use super::verdict::{GateId, Judged, Question, in_words};
use crate::admitted::Admitted;
use crate::permitted::Permitted;

/// The gates' permission for one call. It is worth nothing by itself: only the guard turns it into
/// permits, one for each attempt, once the intent is recorded in the ledger.
///
/// Only [`Gates::decide`](super::Gates::decide) creates one; it cannot be copied.
#[derive(Debug)]
pub struct Clearance {
    call: Arc<Admitted>,
    ground: Ground,
}

#[derive(Debug)]
enum Ground {
    /// The gates that allow the call, each with its rule.
    Policy(Vec<(GateId, String)>),
    /// A person's agreement, and the rules that ask for it.
    Approval(Agreed, Vec<String>),
}

impl Clearance {
    pub(super) fn by_policy(call: &Arc<Admitted>, matched: Vec<(GateId, String)>) -> Self {
        Self { call: Arc::clone(call), ground: Ground::Policy(matched) }
    }

    pub(super) fn by_approval(
        call: &Arc<Admitted>,
        agreed: Agreed,
        questions: &[Question],
    ) -> Self {
        let ground = Ground::Approval(agreed, Question::rules(questions));
        Self { call: Arc::clone(call), ground }
    }

    /// The cleared call.
    #[must_use]
    pub fn call(&self) -> &Arc<Admitted> {
        &self.call
    }

    /// The basis of the permission, for the receipt.
    #[must_use]
    pub fn basis(&self) -> PermitBasis {
        match &self.ground {
            Ground::Policy(matched) => PermitBasis::Policy { rules: rules(matched) },
            Ground::Approval(agreed, _) => agreed.basis(),
        }
    }

    /// What permits the call, for its receipt.
    pub(crate) fn permitted(&self) -> Permitted {
        let rules = match &self.ground {
            Ground::Policy(_) => Vec::new(),
            Ground::Approval(_, rules) => rules.clone(),
        };
        Permitted { basis: self.basis(), rules }
    }

    /// The decision, and what permits a call that its host performs with permissions of its own.
    pub(crate) fn for_host(self, host: PermitBasis) -> (Judged, Permitted) {
        match self.ground {
            Ground::Policy(matched) => {
                let permitted = Permitted { basis: host, rules: rules(&matched) };
                (Judged::Allowed { matched }, permitted)
            }
            Ground::Approval(agreed, rules) => {
                let permitted = Permitted { basis: agreed.basis(), rules };
                (Judged::Allowed { matched: vec![(GateId("approval"), agreed.by)] }, permitted)
            }
        }
    }

    /// Creates the permit for one attempt at the execution that is open in the ledger under this
    /// id. `attempt` starts at 1.
    pub(crate) fn permit(
        &self,
        execution_id: &str,
        attempt: u32,
        progress: &Progress,
    ) -> AnyPermit {
        let (call, progress) = (Arc::clone(&self.call), progress.clone());
        match &self.ground {
            Ground::Policy(matched) => {
                let basis = ByPolicy { matched: rules(matched) };
                AnyPermit::ByPolicy(Permit::new(call, (execution_id, attempt), basis, progress))
            }
            Ground::Approval(agreed, _) => {
                let basis = ByApproval { by: agreed.by.clone() };
                AnyPermit::ByApproval(Permit::new(call, (execution_id, attempt), basis, progress))
            }
        }
    }
}

fn rules(matched: &[(GateId, String)]) -> Vec<String> {
    matched.iter().map(|(gate, rule)| in_words(*gate, rule)).collect()
}

#[cfg(test)]
mod tests {
    use counterfoil_model::Tool;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_permit_is_for_the_call_the_execution_and_the_attempt() {
        let call = Arc::new(Admitted::for_tests(Tool::named("read"), json!({})));
        let rules = vec![(GateId("policy"), "reading".to_owned())];
        let AnyPermit::ByPolicy(permit) =
            Clearance::by_policy(&call, rules).permit("ex_1", 2, &Progress::default())
        else {
            panic!("not by policy")
        };
        let permitted = (permit.call().digest(), permit.execution_id(), permit.attempt());
        assert_eq!(permitted, (call.digest(), "ex_1", 2));
        assert_eq!(permit.basis().matched, ["policy: reading"]);
        let agreed = Agreed { by: "ada".to_owned(), reason: None, uses: None };
        let clearance = Clearance::by_approval(&call, agreed, &[]);
        let AnyPermit::ByApproval(permit) = clearance.permit("ex_1", 1, &Progress::default())
        else {
            panic!("not by approval")
        };
        assert_eq!(permit.basis().by, "ada");
    }
}
