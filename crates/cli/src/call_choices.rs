//! Values for the trust and the phase of a call.

use clap::ValueEnum;
use counterfoil_guard::{Phase, TrustLevel};

/// How far a call is trusted.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Trust {
    /// Untrusted content led to the call: only read-only calls run without approval
    Untrusted,
    /// There is no known reason to distrust the call
    Provisional,
    /// The operator wrote the call
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

/// The phase of an agent's cycle in which a call is made.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum When {
    /// Planning, before the model is called
    Planner,
    /// Requested by the model
    Executor,
    /// Verification after an execution
    Verifier,
    /// Started by the agent itself
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
