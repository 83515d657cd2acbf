//! Claims about checks: "all tests pass", "the build is green", "lint is clean".

mod beside;
mod by_run;
mod command;
mod dated;
mod except;
mod extract;
mod fewer;
mod judge;
mod layer;
mod proof;
mod repaired;
mod runner;
mod scope;
mod supposed;
mod trouble;
mod verdict;

pub(crate) use command::{failed_commands, unrun_commands};
pub(crate) use extract::{OutcomeClaim, outcome_claims};
pub(crate) use judge::{OutcomeVerdict, judge};
pub(crate) use proof::{failed_last, never_run};
pub(crate) use repaired::unrepaired;
pub(crate) use scope::{Parts, ScopeClaim, scope_claims};
