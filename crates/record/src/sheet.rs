//! The facts as lines for models and people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use counterfoil_model::Gap;

use crate::facts::{Check, Facts};
use crate::file::FileEffect;
use crate::run::{CheckKind, Coverage, Report, Run, RunEnd, RunKind};
use crate::status::CallStatus;

/// The subject of a line of the sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactKind {
    /// Something missing from the record.
    Gap,
    /// The number of calls, by tool.
    Calls,
    /// A run of a check.
    Check(CheckKind, CheckState),
    /// No check of this kind was run.
    NoCheck(CheckKind),
    /// A file that was changed.
    File,
    /// A commit, a push or a pull request, and how it ended.
    VersionControl(RunEnd),
    /// Calls that failed, were denied or have no result.
    NotCompleted(CallStatus),
    /// The work of a sub-agent.
    SubAgent,
    /// The length of a list in a result.
    List(u64),
}

/// What is known about a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckState {
    /// How the run ended.
    pub end: RunEnd,
    /// Whether files were changed after it.
    pub stale: bool,
    /// Whether its command line limits it to a part.
    pub partial: bool,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactLine {
    /// The subject.
    pub kind: FactKind,
    /// The numbers of the calls that show this fact.
    pub calls: Vec<usize>,
    /// The fact as one line of text.
    pub text: String,
}

/// Maximum number of runs of one kind, commits and so on, that are listed individually.
const MOST_RUNS: usize = 8;
/// Maximum number of files, and of lists, that are listed.
const MOST_FILES: usize = 40;
/// Maximum number of calls named in one line.
const MOST_CALLS: usize = 24;

pub(crate) fn lines(facts: &Facts<'_>) -> Vec<FactLine> {
    let mut sheet = Vec::new();
    gaps(facts, &mut sheet);
    calls(facts, &mut sheet);
    checks(facts, &mut sheet);
    version_control(facts, &mut sheet);
    not_completed(facts, &mut sheet);
    files(facts, &mut sheet);
    sub_agents(facts, &mut sheet);
    lists(facts, &mut sheet);
    sheet
}

fn gaps(facts: &Facts<'_>, sheet: &mut Vec<FactLine>) {
    for gap in facts.gaps() {
        let text = format!("the record is not complete: {}", words_of(gap));
        sheet.push(FactLine { kind: FactKind::Gap, calls: Vec::new(), text });
    }
    let shortened: Vec<usize> = facts.shortened().collect();
    if !shortened.is_empty() {
        let text = format!("results that the log shortened: {}", listed('R', &shortened));
        sheet.push(FactLine { kind: FactKind::Gap, calls: shortened, text });
    }
}

fn words_of(gap: Gap) -> &'static str {
    match gap {
        Gap::LossyFormat => "this log format omits calls or results",
        Gap::CutStart => "it begins in the middle of the session",
        Gap::CutEnd => "it ends in the middle of the session",
        Gap::Compacted => "a summary replaced earlier messages",
        Gap::Unreadable => "some lines could not be read",
        Gap::MissingResults => "calls have no recorded result",
        Gap::UnrecordedSubagent => "the calls of a sub-agent are not recorded",
        Gap::UnreadParts => "some parts were not understood",
        Gap::UnknownCalls => "results answer calls that are not recorded",
    }
}

fn calls(facts: &Facts<'_>, sheet: &mut Vec<FactLine>) {
    const MOST_TOOLS: usize = 16;
    let counts = facts.calls_by_tool();
    let shown = counts.iter().take(MOST_TOOLS).map(|(tool, count)| format!("{tool} ×{count}"));
    let mut text = match counts.len() {
        0 => "no tool was called".to_owned(),
        _ => format!("calls by tool: {}", shown.collect::<Vec<_>>().join(", ")),
    };
    if let Some(more) = counts.len().checked_sub(MOST_TOOLS).filter(|more| *more > 0) {
        let _ = write!(text, " and {more} more tools");
    }
    sheet.push(FactLine { kind: FactKind::Calls, calls: Vec::new(), text });
}

fn checks(facts: &Facts<'_>, sheet: &mut Vec<FactLine>) {
    let all = facts.checks();
    for kind in CheckKind::ALL {
        let of_kind: Vec<&Check<'_>> = all.iter().filter(|check| check.kind == kind).collect();
        let earlier = of_kind.len().saturating_sub(MOST_RUNS);
        if earlier > 0 {
            let calls: Vec<usize> = of_kind.iter().take(earlier).map(|check| check.call).collect();
            let text = format!("{}: earlier runs {}", kind.name(), listed('C', &calls));
            sheet.push(FactLine { kind: FactKind::Calls, calls, text });
        }
        sheet.extend(of_kind.iter().skip(earlier).map(|check| check_line(check)));
        if of_kind.is_empty() && facts.is_coding() {
            sheet.push(no_check(facts, kind));
        }
    }
}

fn no_check(facts: &Facts<'_>, kind: CheckKind) -> FactLine {
    let programs = facts.runs().filter(|(_, run)| run.kind == RunKind::Program);
    let programs: Vec<usize> = programs.map(|(call, _)| call).collect();
    let mut text = format!("{}: no run in the record", kind.name());
    if !programs.is_empty() {
        let _ = write!(text, ", unless one of these did it: {}", listed('C', &programs));
    }
    if !facts.is_complete() {
        text.push_str(", which is not complete");
    }
    // A program that may have run it unseen leaves the question open.
    let open = !programs.is_empty() || !facts.is_complete();
    let kind = if open { FactKind::Calls } else { FactKind::NoCheck(kind) };
    FactLine { kind, calls: programs, text }
}

fn check_line(check: &Check<'_>) -> FactLine {
    let run = &check.run;
    let mut text = format!("{}: `{}` (R{}", check.kind.name(), run.command, check.call);
    if let Coverage::Partial(words) = &run.coverage {
        let _ = write!(text, ", partial: `{words}`");
    }
    text.push(')');
    text.push_str(&ending(run));
    let mut calls = vec![check.call];
    let changes: Vec<String> = check
        .changed_after
        .iter()
        .map(|(call, change)| {
            calls.push(*call);
            match change.effect {
                FileEffect::Unnamed => format!("{} after it (C{call})", change.effect.name()),
                effect => format!("{} was {} after it (C{call})", change.path, effect.name()),
            }
        })
        .collect();
    if !changes.is_empty() {
        let _ = write!(text, "; {}", changes.join(", "));
    }
    let partial = matches!(run.coverage, Coverage::Partial(_));
    let state = CheckState { end: run.end, stale: check.is_stale(), partial };
    FactLine { kind: FactKind::Check(check.kind, state), calls, text }
}

/// How a run ended, such as " ended with status 101, 3 failed".
fn ending(run: &Run) -> String {
    let mut text = match (run.end, run.exit, run.hidden_by) {
        (RunEnd::Unfinished, ..) => return " has no recorded end".to_owned(),
        (_, Some(exit), None) => format!(" ended with status {exit}"),
        (_, Some(exit), Some(by)) => {
            format!(" was on a command line that ended with status {exit}; {by} hid its own status")
        }
        (RunEnd::Passed, None, _) => " reported success".to_owned(),
        (RunEnd::Failed, None, _) => " failed".to_owned(),
        (RunEnd::Empty, None, _) => " ended".to_owned(),
        (RunEnd::Unknown, None, _) => " ended, and nothing shows how".to_owned(),
    };
    let counts = reported(&run.report);
    if !counts.is_empty() {
        let _ = write!(text, ", {counts}");
    } else if run.end == RunEnd::Failed && run.exit == Some(0) {
        text.push_str(", its output says that it failed");
    }
    text
}

fn reported(report: &Report) -> String {
    let counts = [
        (report.failed, "failed"),
        (report.passed, "passed"),
        (report.errors, "errors"),
        (report.skipped, "skipped"),
    ];
    // A zero is worth printing for failed and passed tests, but not for skipped ones or errors.
    let telling = |count: &u64, name: &str| *count > 0 || name == "failed" || name == "passed";
    let one = |(count, name): &(Option<u64>, &str)| {
        let count = count.filter(|count| telling(count, name))?;
        let name = if count == 1 { name.trim_end_matches('s') } else { name };
        Some(format!("{count} {name}"))
    };
    let mut counts: Vec<String> = counts.iter().filter_map(one).collect();
    if report.collected_none {
        counts.push("no test was found".to_owned());
    }
    counts.join(", ")
}

fn version_control(facts: &Facts<'_>, sheet: &mut Vec<FactLine>) {
    let acts: Vec<_> = facts
        .runs()
        .filter_map(|(call, run)| {
            let name = match run.kind {
                RunKind::Commit => "commit",
                RunKind::Push => "push",
                RunKind::PullRequest => "pull request",
                RunKind::VersionControl => "version control",
                RunKind::Check(_) | RunKind::Program => return None,
            };
            Some((call, name, run))
        })
        .collect();
    for (call, name, run) in acts.iter().skip(acts.len().saturating_sub(2 * MOST_RUNS)) {
        let mut text = format!("{name}: `{}` (R{call}){}", run.command, ending(run));
        if let Some(commit) = &run.commit {
            let _ = write!(text, ", made {commit}");
        }
        let kind = FactKind::VersionControl(run.end);
        sheet.push(FactLine { kind, calls: vec![*call], text });
    }
    if acts.is_empty() && facts.is_coding() {
        let text = "commits, pushes, pull requests: none in the record".to_owned();
        sheet.push(FactLine { kind: FactKind::Calls, calls: Vec::new(), text });
    }
}

fn not_completed(facts: &Facts<'_>, sheet: &mut Vec<FactLine>) {
    let groups = [
        (CallStatus::Failed, "calls that failed"),
        (CallStatus::Denied, "calls that were denied and did not run"),
        (CallStatus::Unfinished, "calls without a result"),
        (CallStatus::Unknown, "calls whose result the log does not keep"),
    ];
    for (status, words) in groups {
        let of_status = facts.calls().iter().filter(|call| facts.status(call) == status);
        let calls: Vec<usize> = of_status.map(|call| call.number).collect();
        if !calls.is_empty() {
            let text = format!("{words}: {}", listed('C', &calls));
            sheet.push(FactLine { kind: FactKind::NotCompleted(status), calls, text });
        }
    }
}

fn files(facts: &Facts<'_>, sheet: &mut Vec<FactLine>) {
    // Sorted by the latest change: path, effect, and the calls that made it.
    let mut latest: BTreeMap<&str, (FileEffect, Vec<usize>)> = BTreeMap::new();
    for (call, change) in facts.changes() {
        let entry = latest.entry(&change.path).or_insert((change.effect, Vec::new()));
        entry.0 = change.effect;
        entry.1.push(call);
    }
    let mut latest: Vec<_> = latest.into_iter().collect();
    latest.sort_by_key(|(path, (_, calls))| (std::cmp::Reverse(calls.last().copied()), *path));
    for (path, (effect, calls)) in latest.iter().take(MOST_FILES) {
        let text = match *effect {
            FileEffect::Unnamed => format!("{} ({})", effect.name(), listed('C', calls)),
            effect => format!("{path}: {} ({})", effect.name(), listed('C', calls)),
        };
        sheet.push(FactLine { kind: FactKind::File, calls: calls.clone(), text });
    }
    if let Some(more) = latest.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
        let text = format!("{more} more files were changed earlier");
        sheet.push(FactLine { kind: FactKind::File, calls: Vec::new(), text });
    }
    if latest.is_empty() && facts.is_coding() {
        let text = "files: no change in the record".to_owned();
        sheet.push(FactLine { kind: FactKind::File, calls: Vec::new(), text });
    }
}

fn sub_agents(facts: &Facts<'_>, sheet: &mut Vec<FactLine>) {
    for delegation in facts.delegations() {
        let made = match delegation.calls {
            Some(count) => format!("the sub-agent made {count} calls"),
            None => "how many calls the sub-agent made is not recorded".to_owned(),
        };
        let text = format!("C{} ({}): {made}", delegation.call, delegation.tool);
        sheet.push(FactLine { kind: FactKind::SubAgent, calls: vec![delegation.call], text });
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for agent in facts.calls().iter().filter_map(|call| call.agent) {
        *counts.entry(agent).or_default() += 1;
    }
    for (number, count) in counts.values().enumerate() {
        let text = format!("recorded calls of sub-agent {}: {count}", number + 1);
        sheet.push(FactLine { kind: FactKind::SubAgent, calls: Vec::new(), text });
    }
}

fn lists(facts: &Facts<'_>, sheet: &mut Vec<FactLine>) {
    let numbers = facts.calls().iter().rev().map(|call| call.number);
    let all = numbers.flat_map(|number| facts.lists(number).iter().map(move |list| (number, list)));
    for (number, list) in all.take(MOST_FILES) {
        let name = match list.path.as_str() {
            "" => "the list".to_owned(),
            path => format!("`{}`", path.replace('`', "'")),
        };
        let text = format!("R{number}: {name} has {} entries", list.length);
        let kind = FactKind::List(list.length);
        sheet.push(FactLine { kind, calls: vec![number], text });
    }
}

/// The latest calls as a list: `C4, C9 and 12 earlier ones`.
fn listed(letter: char, calls: &[usize]) -> String {
    let mut calls = calls.to_vec();
    calls.dedup();
    let more = calls.len().saturating_sub(MOST_CALLS);
    let shown = calls.iter().skip(more).map(|call| format!("{letter}{call}"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} earlier ones") } else { shown }
}
