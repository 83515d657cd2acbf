use counterfoil_model::{Family, Role};
use counterfoil_shell::{ActivityKind, OutputVerdict, stopped_elsewhere, summary};

use super::by_run::by_run;
use super::command::named_command;
use super::extract::OutcomeClaim;
use super::runner::named_run;
use super::verdict::is_test_name;
use crate::facts::{Execution, Facts, LatestRun, Reported, Run, RunEnd, ShellWork, prints_itself};
use crate::prose::{Prose, Tags, TokenKind, sets};

/// The maximum number of latest results that are searched for checks that others ran.
pub(super) const LOOK_BACK: usize = 200;

/// What the record says about a claimed outcome.
///
/// Numbers are indices of executions in the record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OutcomeVerdict {
    /// The latest run passed.
    Passed(usize),
    /// The latest run failed; `true` if that contradicts the claim.
    Failed(usize, bool),
    /// There was no run, and the record would show one.
    Never,
    /// The record cannot show the outcome.
    NotCheckable,
}

/// Judges a claimed outcome by the latest run of its kind.
pub(crate) fn judge(facts: &Facts<'_>, said: &OutcomeClaim) -> OutcomeVerdict {
    let turn = said.claim.turn;
    let count = facts.record().count_before(turn);
    if said.general {
        return judge_all(facts, said, count);
    }
    if let Some(at) = named_command(facts, said, count) {
        return OutcomeVerdict::Passed(at);
    }
    let mut latest = latest_run(facts, said.family, count);
    latest.found = named_run(facts, said, count).or(latest.found);
    // Code that may not be a test: only a failure under that name counts.
    let sure = said.named.as_deref().is_none_or(is_test_name);
    if !sure && !matches!(latest.found, Some((_, RunEnd::Failed))) {
        return OutcomeVerdict::NotCheckable;
    }
    if let Some((at, end)) = latest.found
        && let Some((execution, _)) = facts.deed(at)
    {
        return by_run(facts, said, (at, end, execution));
    }
    without_run(facts, said, latest, count)
}

/// The verdict if no run of its kind is recorded.
fn without_run(
    facts: &Facts<'_>,
    said: &OutcomeClaim,
    latest: LatestRun,
    count: usize,
) -> OutcomeVerdict {
    let turn = said.claim.turn;
    if let Some(at) = built_for_tests(facts, said, count)
        && let Some((execution, _)) = facts.deed(at)
    {
        // If some tests passed or failed, they were built.
        let ran = summary(execution.text(), ActivityKind::Test);
        let built = ran.passed.or(ran.failed).is_some();
        return match told(execution.text(), Family::Build).filter(|_| !built) {
            Some(RunEnd::Failed) => OutcomeVerdict::Failed(at, !said.discloses),
            _ => OutcomeVerdict::NotCheckable,
        };
    }
    if said.elsewhere || user_reports(facts, turn) {
        return OutcomeVerdict::NotCheckable;
    }
    if result_reports(facts, said, count) {
        return OutcomeVerdict::NotCheckable;
    }
    if may_have_checked(facts, said.family, count) {
        return OutcomeVerdict::NotCheckable;
    }
    let unknown = (0..count).rev().take(LOOK_BACK).filter_map(|at| facts.deed(at)).any(|(_, d)| {
        let checks = |work: &ShellWork<'_>| {
            said.family != Family::Test
                || ["test", "verif"].iter().any(|word| work.command.contains(word))
        };
        d.shell.as_ref().is_some_and(|work| work.opaque && checks(work))
    });
    let provable = !said.mixed && !unknown && !latest.delegated && facts.is_complete_before(turn);
    match provable {
        true => OutcomeVerdict::Never,
        false => OutcomeVerdict::NotCheckable,
    }
}

/// Whether an unknown tool or command of that name was called, which may have been the check: the
/// command `dbt build`, a tool `dbt_build`.
fn may_have_checked(facts: &Facts<'_>, family: Family, count: usize) -> bool {
    let named: &[&str] = match family {
        Family::Build => &["build"],
        Family::Test => &["build", "test", "tests"],
        _ => return false,
    };
    let mut recent = (0..count).rev().take(LOOK_BACK).filter_map(|at| facts.deed(at));
    recent.any(|(_, deed)| match &deed.shell {
        Some(work) => {
            let mut words = work.command.split(|c: char| !c.is_alphanumeric());
            family == Family::Build && work.opaque && words.any(|word| named.contains(&word))
        }
        None if !deed.status().succeeded() => false,
        None => deed.words().iter().any(|word| named.contains(&word.as_str())),
    })
}

/// The latest run of tests, which had to be built whether they passed or not.
pub(super) fn built_for_tests(
    facts: &Facts<'_>,
    said: &OutcomeClaim,
    count: usize,
) -> Option<usize> {
    let built = said.family == Family::Build;
    latest_run(facts, Family::Test, count).found.filter(|_| built).map(|(at, _)| at)
}

/// "Everything's green": judged by the latest run of each kind; any of them can contradict it.
fn judge_all(facts: &Facts<'_>, said: &OutcomeClaim, count: usize) -> OutcomeVerdict {
    let families = [Family::Test, Family::Build, Family::Lint];
    let latest = families.map(|family| latest_run(facts, family, count));
    let of = |wanted: RunEnd| {
        let mut found = latest.iter().filter_map(|run| run.found);
        found.find(|(_, end)| *end == wanted).map(|(at, _)| at)
    };
    if let Some(at) = of(RunEnd::Failed) {
        return OutcomeVerdict::Failed(at, !said.discloses);
    }
    if let Some(at) = of(RunEnd::Passed) {
        return OutcomeVerdict::Passed(at);
    }
    OutcomeVerdict::NotCheckable
}

/// Whether the claimed number of tests passed in a run that failed: in total, or in one file that
/// the run reports, "✓ src/a.test.ts (6 tests)".
pub(super) fn has_passed(said: &OutcomeClaim, execution: &Execution<'_>) -> bool {
    let Some(number) = said.number else { return false };
    let number_text = number.to_string();
    let in_one_file = |line: &str| {
        let line = line.trim_start();
        let digits = |c: char| !c.is_ascii_digit();
        ["✓", "✔", "PASS", "ok"].iter().any(|mark| line.starts_with(mark))
            && line
                .split_once('(')
                .is_some_and(|(_, count)| count.split(digits).next() == Some(number_text.as_str()))
    };
    summary(execution.text(), ActivityKind::Test).passed == Some(number)
        || execution.text().lines().any(in_one_file)
}

/// Whether the run reports that the named test failed.
pub(super) fn fails_by_name(said: &OutcomeClaim, execution: &Execution<'_>) -> bool {
    let Some(name) = &said.named else { return false };
    let last = name.rsplit(['/', ':']).next().unwrap_or(name).trim_end_matches("()");
    let text = execution.text();
    let numbered = |line: &str| {
        line.trim_start().split_once(") ").is_some_and(|(number, _)| number.parse::<u16>().is_ok())
    };
    // Rust lists the names under a heading.
    let listed = |at: usize, line: &str| {
        let before = text.get(..at).unwrap_or_default();
        line.trim().ends_with(last) && !line.trim().contains(' ') && before.contains("failures:")
    };
    memchr::memmem::find_iter(text.as_bytes(), last.as_bytes()).take(50).any(|at| {
        let from = text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1);
        let to = text.get(at..).and_then(|t| t.find('\n')).map_or(text.len(), |n| at + n);
        let line = text.get(from..to).unwrap_or_default();
        let marks = ["FAIL", "fail", "✕", "✗", "×", "●", "not ok"];
        marks.iter().any(|mark| line.contains(mark)) || numbered(line) || listed(at, line)
    })
}

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
                let said = summary(execution.text(), kind_of(family));
                let own = !prints_itself(&work.command, execution.text(), &said);
                let told = told(execution.text(), family).filter(|_| own);
                ends.extend(told.filter(|end| !report || *end != RunEnd::Failed));
            }
        } else if deed.families.has(family) {
            ends.push(told(execution.text(), family).unwrap_or(match deed.status().succeeded() {
                true => RunEnd::Passed,
                false => RunEnd::Failed,
            }));
        } else if deed.continues {
            ends.extend(told(execution.text(), family));
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
    [RunEnd::Failed, RunEnd::Empty, RunEnd::Running, RunEnd::Passed, RunEnd::Unknown]
        .into_iter()
        .find(|end| ends.contains(end))
}

/// What an output says about a check, if it is in a runner's own format.
fn told(output: &str, family: Family) -> Option<RunEnd> {
    let said = summary(output, kind_of(family));
    // A build that stopped in another task ran no tests.
    if family == Family::Test && said.passed.is_none() && stopped_elsewhere(output) {
        return None;
    }
    match said.verdict? {
        OutputVerdict::Passed => Some(RunEnd::Passed),
        OutputVerdict::Failed => Some(RunEnd::Failed),
    }
}

fn kind_of(family: Family) -> ActivityKind {
    match family {
        Family::Test => ActivityKind::Test,
        Family::Lint => ActivityKind::Lint,
        _ => ActivityKind::Build,
    }
}

/// Whether a failed run contradicts the claim: one passing test is compatible with failing ones.
pub(super) fn excludes(said: &OutcomeClaim, execution: &Execution<'_>) -> bool {
    let passed = summary(execution.text(), ActivityKind::Test).passed;
    !(said.singular || said.partly) || passed.is_none_or(|n| n == 0)
}

/// "Make sure all tests pass": whether every sentence is a request rather than a report. A sentence
/// that cannot be read counts as a request.
fn only_asks(line: &str) -> bool {
    let prose = Prose::read(line);
    prose.sentences.iter().all(|sentence| {
        let tokens = prose.tokens(sentence.tokens.clone());
        let told = tokens.iter().any(|t| t.has(Tags::PASSING));
        let asks = Tags::MODAL.or(Tags::PURPOSE).or(Tags::INTEND).or(Tags::REQUEST);
        let first = tokens.iter().find(|t| t.kind == TokenKind::Word);
        let orders = first
            .is_some_and(|t| t.has(Tags::BASE) && t.noun.is_none() || t.has(Tags::CONDITIONAL));
        !told
            || sentence.question
            || orders
            || tokens.iter().any(|t| t.has(asks.or(Tags::CONDITIONAL)))
    })
}

/// Whether a result reports the outcome that is not from a run here, such as the log of another
/// machine.
fn result_reports(facts: &Facts<'_>, said: &OutcomeClaim, count: usize) -> bool {
    let asked = (said.family, count, said.number, said.partly);
    facts.index().is_reported(asked, || look_for_report(facts, said, count))
}

fn look_for_report(facts: &Facts<'_>, said: &OutcomeClaim, count: usize) -> bool {
    (0..count).rev().take(LOOK_BACK).any(|at| {
        let reported = facts.index().reported(said.family, at, || {
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
                    && may_report(execution.text(), said.family)
            });
            let seen = result.map(|(execution, _)| summary(execution.text(), kind_of(said.family)));
            seen.map_or_else(Reported::default, |seen| Reported {
                passed: seen.passed,
                good: seen.verdict == Some(OutputVerdict::Passed),
            })
        });
        match said.number {
            Some(number) => reported.passed == Some(number),
            None if said.partly => reported.passed.is_some_and(|passed| passed > 0),
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
            // A diff or a code listing says nothing about a run.
            !line.trim_start().starts_with(['+', '-', '|', '/', '#'])
                && says(&["pass", "passes", "passed", "passing", "green", "succeeded", "ok"])
                && says(&["test", "tests", "build", "builds", "lint", "ci", "suite"])
                && !only_asks(line)
        })
    })
}
