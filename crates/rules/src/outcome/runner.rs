//! "mypy is clean", while another linter complains: a claim that names the runner is about that
//! run.

use std::sync::LazyLock;

use counterfoil_model::{Object, ObjectKind};
use counterfoil_record::RunEnd;

use super::extract::OutcomeClaim;
use crate::facts::{Facts, LOOK_BACK, Run, ShellWork};
use crate::prose::{Words, sets};
use crate::values::holds;

/// Topics of checks, with names of the programs that check them.
static TOPICS: [(&str, &LazyLock<Words>); 2] =
    [("format", &sets::FORMATTERS), ("typ", &sets::TYPE_CHECKERS)];

/// The latest run of exactly the check that a claim names, if there is one.
pub(super) fn named_run(
    facts: &Facts<'_>,
    claimed: &OutcomeClaim,
    count: usize,
) -> Option<(usize, RunEnd)> {
    if let Some(found) = run_of_object(facts, claimed, count) {
        return Some(found);
    }
    let check = claimed.check.as_deref()?;
    let of_family = |run: &&Run<'_>| run.family == claimed.family;
    // "`tsc --noEmit`: no errors"
    if check.contains(' ') {
        let found = latest(facts, count, |work| {
            let run = work.runs.iter().find(of_family)?;
            holds(&work.command, check).then(|| run.end())
        });
        return found.filter(has_ended);
    }
    let named = |run: &&Run<'_>| of_family(run) && is_called(&run.names, check);
    latest(facts, count, |work| work.runs.iter().find(named).map(Run::end))
}

/// The latest command line for which `test` returns how a run ended.
fn latest(
    facts: &Facts<'_>,
    count: usize,
    test: impl Fn(&ShellWork<'_>) -> Option<RunEnd>,
) -> Option<(usize, RunEnd)> {
    let recent = (0..count).rev().take(LOOK_BACK);
    recent.into_iter().find_map(|at| Some((at, test(facts.deed(at)?.1.shell.as_ref()?)?)))
}

/// "All tests in `tests/api.py` pass", "`cargo test parser` passes": the latest run whose command
/// contains those words.
fn run_of_object(
    facts: &Facts<'_>,
    claimed: &OutcomeClaim,
    count: usize,
) -> Option<(usize, RunEnd)> {
    let tells = |thing: &&Object| match thing.kind {
        // "The three `BillingTest` tests": a command may be filtered by this name.
        ObjectKind::Quote => thing.text.contains(' ') || names_tests(&thing.text),
        ObjectKind::Path => thing.text.contains('.'),
        _ => false,
    };
    let mut named = claimed.claim.objects.iter().filter(tells);
    let check =
        |o: &&Object| claimed.check.as_deref().is_some_and(|c| o.text.eq_ignore_ascii_case(c));
    let alone = named.next().filter(|_| named.next().is_none());
    let thing = claimed.claim.objects.iter().filter(tells).find(check).or(alone)?;
    let found = latest(facts, count, |work| {
        // `terraform -chdir=infra validate`, for "`terraform validate`"
        let named = |run: &&Run<'_>| {
            let all = work.command.contains(&thing.text);
            let quoted = thing.kind == ObjectKind::Quote && run.names.ends_with(&thing.text);
            run.family == claimed.family && (all || quoted)
        };
        work.runs.iter().find(named).map(Run::end)
    });
    found.filter(has_ended)
}

/// `BillingTest`, `CartSpec`: a class of tests.
fn names_tests(text: &str) -> bool {
    let ends = ["Test", "Tests", "Spec", "IT"].iter().any(|end| text.ends_with(end));
    ends && text.len() > 6 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// How a background run ended is reported elsewhere.
fn has_ended((_, end): &(usize, RunEnd)) -> bool {
    matches!(end, RunEnd::Passed | RunEnd::Failed)
}

/// Whether a run has this name, or checks the named topic.
fn is_called(names: &str, check: &str) -> bool {
    let apart = |c: char| !c.is_alphanumeric();
    let has = |wanted: &str| names.split(apart).any(|name| name == wanted);
    let topic = TOPICS.iter().find(|(stem, _)| check.starts_with(stem));
    let mut words =
        check.split(apart).filter(|word| word.len() > 2 && !sets::COMMON_NAMES.list.contains(word));
    match topic {
        Some((_, programs)) => programs.list.iter().any(|program| has(program)),
        None => words.next().is_some_and(has) && words.all(has),
    }
}
