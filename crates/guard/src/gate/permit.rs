use std::sync::Arc;

use counterfoil_tools::Progress;

use crate::admitted::Admitted;

/// The right to execute one admitted call whose intent is recorded in the ledger. Using it spends
/// it.
///
/// Only this module creates permits: the fields are private, and a permit cannot be copied.
#[derive(Debug)]
pub struct Permit<B: Basis> {
    call: Arc<Admitted>,
    execution_id: String,
    attempt: u32,
    basis: B,
    progress: Progress,
}

/// What a permit is based on.
pub trait Basis: sealed::Sealed + Send + Sync + 'static {}

/// Every gate allowed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByPolicy {
    pub(super) matched: Vec<String>,
}

/// A person agreed to exactly this call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByApproval {
    pub(super) by: String,
}

impl Basis for ByPolicy {}
impl Basis for ByApproval {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ByPolicy {}
    impl Sealed for super::ByApproval {}
}

/// A permit on either basis.
#[derive(Debug)]
pub enum AnyPermit {
    /// For `execute_tool_call`.
    ByPolicy(Permit<ByPolicy>),
    /// For `execute_tool_call_confirmed`.
    ByApproval(Permit<ByApproval>),
}

impl<B: Basis> Permit<B> {
    /// Only a clearance may call this.
    pub(super) fn new(
        call: Arc<Admitted>,
        (execution_id, attempt): (&str, u32),
        basis: B,
        progress: Progress,
    ) -> Self {
        Self { call, execution_id: execution_id.to_owned(), attempt, basis, progress }
    }

    /// The call that may run.
    #[must_use]
    pub fn call(&self) -> &Admitted {
        &self.call
    }

    /// The id of the execution in the ledger.
    #[must_use]
    pub fn execution_id(&self) -> &str {
        &self.execution_id
    }

    /// The number of the attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Lets the tool report its progress.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The basis of the permit.
    #[must_use]
    pub fn basis(&self) -> &B {
        &self.basis
    }
}

// A dependent crate cannot enable this: only the workspace's own `.cargo/config.toml` sets the
// variable.
#[cfg(feature = "permits-for-tests")]
const _: () = assert!(
    option_env!("WORKSPACE_OF_COUNTERFOIL").is_some(),
    "permits-for-tests may only be enabled for the tests of counterfoil-guard"
);

/// Creates permits without gates, for tests of executors. Never enabled in a production build.
#[cfg(any(test, feature = "permits-for-tests"))]
impl Permit<ByPolicy> {
    /// A permit for a call that no gate judged and no ledger records.
    #[must_use]
    pub fn for_tests(call: Admitted, execution_id: &str) -> Self {
        let basis = ByPolicy { matched: Vec::new() };
        Self::new(Arc::new(call), (execution_id, 1), basis, Progress::default())
    }
}

#[cfg(any(test, feature = "permits-for-tests"))]
impl Permit<ByApproval> {
    /// A permit as if a person had agreed.
    #[must_use]
    pub fn for_tests(call: Admitted, execution_id: &str, by: &str) -> Self {
        let basis = ByApproval { by: by.to_owned() };
        Self::new(Arc::new(call), (execution_id, 1), basis, Progress::default())
    }
}
