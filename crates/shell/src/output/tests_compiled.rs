//! Result lines of test runners: Rust, Go, the JVM, .NET, Swift, C and others.

use super::counts::{Counts, first_number, leading_number};
use super::tally::Tally;

pub(super) fn read(line: &str, tally: &mut Tally) -> bool {
    rust(line, tally)
        || doctest(line, tally)
        || go(line, tally)
        || jvm(line, tally)
        || others(line, tally)
}

/// Reads `[doctest] test cases:  7 |  7 passed | 0 failed | 11 skipped`.
fn doctest(line: &str, tally: &mut Tally) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("[doctest] test cases:") else { return false };
    let Some((_, rest)) = rest.split_once('|') else { return false };
    let counts = Counts::number_word(rest);
    if counts.passed.unwrap_or(0) == 0 && counts.failed.unwrap_or(0) == 0 {
        return tally.found_none();
    }
    tally.counted(&counts)
}

fn rust(line: &str, tally: &mut Tally) -> bool {
    if let Some(rest) = line.trim_start().strip_prefix("test result: ") {
        let mut counts = Counts::number_word(rest);
        if rest.starts_with("FAILED") {
            counts.failed = Some(counts.failed.unwrap_or(1).max(1));
        }
        if counts.passed.unwrap_or(0) == 0 && counts.failed.unwrap_or(0) == 0 {
            tally.counts.add(&counts);
            return tally.found_none();
        }
        return tally.counted(&counts);
    }
    if line.trim_start().starts_with("Summary [")
        && let Some((_, rest)) = line.split_once("] ")
        && rest.contains("run:")
    {
        return tally.counted(&Counts::number_word(rest));
    }
    if line.starts_with("error: test failed") || line.starts_with("error: test run failed") {
        return tally.failed();
    }
    if line.starts_with("error: no tests to run") || line.trim() == "running 0 tests" {
        return tally.found_none();
    }
    false
}

fn go(line: &str, tally: &mut Tally) -> bool {
    if let Some(rest) = line.strip_prefix("ok  ").or_else(|| line.strip_prefix("ok\t")) {
        let package = rest.trim_start();
        if leading_number(package).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '))
        {
            return false;
        }
        if line.ends_with("[no tests to run]") || line.ends_with("[no test files]") {
            return tally.found_none();
        }
        tally.ran_some();
        return tally.passed();
    }
    if line.starts_with("?   ") && line.ends_with("[no test files]") {
        return tally.found_none();
    }
    if line == "FAIL" || line.starts_with("FAIL\t") || line.starts_with("FAIL  ") {
        return tally.failed();
    }
    if line == "PASS" {
        return tally.passed();
    }
    if let Some(rest) = line.strip_prefix("--- ") {
        let place = match rest.split(':').next() {
            Some("PASS") => {
                tally.ran_some();
                &mut tally.cases.passed
            }
            Some("SKIP") => &mut tally.cases.skipped,
            Some("FAIL") => {
                tally.cases.failed = Some(tally.cases.failed.unwrap_or(0) + 1);
                return tally.failed();
            }
            _ => return false,
        };
        *place = Some(place.unwrap_or(0) + 1);
        return true;
    }
    if line.trim_start().starts_with("--- FAIL:") {
        return tally.failed();
    }
    if line.starts_with("testing: warning: no tests to run") {
        return tally.found_none();
    }
    // gotestsum
    if let Some(rest) = line.strip_prefix("DONE ") {
        let mut counts = Counts::number_word(rest.split(" in ").next().unwrap_or(rest));
        let total = first_number(rest).unwrap_or(0);
        let others = [counts.failed, counts.errors, counts.skipped].into_iter().flatten().sum();
        counts.passed = Some(total.saturating_sub(others));
        return tally.counted(&counts);
    }
    false
}

fn jvm(line: &str, tally: &mut Tally) -> bool {
    let bare = bare(line);
    if let Some(rest) = bare.strip_prefix("Tests run: ") {
        // A line per class; the total follows on a separate line.
        if rest.contains("Time elapsed") || rest.contains(" - in ") {
            return true;
        }
        let mut counts = Counts::word_number(rest);
        let total = first_number(rest).unwrap_or(0);
        let others = [counts.failed, counts.errors, counts.skipped].into_iter().flatten().sum();
        counts.passed = Some(total.saturating_sub(others));
        return tally.recounted(&counts);
    }
    if bare.starts_with("BUILD SUCCESS") {
        return tally.passed();
    }
    if bare.starts_with("BUILD FAIL") {
        return tally.failed();
    }
    if let Some((total, rest)) = leading_number(bare)
        && rest.starts_with(" tests completed")
    {
        let mut counts = Counts::number_word(rest);
        let others = [counts.failed, counts.skipped].into_iter().flatten().sum();
        counts.passed = Some(total.saturating_sub(others));
        return tally.counted(&counts);
    }
    // ScalaTest
    if let Some(rest) = bare.strip_prefix("Tests: succeeded ") {
        let mut counts = Counts::word_number(rest);
        counts.passed = first_number(rest);
        return tally.counted(&counts);
    }
    false
}

/// The line without the leading log level of Maven or sbt.
fn bare(line: &str) -> &str {
    let line = line.trim_start();
    for level in ["[INFO] ", "[ERROR] ", "[WARNING] ", "[info] ", "[error] ", "[warn] "] {
        if let Some(rest) = line.strip_prefix(level) {
            return rest.trim_start();
        }
    }
    line
}

fn others(line: &str, tally: &mut Tally) -> bool {
    const RUNNERS: [Runner; 6] = [dotnet, swift, ctest, bazel, googletest, zig];
    let text = line.trim_start();
    RUNNERS.iter().find_map(|runner| runner(text, tally)).unwrap_or(false)
}

/// Reads a line as output of one runner; `None` if it is not one of its lines.
type Runner = fn(&str, &mut Tally) -> Option<bool>;

fn dotnet(text: &str, tally: &mut Tally) -> Option<bool> {
    if text.starts_with("Passed!  - ") || text.starts_with("Failed!  - ") {
        return Some(tally.counted(&Counts::word_number(text.get(8..).unwrap_or_default())));
    }
    if text.starts_with("Test summary: total:") {
        let mut counts = Counts::word_number(text);
        counts.passed = text.split_once("succeeded: ").and_then(|(_, rest)| first_number(rest));
        return Some(tally.counted(&counts));
    }
    match text {
        "Test Run Successful." => return Some(tally.passed()),
        "Test Run Failed." => return Some(tally.failed()),
        _ => {}
    }
    let none = text.starts_with("No test matches the given testcase filter")
        || text.starts_with("No test is available in ");
    none.then(|| tally.found_none())
}

/// Reads Xcode and Swift results: one line per suite, the total last.
fn swift(text: &str, tally: &mut Tally) -> Option<bool> {
    match text {
        "** TEST SUCCEEDED **" => return Some(tally.passed()),
        "** TEST FAILED **" => return Some(tally.failed()),
        _ => {}
    }
    if let Some(rest) = text.strip_prefix("Executed ")
        && let Some((total, rest)) = leading_number(rest)
        && (rest.starts_with(" test, with") || rest.starts_with(" tests, with"))
    {
        let mut counts = Counts::number_word(rest.split(" (").next().unwrap_or(rest));
        let failed = counts.failed.unwrap_or(0);
        counts.passed = Some(total.saturating_sub(failed + counts.skipped.unwrap_or(0)));
        return Some(tally.recounted(&counts));
    }
    let (_, rest) = text.split_once("Test run with ")?;
    let (total, rest) = leading_number(rest)?;
    if rest.contains(" passed") {
        return Some(tally.counted(&Counts { passed: Some(total), ..Counts::default() }));
    }
    Some(rest.contains(" failed") && tally.failed())
}

fn ctest(text: &str, tally: &mut Tally) -> Option<bool> {
    if let Some((_, rest)) = text.split_once("% tests passed, ")
        && let Some((failed, rest)) = leading_number(rest)
    {
        let total = first_number(rest).unwrap_or(failed);
        let passed = Some(total.saturating_sub(failed));
        return Some(tally.counted(&Counts { passed, failed: Some(failed), ..Counts::default() }));
    }
    text.starts_with("No tests were found!!!").then(|| tally.found_none())
}

fn bazel(text: &str, tally: &mut Tally) -> Option<bool> {
    let rest = text.strip_prefix("Executed ").filter(|rest| rest.contains(" tests: "))?;
    let result = rest.split_once(": ").map(|(_, result)| result).unwrap_or_default();
    let mut counts = Counts::default();
    for part in result.split([',', '.']) {
        let number = first_number(part);
        if part.contains("fail") && !part.contains("fails to build") {
            counts.failed = number;
        } else if part.contains("pass") {
            counts.passed = number;
        }
    }
    Some(tally.counted(&counts))
}

fn googletest(text: &str, tally: &mut Tally) -> Option<bool> {
    if let Some(rest) = text.strip_prefix("[  PASSED  ] ") {
        let passed = first_number(rest);
        return Some(tally.counted(&Counts { passed, ..Counts::default() }));
    }
    let rest = text.strip_prefix("[  FAILED  ] ")?;
    if let Some((failed, rest)) = leading_number(rest)
        && rest.starts_with(" test")
    {
        return Some(tally.counted(&Counts { failed: Some(failed), ..Counts::default() }));
    }
    Some(tally.failed())
}

fn zig(text: &str, tally: &mut Tally) -> Option<bool> {
    (text.starts_with("All ") && text.ends_with(" tests passed."))
        .then(|| tally.counted(&Counts { passed: first_number(text), ..Counts::default() }))
}
