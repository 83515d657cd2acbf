//! The latest run of a kind of check, and how it ended.

use counterfoil_model::Family;
use counterfoil_record::{RunEnd, prints_itself};
use counterfoil_shell::{ActivityKind, OutputVerdict, stopped_elsewhere, summary};

use crate::facts::{Facts, LatestRun, Run};

/// The latest run among the first `count` executions. Claims come in order, so each search covers
/// only the executions since the last one.
pub(super) fn latest_run(facts: &Facts<'_>, family: Family, count: usize) -> LatestRun {
    let known = Some(facts.index().check(family)).filter(|known| known.upto <= count);
    let mut latest = known.unwrap_or_default();
    // A run while the changes were shelved says nothing about them.
    let mut without_changes = false;
    for at in (latest.upto..count).rev() {
        let Some((execution, deed)) = facts.deed(at) else { continue };
        let mut ends: Vec<RunEnd> = Vec::new();
        if let Some(work) = &deed.shell {
            let shelved = without_changes && work.shelves.is_none();
            without_changes = work.shelves.map_or(without_changes, |away| !away);
            if shelved {
                continue;
            }
            let runs = work.runs.iter().filter(|r| vouches(r.family, family) && !r.without_changes);
            // Failing tests usually were built.
            let tells = |r: &&Run<'_>| r.family == family || r.end() == RunEnd::Passed;
            ends.extend(runs.filter(tells).map(|r| r.end()));
            if ends.is_empty() && work.opaque && !work.not_found {
                // A script of the project may have run it, which its output shows. Output that
                // looks like a linter's findings may be a mere report if the command succeeded.
                let report = family == Family::Lint && deed.status().succeeded();
                let run_summary = summary(execution.text(), kind_of(family));
                let own = !prints_itself(&work.command, execution.text(), &run_summary);
                let reported = reported_end(execution.text(), family).filter(|_| own);
                ends.extend(reported.filter(|end| !report || *end != RunEnd::Failed));
            }
        } else if deed.families.has(family) {
            ends.push(reported_end(execution.text(), family).unwrap_or(
                match deed.status().succeeded() {
                    true => RunEnd::Passed,
                    false => RunEnd::Failed,
                },
            ));
        } else if deed.continues {
            ends.extend(reported_end(execution.text(), family));
        } else if deed.delegates {
            latest.delegated = true;
        }
        if let Some(end) = worst(&ends) {
            latest.found = Some((at, end));
            break;
        }
    }
    latest.upto = count;
    facts.index().keep_check(family, latest);
    latest
}

/// Whether a run of one kind supports a claim about another: tested code was compiled.
fn vouches(run: Family, claimed: Family) -> bool {
    run == claimed || (claimed == Family::Build && run == Family::Test)
}

/// The worst end of several runs in one command. A hidden one counts less than a visible one.
fn worst(ends: &[RunEnd]) -> Option<RunEnd> {
    [RunEnd::Failed, RunEnd::Empty, RunEnd::Unfinished, RunEnd::Passed, RunEnd::Unknown]
        .into_iter()
        .find(|end| ends.contains(end))
}

/// What an output says about a check, if it is in a runner's own format.
pub(super) fn reported_end(output: &str, family: Family) -> Option<RunEnd> {
    let run_summary = summary(output, kind_of(family));
    // A build that stopped in another task ran no tests.
    if family == Family::Test && run_summary.passed.is_none() && stopped_elsewhere(output) {
        return None;
    }
    match run_summary.verdict? {
        OutputVerdict::Passed => Some(RunEnd::Passed),
        OutputVerdict::Failed => Some(RunEnd::Failed),
    }
}

pub(super) fn kind_of(family: Family) -> ActivityKind {
    match family {
        Family::Test => ActivityKind::Test,
        Family::Lint => ActivityKind::Lint,
        _ => ActivityKind::Build,
    }
}
