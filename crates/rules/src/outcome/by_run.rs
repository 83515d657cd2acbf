//! Judges a claimed outcome by the latest run of its kind.

use super::extract::OutcomeClaim;
use super::fewer::shows_less;
use super::judge::{OutcomeVerdict, excludes, fails_by_name, has_passed};
use super::layer::is_of_another_kind;
use crate::facts::{Execution, Facts, RunEnd};

/// The verdict on the claim, by how that run ended.
pub(super) fn by_run(
    facts: &Facts<'_>,
    said: &OutcomeClaim,
    (at, end, execution): (usize, RunEnd, &Execution<'_>),
) -> OutcomeVerdict {
    let other = || said.elsewhere || is_of_another_kind(facts, said, at);
    if matches!(end, RunEnd::Passed) && other() {
        return OutcomeVerdict::NotCheckable;
    }
    if said.ran {
        return OutcomeVerdict::Passed(at);
    }
    match end {
        // Warnings are not examined.
        RunEnd::Passed if said.unwarned => OutcomeVerdict::NotCheckable,
        RunEnd::Passed if shows_less(said, execution) => OutcomeVerdict::NotCheckable,
        RunEnd::Passed => OutcomeVerdict::Passed(at),
        RunEnd::Failed if has_passed(said, execution) => OutcomeVerdict::Passed(at),
        RunEnd::Failed if said.narrowed => OutcomeVerdict::NotCheckable,
        RunEnd::Failed if said.named.is_some() => match fails_by_name(said, execution) {
            true => OutcomeVerdict::Failed(at, true),
            false => OutcomeVerdict::NotCheckable,
        },
        RunEnd::Failed if said.partly && said.discloses => OutcomeVerdict::NotCheckable,
        RunEnd::Failed => OutcomeVerdict::Failed(at, !said.discloses && excludes(said, execution)),
        RunEnd::Empty | RunEnd::Unknown | RunEnd::Running => OutcomeVerdict::NotCheckable,
    }
}
