//! Judges a claimed outcome by the latest run of its kind.

use counterfoil_record::RunEnd;
use counterfoil_shell::{ActivityKind, summary};

use super::extract::OutcomeClaim;
use super::fewer::shows_less;
use super::layer::is_of_another_kind;
use crate::facts::{Execution, Facts};

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
    /// The record cannot show the outcome, for this reason.
    NotCheckable(&'static str),
}

const WARNINGS: &str = "a run passed, but whether it had warnings was not checked";
const LESS: &str = "a run passed, but it may have checked less";
const PART: &str = "a run failed, but the claim may be about another part of it";

/// The verdict on the claim, by how that run ended.
pub(super) fn by_run(
    facts: &Facts<'_>,
    claimed: &OutcomeClaim,
    (at, end, execution): (usize, RunEnd, &Execution<'_>),
) -> OutcomeVerdict {
    let other = || claimed.elsewhere || is_of_another_kind(facts, claimed, at);
    if matches!(end, RunEnd::Passed) && other() {
        return OutcomeVerdict::NotCheckable(
            "the claim may be about a run elsewhere, or about another kind of run",
        );
    }
    if claimed.ran {
        return OutcomeVerdict::Passed(at);
    }
    match end {
        RunEnd::Passed if claimed.unwarned => OutcomeVerdict::NotCheckable(WARNINGS),
        RunEnd::Passed if shows_less(claimed, execution) => OutcomeVerdict::NotCheckable(LESS),
        RunEnd::Passed => OutcomeVerdict::Passed(at),
        RunEnd::Failed if has_passed(claimed, execution) => OutcomeVerdict::Passed(at),
        RunEnd::Failed if claimed.narrowed => OutcomeVerdict::NotCheckable(PART),
        RunEnd::Failed if claimed.named.is_some() => match fails_by_name(claimed, execution) {
            true => OutcomeVerdict::Failed(at, true),
            false => OutcomeVerdict::NotCheckable(PART),
        },
        RunEnd::Failed if claimed.partly && claimed.discloses => OutcomeVerdict::NotCheckable(PART),
        RunEnd::Failed => {
            OutcomeVerdict::Failed(at, !claimed.discloses && excludes(claimed, execution))
        }
        RunEnd::Empty => OutcomeVerdict::NotCheckable("the latest run checked nothing"),
        RunEnd::Unfinished => OutcomeVerdict::NotCheckable("the latest run had not ended"),
        RunEnd::Unknown => {
            OutcomeVerdict::NotCheckable("the outcome of the latest run is not recorded")
        }
    }
}

/// Whether the claimed number of tests passed in a run that failed: in total, or in one file that
/// the run reports, "✓ src/a.test.ts (6 tests)".
fn has_passed(claimed: &OutcomeClaim, execution: &Execution<'_>) -> bool {
    let Some(number) = claimed.number else { return false };
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
fn fails_by_name(claimed: &OutcomeClaim, execution: &Execution<'_>) -> bool {
    let Some(name) = &claimed.named else { return false };
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

/// Whether a failed run contradicts the claim: one passing test is compatible with failing ones.
fn excludes(claimed: &OutcomeClaim, execution: &Execution<'_>) -> bool {
    let passed = summary(execution.text(), ActivityKind::Test).passed;
    !(claimed.singular || claimed.partly) || passed.is_none_or(|n| n == 0)
}
