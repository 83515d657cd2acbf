//! Decides when a claim about a check is disproved: the session's typed facts must agree with the
//! reading of the prose.

use counterfoil_model::Family;
use counterfoil_record::{Check, CheckKind, Facts, Line, LineKind, Run, RunEnd, RunKind};

use super::extract::OutcomeClaim;
use crate::facts::Facts as Session;
use crate::prose::sets;

/// Whether the run at an index of the record is the latest of its kind, failed, and nothing that it
/// checks was changed after it, so that nothing after it counts as another run.
pub(crate) fn failed_last(facts: &Session<'_>, said: &OutcomeClaim, at: usize) -> bool {
    let Some((execution, _)) = facts.deed(at) else { return false };
    let id = execution.call.map_or("", |call| call.id.as_str());
    let typed = facts.typed_before(said.claim.turn);
    let checks = typed.checks();
    let own = |check: &&Check<'_>| typed.call(check.call).is_some_and(|call| call.id == id);
    let failed = |check: &Check<'_>| {
        let latest = checks.iter().rfind(|other| other.kind == check.kind);
        let is_latest = latest.is_some_and(|latest| latest.call == check.call);
        is_latest
            && check.run.end == RunEnd::Failed
            && !check.is_stale()
            && !is_named_later(&typed, &checks, check)
    };
    checks.iter().filter(own).any(failed)
}

/// Whether the session has no run of this kind of check, and nothing that may have been one.
pub(crate) fn never_run(facts: &Session<'_>, said: &OutcomeClaim) -> bool {
    let kinds: &[CheckKind] = match said.family {
        Family::Test => &[CheckKind::Tests],
        Family::Build => &[CheckKind::Build],
        Family::Lint => &[CheckKind::Lint, CheckKind::Types],
        _ => return false,
    };
    // "Tested: …" may mean a manual test.
    if said.check.as_deref().is_some_and(|check| check.ends_with("ed")) {
        return false;
    }
    let typed = facts.typed_before(said.claim.turn);
    // Only the words of an unknown program show what it is. A program of the project may be
    // anything.
    let may_check = |command: &str| {
        command.starts_with("./") || sets::MAY_CHECK.list.iter().any(|word| command.contains(word))
    };
    let may_be = |run: &Run| match run.kind {
        RunKind::Check(kind) => kinds.contains(&kind),
        RunKind::Program => may_check(&run.command),
        _ => false,
    };
    !typed.runs().any(|(_, run)| may_be(&run))
}

/// Whether a later call contains the words of the run and is not a known check: it may have run the
/// same check inside something unknown.
fn is_named_later(typed: &Facts<'_>, checks: &[Check<'_>], failed: &Check<'_>) -> bool {
    let words = failed.run.command.split_whitespace().filter(|word| !word.starts_with('-')).take(2);
    let words: Vec<&str> =
        words.filter(|word| word.len() > 3 && !LAUNCHERS.contains(word)).collect();
    let later = typed
        .lines()
        .iter()
        .filter(|line| line.label.kind == LineKind::Call && line.label.number > failed.call);
    let known = |at: usize| checks.iter().any(|check| check.call == at);
    let names = |line: &Line<'_>| words.iter().all(|word| line.text.contains(word));
    !words.is_empty() && later.filter(|line| names(line)).any(|line| !known(line.label.number))
}

/// Programs that start programs of any kind.
const LAUNCHERS: [&str; 3] = ["python", "python3", "node"];
