//! Calls that may have run a check, or looked up how it ended, although no run of it is recorded.

use counterfoil_model::Family;

use super::extract::OutcomeClaim;
use super::layer::is_layer;
use crate::facts::{Deed, Execution, Facts, LOOK_BACK, Run, ShellWork};
use crate::prose::{Action, Lexicon, Tags, sets};

/// The words between the name of a check and its state: `{"name": "lint", "status": "success"}`.
const APART: usize = 6;

/// Why the record cannot show that the check never ran, if it cannot.
pub(super) fn may_have_run(
    facts: &Facts<'_>,
    claimed: &OutcomeClaim,
    count: usize,
) -> Option<&'static str> {
    let family = claimed.family;
    let recent = (0..count).rev().take(LOOK_BACK);
    recent.into_iter().find_map(|at| {
        let (execution, deed) = facts.deed(at)?;
        if execution.outcome.is_some_and(|outcome| outcome.refused) {
            return None;
        }
        if deed.shell.as_ref().is_some_and(may_run_anything) {
            return Some("a command with unknown contents may have run it");
        }
        if deed.shell.is_none() && deed.status().succeeded() && is_named_for(deed, family) {
            return Some("another call may have run it");
        }
        let stated = || facts.index().stated.get((family, at), || states(execution, deed, family));
        stated().then_some("a result states it, but no run is recorded")
    })
}

/// Whether a command line started an unknown program, or a runner of tasks that the project
/// defines: `make`, `tox`, `mvn verify`.
fn may_run_anything(work: &ShellWork<'_>) -> bool {
    !work.not_found && (work.opaque || work.runs.iter().any(runs_tasks))
}

/// A task that is named for a linter runs no other check.
fn runs_tasks(run: &Run<'_>) -> bool {
    let single = |name: &str| {
        let noun = Lexicon::english().get(name).and_then(|entry| entry.noun);
        sets::SINGLE_CHECKS.list.contains(&name) || noun == Some(Family::Lint)
    };
    families![Test, Build].has(run.family) && !run.names.split_whitespace().any(single)
}

/// Whether the name of a tool has a word for the check, or for what it finds: `dbt_build`,
/// `xcodebuild`, `get_diagnostics`.
fn is_named_for(deed: &Deed<'_>, family: Family) -> bool {
    deed.words().iter().any(|word| {
        let entry = Lexicon::english().get(word);
        let names = |wanted| {
            entry.is_some_and(|e| e.noun == Some(wanted) || e.verb == Some(Action::Of(wanted)))
        };
        match family {
            // Who runs tests builds them.
            Family::Build => word.ends_with("build") || names(Family::Build) || names(Family::Test),
            Family::Test => word == "build" || names(Family::Test),
            _ => names(Family::Lint) || entry.is_some_and(|e| e.tags.any(Tags::TROUBLE)),
        }
    })
}

/// Whether a result says how a check of this kind ended: `✓ test in 1m31s`, `"lint": "passed"`. The
/// text of a file is no result.
fn states(execution: &Execution<'_>, deed: &Deed<'_>, family: Family) -> bool {
    let reads = deed.shell.is_none()
        && sets::WRITTEN_PATHS
            .list
            .iter()
            .any(|name| execution.arguments().contains(&format!("\"{name}\"")));
    if reads || !deed.written.is_empty() {
        return false;
    }
    let is_check = |word: &str| {
        let noun = Lexicon::english().get(&word.to_ascii_lowercase()).and_then(|e| e.noun);
        noun == Some(family) || family == Family::Test && is_layer(word)
    };
    let is_state = |word: &str| {
        let entry = Lexicon::english().get(&word.to_ascii_lowercase());
        entry.is_some_and(|e| e.tags.any(Tags::PASSING)) || word.starts_with(['✓', '✔', '✅'])
    };
    execution.text().lines().take(2000).any(|line| {
        let apart = |c: char| !(c.is_alphanumeric() || matches!(c, '✓' | '✔' | '✅' | '-' | '_'));
        let words: Vec<&str> = line.split(apart).filter(|word| !word.is_empty()).collect();
        words.iter().enumerate().any(|(at, word)| {
            let beside = words.get(at.saturating_sub(APART)..(at + APART + 1).min(words.len()));
            is_check(word) && beside.into_iter().flatten().any(|word| is_state(word))
        })
    })
}
