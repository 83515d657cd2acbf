//! Claims about checks: "all tests pass", "the build is green", "lint is clean".

mod beside;
mod by_run;
mod command;
mod extract;
mod fewer;
mod judge;
mod latest;
mod layer;
mod proof;
mod runner;
mod supposed;
mod trouble;
mod unseen;
mod verdict;

pub(crate) use by_run::OutcomeVerdict;
pub(crate) use extract::OutcomeClaim;
pub(crate) use judge::outcomes;
pub(crate) use proof::{failed_last, never_run, shows_all};
