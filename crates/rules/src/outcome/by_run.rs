//! What the latest run of its kind says of a claimed outcome.

use super::extract::OutcomeClaim;
use super::fewer::shows_less;
use super::judge::{
    OutcomeVerdict, built_for_tests, excludes, fails_apart, fails_by_name, has_passed,
    is_built_since, parts_pass, stands_apart, warns,
};
use super::layer::{is_of_other_layer, is_of_unknown_runner, is_unheard_test};
use super::runner::is_other_linter;
use crate::facts::{Execution, Facts, RunEnd};

/// What is to be said of the claim, by how that run ended.
pub(super) fn by_run(
    facts: &Facts<'_>,
    said: &OutcomeClaim,
    (at, end, execution): (usize, RunEnd, &Execution<'_>),
    count: usize,
) -> OutcomeVerdict {
    if matches!(end, RunEnd::Passed)
        && (is_of_other_layer(facts, said)
            || is_of_unknown_runner(facts, said)
            || is_other_linter(facts, said))
    {
        return OutcomeVerdict::Other(at);
    }
    if matches!(end, RunEnd::Passed) && is_unheard_test(facts, said) {
        return OutcomeVerdict::Unheard(at);
    }
    if said.ran {
        return OutcomeVerdict::Passed(at);
    }
    match end {
        RunEnd::Passed if said.unwarned && warns(execution, said.family) => {
            OutcomeVerdict::Warned(at)
        }
        RunEnd::Passed if shows_less(said, execution) => OutcomeVerdict::NotCheckable,
        RunEnd::Passed => OutcomeVerdict::Passed(at),
        RunEnd::Failed if has_passed(said, execution) => OutcomeVerdict::Passed(at),
        RunEnd::Failed if said.named.is_some() => match fails_by_name(said, execution) {
            true => OutcomeVerdict::Failed(at, !said.tabular),
            false => OutcomeVerdict::NotCheckable,
        },
        RunEnd::Failed if said.partly && said.discloses => OutcomeVerdict::NotCheckable,
        RunEnd::Failed if parts_pass(said, execution) => OutcomeVerdict::Passed(at),
        RunEnd::Failed if is_built_since(facts, said, at, count) => OutcomeVerdict::NotCheckable,
        RunEnd::Failed if said.partly && stands_apart(said, execution) => {
            OutcomeVerdict::NotCheckable
        }
        RunEnd::Failed => OutcomeVerdict::Failed(
            at,
            !said.discloses
                && !said.tabular
                && (fails_apart(said, execution) || (!said.narrowed && excludes(said, execution))),
        ),
        RunEnd::Empty => OutcomeVerdict::Empty(at),
        // What was tested was built.
        RunEnd::Unknown if built_for_tests(facts, said, count).is_some() => {
            OutcomeVerdict::NotCheckable
        }
        RunEnd::Unknown => OutcomeVerdict::Hidden(at),
        RunEnd::Running => OutcomeVerdict::Running(at),
    }
}
