//! Decides what may happen. Each gate has its own file in `gates/` and one line in the table there,
//! in the order in which they judge. Their settings are in the files here.

mod adversarial;
mod approvals;
mod clearance;
mod dependency;
mod gates;
mod idle;
mod mentioned;
mod names;
mod path_forms;
mod permission;
mod permit;
mod policy;
mod protected;
mod targets;
mod trust;
mod utility;
mod verdict;

use counterfoil_tools::Scene;

use crate::admitted::Admitted;

pub(crate) use adversarial::AdversarialDecision;
pub use adversarial::{AdversarialOptions, AdversarialOptionsError, AdversarialSettings};
pub use approvals::Approvals;
pub use clearance::Clearance;
pub use dependency::{
    Available, DependencyOptions, DependencyOptionsError, ToolDependency, ToolDependencyGraph,
    Turn, available,
};
pub use gates::{Decision, Gates, GatesBuilder, ORDER, RehearseError};
pub use idle::IdleRule;
pub use permission::{
    Action, PermissionOptions, PermissionOptionsError, PermissionRule, PermissionSettings,
};
pub use permit::{AnyPermit, Basis, ByApproval, ByPolicy, Permit};
pub use policy::{
    AuthorizationOptions, Effect, ExampleCall, PolicyError, PolicyOptions, PolicyRule,
    PolicySettings,
};
pub use protected::{ProtectedOptions, ProtectedOptionsError, ProtectedSettings};
pub use trust::{Below, TrustOptions, TrustOptionsError, TrustSettings};
pub(crate) use utility::words;
pub use utility::{
    GainEstimator, UtilityError, UtilityOptions, UtilityOptionsError, UtilityScore, UtilityScorer,
    UtilitySettings,
};
pub(crate) use verdict::CANCELLED;
pub use verdict::{GateId, Judged, Question, Reason, Stake, Verdict, combine};

/// Judges one admitted call. It is synchronous and cannot fail: an internal error is a denial.
///
/// No default bodies: a wrapper that inherits a permissive default would be a hole.
pub trait Gate: Send + Sync {
    /// Its name in reasons, receipts and the audit log.
    fn id(&self) -> GateId;
    /// Whether the call may happen.
    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict;
}
