//! Decides when a claim about a check is disproved: the session's typed facts must agree with the
//! reading of the prose.

use counterfoil_model::Family;
use counterfoil_record::{Check, CheckKind, Facts, Line, LineKind, Run, RunEnd, RunKind};

use super::extract::OutcomeClaim;
use crate::facts::{Facts as Session, Run as ShellRun};
use crate::prose::sets;

/// Whether the run at an index of the record is the latest of its kind, failed, and nothing that it
/// checks was changed after it, so that nothing after it counts as another run.
pub(crate) fn failed_last(facts: &Session<'_>, claimed: &OutcomeClaim, at: usize) -> bool {
    let Some((execution, _)) = facts.deed(at) else { return false };
    let id = execution.call.map_or("", |call| call.id.as_str());
    let typed = facts.typed_before(claimed.claim.turn);
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

/// Whether the run at an index of the record shows all that is claimed: nothing that it checks was
/// changed after it, it covered everything if the claim is about everything, and it was not the
/// first one if the claim says "again".
pub(crate) fn shows_all(facts: &Session<'_>, claimed: &OutcomeClaim, at: usize) -> bool {
    let Some((execution, deed)) = facts.deed(at) else { return false };
    let words: Vec<String> = claimed
        .claim
        .text
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_ascii_lowercase)
        .collect();
    let says = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let typed = facts.typed_before(claimed.claim.turn);
    let id = execution.call.map_or("", |call| call.id.as_str());
    let checks = typed.checks();
    let own = |check: &&Check<'_>| typed.call(check.call).is_some_and(|call| call.id == id);
    if !claimed.ran && checks.iter().filter(own).any(Check::is_stale) {
        return false;
    }
    let whole = claimed.general
        || says(&["full", "entire", "whole", "complete", "every", "everything"])
        || says(&["all"]) && claimed.number.is_none() && claimed.claim.objects.is_empty();
    let part = |run: &ShellRun<'_>| run.family == claimed.family && !run.whole;
    if whole && deed.shell.as_ref().is_some_and(|work| work.runs.iter().any(part)) {
        return false;
    }
    let again = claimed.ran && says(&["again", "reran", "rerun"]);
    !again || runs_before(facts, claimed.family, at)
}

/// Whether a check of this kind ran before the execution at an index.
fn runs_before(facts: &Session<'_>, family: Family, at: usize) -> bool {
    facts.latest_deeds(0..at).any(|(_, deed)| {
        deed.families.has(family)
            || deed.shell.as_ref().is_some_and(|work| work.runs.iter().any(|r| r.family == family))
    })
}

/// Whether the session has no run of this kind of check, and nothing that may have been one.
pub(crate) fn never_run(facts: &Session<'_>, claimed: &OutcomeClaim) -> bool {
    let kinds: &[CheckKind] = match claimed.family {
        Family::Test => &[CheckKind::Tests],
        // A type checker of a compiled language compiles: `tsc --noEmit`, `cargo check`.
        Family::Build => &[CheckKind::Build, CheckKind::Types],
        Family::Lint => &[CheckKind::Lint, CheckKind::Types],
        _ => return false,
    };
    // "Tested: …" may mean a manual test.
    if claimed.check.as_deref().is_some_and(|check| check.ends_with("ed")) {
        return false;
    }
    let typed = facts.typed_before(claimed.claim.turn);
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
