//! Words for whose call it is, and when.

use clap::ValueEnum;
use counterfoil_guard::{Phase, TrustLevel};

/// How far a call is trusted.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Trust {
    /// Strangers' content led to it: only what reads runs by itself
    Untrusted,
    /// Nothing speaks against it
    Provisional,
    /// The operator wrote it
    Trusted,
}

impl From<Trust> for TrustLevel {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::Untrusted => Self::Untrusted,
            Trust::Provisional => Self::Provisional,
            Trust::Trusted => Self::Trusted,
        }
    }
}

/// When in an agent's cycle a call is made.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum When {
    /// While a plan is made, before the model is asked
    Planner,
    /// The model asked for it
    Executor,
    /// A check after an execution
    Verifier,
    /// An operation that the agent began itself
    Autonomous,
}

impl From<When> for Phase {
    fn from(when: When) -> Self {
        match when {
            When::Planner => Self::Planner,
            When::Executor => Self::Executor,
            When::Verifier => Self::Verifier,
            When::Autonomous => Self::Autonomous,
        }
    }
}
