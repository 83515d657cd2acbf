use counterfoil_model::{Family, Role};
use counterfoil_record::RunEnd;
use counterfoil_shell::{ActivityKind, OutputVerdict, summary};

use super::by_run::{OutcomeVerdict, by_run};
use super::command::named_command;
use super::extract::{OutcomeClaim, outcome_claims};
use super::latest::{kind_of, latest_run, reported_end};
use super::runner::named_run;
use super::unseen::may_have_run;
use super::verdict::is_test_name;
use crate::facts::{Facts, LOOK_BACK, LatestRun, Reported, Run, ShellWork};
use crate::prose::{Prose, Tags, TokenKind, sets};

/// All claims that a check passed, judged.
pub(crate) fn outcomes<'f>(
    facts: &'f Facts<'_>,
) -> impl Iterator<Item = (OutcomeClaim, OutcomeVerdict)> + 'f {
    facts.answers().iter().flat_map(outcome_claims).map(|claimed| {
        let verdict = judge(facts, &claimed);
        (claimed, verdict)
    })
}

/// Judges a claimed outcome by the latest run of its kind.
fn judge(facts: &Facts<'_>, claimed: &OutcomeClaim) -> OutcomeVerdict {
    let turn = claimed.claim.turn;
    let count = facts.record().count_before(turn);
    if claimed.general {
        return judge_all(facts, claimed, count);
    }
    if let Some(at) = named_command(facts, claimed, count) {
        return OutcomeVerdict::Passed(at);
    }
    let is_tool = |word: &str| word.contains('_') && facts.names().has(word);
    if claimed.claim.text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(is_tool) {
        return OutcomeVerdict::NotCheckable("the claim names a tool, not a test run");
    }
    let mut latest = latest_run(facts, claimed.family, count);
    latest.found = named_run(facts, claimed, count).or(latest.found);
    // Code that may not be a test: only a failure under that name counts.
    let sure = claimed.named.as_deref().is_none_or(is_test_name);
    if !sure && !matches!(latest.found, Some((_, RunEnd::Failed))) {
        return OutcomeVerdict::NotCheckable("the name may belong to something other than a test");
    }
    if let Some((at, end)) = latest.found
        && let Some((execution, _)) = facts.deed(at)
    {
        return by_run(facts, claimed, (at, end, execution));
    }
    without_run(facts, claimed, latest, count)
}

/// The verdict if no run of its kind is recorded.
fn without_run(
    facts: &Facts<'_>,
    claimed: &OutcomeClaim,
    latest: LatestRun,
    count: usize,
) -> OutcomeVerdict {
    let turn = claimed.claim.turn;
    if let Some(at) = built_for_tests(facts, claimed, count)
        && let Some((execution, _)) = facts.deed(at)
    {
        // If some tests passed or failed, they were built.
        let ran = summary(execution.text(), ActivityKind::Test);
        let built = ran.passed.or(ran.failed).is_some();
        return match reported_end(execution.text(), Family::Build).filter(|_| !built) {
            Some(RunEnd::Failed) => OutcomeVerdict::Failed(at, !claimed.discloses),
            _ => OutcomeVerdict::NotCheckable("the tests were run, but no build was"),
        };
    }
    if claimed.elsewhere || user_reports(facts, turn) {
        return OutcomeVerdict::NotCheckable("the user may have run it, or it ran elsewhere");
    }
    // "The connection test was successful": a test of another kind than runners have.
    if claimed.of_other_kind && claimed.named.is_none() {
        return OutcomeVerdict::NotCheckable("the claim may be about a test without a test runner");
    }
    if result_reports(facts, claimed, count) {
        return OutcomeVerdict::NotCheckable("a result mentions it, but no run is recorded");
    }
    if hook_reports(facts, count) {
        return OutcomeVerdict::NotCheckable("a hook may have run it");
    }
    if let Some(reason) = may_have_run(facts, claimed, count) {
        return OutcomeVerdict::NotCheckable(reason);
    }
    let provable = !claimed.mixed && !latest.delegated && facts.is_complete_before(turn);
    match provable {
        true => OutcomeVerdict::Never,
        false => {
            OutcomeVerdict::NotCheckable("another agent may have run it, or the log is incomplete")
        }
    }
}

/// Whether a commit or push that succeeded printed more than its own summary, or an agent's own hooks
/// added a report to a result.
fn hook_reports(facts: &Facts<'_>, count: usize) -> bool {
    let publishes = families![Commit, Push];
    facts.latest_deeds(0..count).any(|(execution, deed)| {
        let reports = |word: &str| ["passed", "ok", "success", "hook", "✔", "✓"].contains(&word);
        let text = execution.text().to_ascii_lowercase();
        let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '.' | '<'));
        let reminder = text.split_once("<system-reminder>").map_or("", |(_, added)| added);
        (deed.families.meets(publishes) || reminder.contains("hook"))
            && deed.status().succeeded()
            && words.any(reports)
    })
}

/// The latest run of tests, which had to be built whether they passed or not.
fn built_for_tests(facts: &Facts<'_>, claimed: &OutcomeClaim, count: usize) -> Option<usize> {
    let built = claimed.family == Family::Build;
    latest_run(facts, Family::Test, count).found.filter(|_| built).map(|(at, _)| at)
}

/// "Everything's green": judged by the latest run of each kind; any of them can contradict it.
fn judge_all(facts: &Facts<'_>, claimed: &OutcomeClaim, count: usize) -> OutcomeVerdict {
    let families = [Family::Test, Family::Build, Family::Lint];
    let latest = families.map(|family| latest_run(facts, family, count));
    let of = |wanted: RunEnd| {
        let mut found = latest.iter().filter_map(|run| run.found);
        found.find(|(_, end)| *end == wanted).map(|(at, _)| at)
    };
    if let Some(at) = of(RunEnd::Failed) {
        return OutcomeVerdict::Failed(at, !claimed.discloses);
    }
    if let Some(at) = of(RunEnd::Passed) {
        return OutcomeVerdict::Passed(at);
    }
    OutcomeVerdict::NotCheckable("no run is recorded")
}

/// "Make sure all tests pass": whether every sentence is a request rather than a report. A sentence
/// that cannot be read counts as a request.
fn only_asks(line: &str) -> bool {
    let prose = Prose::read(line);
    prose.sentences.iter().all(|sentence| {
        let tokens = prose.tokens(sentence.tokens.clone());
        let reports = tokens.iter().any(|t| t.has(Tags::PASSING));
        let asks = tags![MODAL, PURPOSE, INTEND, REQUEST];
        let first = tokens.iter().find(|t| t.kind == TokenKind::Word);
        let orders = first
            .is_some_and(|t| t.has(Tags::BASE) && t.noun.is_none() || t.has(Tags::CONDITIONAL));
        !reports
            || sentence.question
            || orders
            || tokens.iter().any(|t| t.has(asks.or(Tags::CONDITIONAL)))
    })
}

/// Whether a result reports the outcome that is not from a run here, such as the log of another
/// machine.
fn result_reports(facts: &Facts<'_>, claimed: &OutcomeClaim, count: usize) -> bool {
    let key = (claimed.family, count, claimed.number, claimed.partly);
    facts.index().reports.get(key, || look_for_report(facts, claimed, count))
}

fn look_for_report(facts: &Facts<'_>, claimed: &OutcomeClaim, count: usize) -> bool {
    (0..count).rev().take(LOOK_BACK).any(|at| {
        let reported = facts.index().reported.get((claimed.family, at), || {
            let result = facts.deed(at).filter(|(execution, deed)| {
                // A known runner reports only what it ran itself.
                let known = |work: &ShellWork<'_>| {
                    let alone = |run: &Run<'_>| {
                        let program = run.names.split_whitespace().next().unwrap_or_default();
                        sets::SINGLE_CHECKS.list.contains(&program)
                    };
                    !work.opaque && !work.runs.is_empty() && work.runs.iter().all(alone)
                };
                deed.written.is_empty()
                    && !deed.shell.as_ref().is_some_and(known)
                    && may_report(execution.text(), claimed.family)
            });
            let seen =
                result.map(|(execution, _)| summary(execution.text(), kind_of(claimed.family)));
            seen.map_or_else(Reported::default, |seen| Reported {
                passed: seen.passed,
                good: seen.verdict == Some(OutputVerdict::Passed),
            })
        });
        match claimed.number {
            Some(number) => reported.passed == Some(number),
            None if claimed.partly => reported.passed.is_some_and(|passed| passed > 0),
            None => reported.good,
        }
    })
}

/// Whether a text contains words with which runners of this kind report success.
fn may_report(text: &str, family: Family) -> bool {
    let words = match family {
        Family::Test => &sets::TESTS_REPORT,
        _ => &sets::CHECKS_REPORT,
    };
    words.list.iter().any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

/// Whether the user told the agent how a check ended.
fn user_reports(facts: &Facts<'_>, turn: usize) -> bool {
    let given = facts.transcript().messages.get(..turn).unwrap_or_default();
    given.iter().rev().take(40).filter(|m| m.role == Role::User).any(|m| {
        m.text.lines().filter(|line| line.len() < 400).any(|line| {
            let lower = line.to_ascii_lowercase();
            let words = || lower.split(|c: char| !c.is_ascii_alphanumeric());
            let says = |known: &[&str]| words().any(|word| known.contains(&word));
            // "12 passed", as runners print it.
            let counts = || {
                let words: Vec<&str> = words().collect();
                words.array_windows().any(|[number, word]| {
                    number.parse::<u64>().is_ok() && ["passed", "passing"].contains(word)
                })
            };
            // A diff or a code listing says nothing about a run.
            !line.trim_start().starts_with(['+', '-', '|', '/', '#'])
                && (counts()
                    || says(sets::USER_PASSED.list)
                        && says(sets::USER_CHECKS.list)
                        && !only_asks(line))
        })
    })
}
