//! Result lines of test runners: Python, JavaScript, Ruby, PHP, Elixir, Dart, R, TAP.

use super::counts::{Counts, first_number, leading_number};
use super::tally::{After, Tally};

pub(super) fn read(line: &str, tally: &mut Tally) -> bool {
    python(line, tally)
        || tap(line, tally)
        || javascript(line, tally)
        || ruby(line, tally)
        || php(line, tally)
        || dart(line, tally)
        || testthat(line, tally)
        || sentence(line, tally)
}

/// Reads `00:09 +11 ~1 -2: Some tests failed.`; these lines have running totals, so the last one
/// counts.
fn dart(line: &str, tally: &mut Tally) -> bool {
    let Some((head, message)) = line.split_once(": ") else { return false };
    let mut words = head.split(' ');
    let clock = words.next().and_then(|time| time.split_once(':'));
    let timed = clock.is_some_and(|(minutes, seconds)| {
        [minutes, seconds].iter().all(|part| part.len() == 2 && part.parse::<u8>().is_ok())
    });
    let mut counts = Counts::default();
    for word in words {
        let number = word.get(1..).and_then(|number| number.parse().ok());
        match word.as_bytes().first() {
            Some(b'+') if number.is_some() => counts.passed = number,
            Some(b'-') if number.is_some() => counts.failed = number,
            Some(b'~') if number.is_some() => counts.skipped = number,
            _ => return false,
        }
    }
    if !timed || counts.passed.is_none() {
        return false;
    }
    match message {
        "All tests passed!" | "Some tests failed." => tally.counted(&counts),
        _ => message.ends_with(" [E]") && tally.failed(),
    }
}

/// Reads `[ FAIL 0 | WARN 0 | SKIP 0 | PASS 42 ]`, a running total of which the last one counts.
fn testthat(line: &str, tally: &mut Tally) -> bool {
    let inner = line.trim().strip_prefix("[ ").and_then(|rest| rest.strip_suffix(" ]"));
    let mut counts = Counts::default();
    for part in inner.into_iter().flat_map(|inner| inner.split(" | ")) {
        match part.split_once(' ').map(|(word, number)| (word, number.parse().ok())) {
            Some(("FAIL", number @ Some(_))) => counts.failed = number,
            Some(("SKIP", number @ Some(_))) => counts.skipped = number,
            Some(("PASS", number @ Some(_))) => counts.passed = number,
            Some(("WARN", Some(_))) => {}
            _ => return false,
        }
    }
    counts.failed.is_some() && counts.passed.is_some() && tally.recounted(&counts)
}

fn python(line: &str, tally: &mut Tally) -> bool {
    let inner = line.trim_matches(['=', ' ', '!']);
    if inner.starts_with("no tests ran") || inner.starts_with("collected 0 items") {
        if inner.contains("error") {
            return tally.failed();
        }
        return tally.found_none();
    }
    if line.contains("ERROR collecting ")
        || inner.starts_with("Interrupted: ") && inner.contains("during collection")
        || line.starts_with("ERROR: file or directory not found")
        || line.starts_with("ERROR: not found: ")
        || line.starts_with("INTERNALERROR>")
    {
        return tally.failed();
    }
    pytest(inner, tally) || unittest(line, tally) || session(line, tally)
}

/// Reads `3 failed, 39 passed in 2.31s`; some harnesses cut off the time.
fn pytest(inner: &str, tally: &mut Tally) -> bool {
    let timed = inner.rsplit_once(" in ");
    let timed = timed.filter(|(_, time)| time.starts_with(|c: char| c.is_ascii_digit()));
    let counted = timed.map_or(inner, |(counted, _)| counted);
    if !inner.starts_with(|c: char| c.is_ascii_digit())
        || !counted.split(", ").all(is_pytest_count)
        || timed.is_none() && !counted.contains(" passed") && !counted.contains(" failed")
    {
        return false;
    }
    let counts = Counts::number_word(counted);
    if counts == (Counts { warnings: counts.warnings, ..Counts::default() })
        || counted.contains("deselected") && counts.passed.is_none() && counts.failed.is_none()
    {
        return tally.found_none();
    }
    tally.counted(&counts)
}

fn unittest(line: &str, tally: &mut Tally) -> bool {
    if let Some(rest) = line.strip_prefix("Ran ")
        && let Some((total, rest)) = leading_number(rest)
        && (rest.starts_with(" test in ") || rest.starts_with(" tests in "))
    {
        tally.total = Some(tally.total.unwrap_or(0) + total);
        tally.after = After::RanTests;
        if total == 0 {
            return tally.found_none();
        }
        tally.ran_some();
        return true;
    }
    if line == "NO TESTS RAN" {
        return tally.found_none();
    }
    if tally.after == After::RanTests {
        if line == "OK" || line.starts_with("OK (") {
            tally.after = After::Nothing;
            tally.counts.add(&Counts::word_number(line.get(2..).unwrap_or_default()));
            return tally.passed();
        }
        if line.starts_with("FAILED (") {
            tally.after = After::Nothing;
            tally.counts.add(&Counts::word_number(line.get(6..).unwrap_or_default()));
            return tally.failed();
        }
    }
    false
}

/// Reads the results of nox sessions and tox environments.
fn session(line: &str, tally: &mut Tally) -> bool {
    if let Some(rest) = line.strip_prefix("nox > Session ") {
        if rest.ends_with(" was successful.") {
            return tally.passed();
        }
        return rest.contains(" failed") && tally.failed();
    }
    let text = line.trim_start();
    if text.starts_with("congratulations :)") {
        return tally.passed();
    }
    text.starts_with("evaluation failed :(") && tally.failed()
}

fn is_pytest_count(part: &str) -> bool {
    leading_number(part).is_some_and(|(_, word)| {
        matches!(
            word.trim(),
            "passed"
                | "failed"
                | "error"
                | "errors"
                | "skipped"
                | "xfailed"
                | "xpassed"
                | "warning"
                | "warnings"
                | "deselected"
                | "rerun"
                | "subtests passed"
        )
    })
}

fn tap(line: &str, tally: &mut Tally) -> bool {
    if let Some(rest) = line.strip_prefix("not ok ") {
        let excused = rest.contains("# TODO") || rest.contains("# SKIP") || rest.contains("# todo");
        if excused || leading_number(rest).is_none() {
            return excused;
        }
        tally.cases.failed = Some(tally.cases.failed.unwrap_or(0) + 1);
        return tally.failed();
    }
    if let Some(rest) = line.strip_prefix("ok ")
        && leading_number(rest.trim_start())
            .is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '))
    {
        let skipped = rest.contains("# SKIP") || rest.contains("# skip");
        let place = if skipped { &mut tally.cases.skipped } else { &mut tally.cases.passed };
        *place = Some(place.unwrap_or(0) + 1);
        tally.ran_some();
        return tally.passed();
    }
    if line == "1..0" || line.starts_with("1..0 ") {
        return tally.found_none();
    }
    // Node's own runner, and TAP producers.
    let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) else {
        return match line {
            "All tests successful." | "Result: PASS" => tally.passed(),
            "Result: FAIL" => tally.failed(),
            "Result: NOTESTS" => tally.found_none(),
            _ => false,
        };
    };
    let Some((word, number)) = rest.trim().rsplit_once(' ') else { return false };
    let Ok(number) = number.trim().parse::<u64>() else { return false };
    let mut counts = Counts::default();
    match word.trim() {
        "pass" => {
            counts.passed = Some(number);
            tally.counts.add(&counts);
            if number == 0 {
                return true;
            }
            tally.ran_some();
            tally.passed()
        }
        "fail" => {
            counts.failed = Some(number);
            tally.counts.add(&counts);
            number == 0 || tally.failed()
        }
        "skipped" | "todo" | "skip" => {
            counts.skipped = Some(number);
            tally.counts.add(&counts);
            true
        }
        "tests" if number == 0 => tally.found_none(),
        _ => false,
    }
}

fn javascript(line: &str, tally: &mut Tally) -> bool {
    let text = line.trim_start();
    worded_sum(text, tally).unwrap_or_else(|| counted_word(line, text, tally))
}

/// Reads a total with its own wording (Jest, Vitest, Pest, Deno); `None` if the line has no such
/// words.
fn worded_sum(text: &str, tally: &mut Tally) -> Option<bool> {
    // `Tests:  1 failed, 41 passed, 42 total`
    if let Some(rest) = text.strip_prefix("Tests:").or_else(|| text.strip_prefix("Tests"))
        && rest.starts_with(' ')
        && !rest.contains("Assertions: ")
        && rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
    {
        let counts = Counts::number_word(rest.split(['(']).next().unwrap_or(rest));
        if counts.is_empty() && !rest.contains("total") {
            return Some(false);
        }
        return Some(tally.counted(&counts));
    }
    if let Some(rest) = text
        .strip_prefix("Test Suites:")
        .or_else(|| text.strip_prefix("Test Files"))
        .filter(|rest| rest.starts_with(' '))
    {
        let counts = Counts::number_word(rest);
        if counts.failed.unwrap_or(0) > 0 {
            return Some(tally.failed());
        }
        return Some(true);
    }
    if text.starts_with("No tests found, exiting with code")
        || text.starts_with("No test files found, exiting with code")
        || text.starts_with("Error: No tests found")
        || text.starts_with("Error: No test files found")
    {
        return Some(tally.found_none());
    }
    // Deno
    if let Some(rest) = text.strip_prefix("ok | ").or_else(|| text.strip_prefix("FAILED | ")) {
        return Some(tally.counted(&Counts::number_word(rest.split('(').next().unwrap_or(rest))));
    }
    text.starts_with("Tests finished with errors").then(|| tally.failed())
}

/// Reads an indented number with one word (Mocha, Playwright, Bun).
fn counted_word(line: &str, text: &str, tally: &mut Tally) -> bool {
    let Some((_, rest)) = leading_number(text) else {
        return text.starts_with("All specs passed!") && tally.passed();
    };
    let mut words = rest.split_ascii_whitespace();
    let word = words.next().unwrap_or_default();
    let bare = match words.next() {
        None => true,
        Some(time) => time.starts_with('(') && words.next().is_none(),
    };
    if !bare || text.len() == line.len() && !matches!(word, "passed" | "failed" | "passing") {
        return false;
    }
    let counts = Counts::number_word(text.split('(').next().unwrap_or(text));
    match word {
        "passing" | "passed" | "pass" => {
            tally.counts.add(&counts);
            if counts.passed.unwrap_or(0) == 0 {
                return tally.found_none();
            }
            tally.ran_some();
            tally.passed()
        }
        "failing" | "failed" | "fail" => {
            tally.counts.add(&counts);
            counts.failed.unwrap_or(0) == 0 || tally.failed()
        }
        "pending" | "skipped" | "skip" | "todo" => {
            tally.counts.add(&counts);
            true
        }
        _ => false,
    }
}

fn ruby(line: &str, tally: &mut Tally) -> bool {
    let text = line.trim();
    let Some((total, rest)) = leading_number(text) else { return false };
    // RSpec, Minitest, ExUnit, Bats: `5 examples, 1 failure, 2 pending`
    let Some((word, rest)) = rest.trim_start().split_once(", ") else { return false };
    if !matches!(
        word,
        "example" | "examples" | "run" | "runs" | "test" | "tests" | "doctests" | "doctest"
    ) || !(rest.contains("failure") || rest.contains("failed"))
    {
        return false;
    }
    let mut total = total;
    if word.starts_with("doctest")
        && let Some((tests, after)) = leading_number(rest)
        && after.starts_with(" test")
    {
        total += tests;
    }
    let mut counts = Counts::number_word(rest.split(" in ").next().unwrap_or(rest));
    if rest.contains("occurred outside of examples") {
        counts.errors = Some(counts.errors.unwrap_or(1).max(1));
    }
    let others = [counts.failed, counts.skipped, counts.errors].into_iter().flatten().sum();
    counts.passed = Some(total.saturating_sub(others));
    tally.counted(&counts)
}

fn php(line: &str, tally: &mut Tally) -> bool {
    let text = line.trim();
    if let Some(rest) = text.strip_prefix("OK (")
        && rest.contains(" assertion")
    {
        return tally.counted(&Counts { passed: first_number(rest), ..Counts::default() });
    }
    if let Some(rest) = text.strip_prefix("Tests: ")
        && rest.contains("Assertions: ")
    {
        let mut counts = Counts::word_number(rest);
        let total = first_number(rest).unwrap_or(0);
        let others = [counts.failed, counts.errors, counts.skipped].into_iter().flatten().sum();
        counts.passed = Some(total.saturating_sub(others));
        return tally.counted(&counts);
    }
    match text {
        "FAILURES!" | "ERRORS!" | "There were errors!" => tally.failed(),
        "No tests executed!" | "No tests found." => tally.found_none(),
        _ => false,
    }
}

/// Reads `Ran 5 tests containing 10 assertions.` and `0 failures, 0 errors.`
fn sentence(line: &str, tally: &mut Tally) -> bool {
    if let Some(rest) = line.strip_prefix("Ran ")
        && let Some((total, rest)) = leading_number(rest)
        && rest.contains(" containing ")
    {
        tally.total = Some(total);
        tally.ran_some();
        return true;
    }
    if line.ends_with(" errors.")
        && let Some((failed, rest)) = leading_number(line)
        && let Some(rest) = rest.strip_prefix(" failures, ")
        && let Some((errors, _)) = leading_number(rest)
    {
        tally.counts.add(&Counts {
            failed: Some(failed),
            errors: Some(errors),
            ..Counts::default()
        });
        return if failed + errors > 0 { tally.failed() } else { tally.passed() };
    }
    false
}
