//! Claims about checks: "all tests pass", "the build is green", "lint is clean".

mod beside;
mod extract;
mod judge;
mod verdict;

pub(crate) use extract::{OutcomeClaim, outcome_claims};
pub(crate) use judge::{OutcomeVerdict, judge};
