use super::counts::{Counts, first_number, leading_number};
use super::tally::Tally;

/// Result lines and messages of linters, type checkers and format checkers.
pub(super) fn read(line: &str, tally: &mut Tally) -> bool {
    let text = line.trim_start();
    totals(text, tally) || words(text, tally) || hooks(text, tally) || message(line, tally)
}

/// Lines with totals.
fn totals(text: &str, tally: &mut Tally) -> bool {
    // `✖ 3 problems (1 error, 2 warnings)`
    if let Some(rest) = text.strip_prefix("✖ ").or_else(|| text.strip_prefix("× "))
        && rest.contains(" problem")
    {
        let counts = Counts::number_word(rest);
        tally.counts.add(&counts);
        return if counts.errors == Some(0) { tally.passed() } else { tally.failed() };
    }
    if let Some((number, rest)) = leading_number(text) {
        // golangci-lint: `3 issues:`
        if matches!(rest, " issues." | " issues:" | " issue:" | " issue." | " issues") {
            tally.counts.add(&Counts { errors: Some(number), ..Counts::default() });
            return if number > 0 { tally.failed() } else { tally.passed() };
        }
        // Pyright, svelte-check: `0 errors, 0 warnings, 0 informations`
        if rest.starts_with(" error") && rest.contains(" warning") {
            let counts = Counts::number_word(text);
            tally.counts.add(&counts);
            return if number > 0 { tally.failed() } else { tally.passed() };
        }
        // RuboCop: `10 files inspected, 3 offenses detected`
        if rest.contains(" inspected, ") {
            if rest.contains("no offenses") {
                return tally.passed();
            }
            let offenses = rest.split_once(", ").and_then(|(_, rest)| first_number(rest));
            tally.counts.add(&Counts { errors: offenses, ..Counts::default() });
            return tally.failed();
        }
        // Black: `1 file would be reformatted, 3 files would be left unchanged.`
        if rest.contains(" would be reformatted") {
            return tally.failed();
        }
        if rest.ends_with(" left unchanged.") || rest.ends_with(" already formatted") {
            return tally.passed();
        }
    }
    if let Some(rest) = text.strip_prefix("Your code has been rated at ") {
        return if rest.starts_with("10.00") { tally.passed() } else { tally.failed() };
    }
    if text.starts_with("svelte-check found ") {
        let counts = Counts::number_word(text);
        tally.counts.add(&counts);
        return if counts.errors.unwrap_or(0) > 0 { tally.failed() } else { tally.passed() };
    }
    false
}

/// Lines without numbers that decide the verdict.
fn words(text: &str, tally: &mut Tally) -> bool {
    const GOOD: &[&str] = &[
        "All checks passed!",
        "Success: no issues found",
        "All matched files use Prettier code style!",
        "All done! ✨",
        "[OK] No errors",
        "Success! The configuration is valid.",
        "No errors!",
        "found no issues",
        "No ESLint warnings or errors",
        "✔ No ESLint warnings or errors",
        "No issues found!",
    ];
    const BAD: &[&str] = &[
        "[warn] Code style issues",
        "Oh no! 💥",
        "would reformat ",
        "Would reformat: ",
        "Diff in ",
        "[ERROR] Found ",
        "[error] ",
        "Some errors were emitted while running checks",
        "error: mise tasks",
        "level=error",
    ];
    if GOOD.iter().any(|good| text.starts_with(good)) {
        return tally.passed();
    }
    if BAD.iter().any(|bad| text.starts_with(bad)) {
        return tally.failed();
    }
    // Biome: `Checked 12 files in 5ms. No fixes applied.`
    text.starts_with("Checked ") && text.contains(" file") && tally.passed()
}

/// Reads pre-commit's `black....................................................Failed`.
pub(super) fn hooks(line: &str, tally: &mut Tally) -> bool {
    if !line.contains("....") {
        return false;
    }
    if line.ends_with(".Failed") {
        tally.failed()
    } else if line.ends_with(".Passed") {
        tally.passed()
    } else {
        line.ends_with(".Skipped")
    }
}

/// Reads `path:1:2: E501 message`, `path:1: error: message`, or a bare file name from `gofmt -l`.
fn message(line: &str, tally: &mut Tally) -> bool {
    if line.starts_with("In ") && line.contains(" line ") && line.ends_with(':') {
        tally.issues += 1;
        return tally.failed();
    }
    if line.ends_with(".go") && !line.contains(' ') {
        tally.issues += 1;
        return tally.failed();
    }
    let mut parts = line.splitn(3, ':');
    let (Some(path), Some(row), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_row = !row.is_empty() && row.bytes().all(|b| b.is_ascii_digit());
    if path.is_empty() || path.contains(' ') || !path.contains('.') || !is_row {
        return false;
    }
    let rest = leading_number(rest)
        .and_then(|(_, rest)| rest.strip_prefix(':'))
        .unwrap_or(rest)
        .trim_start();
    if rest.starts_with("error") {
        tally.issues += 1;
        return tally.failed();
    }
    if rest.starts_with("warning") || rest.starts_with("note") {
        return true;
    }
    let code = rest.split([' ', ':']).next().unwrap_or_default();
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let is_code = (1..=4).contains(&letters)
        && code.len() > letters
        && code.bytes().skip(letters).all(|b| b.is_ascii_digit());
    if is_code {
        tally.issues += 1;
        return tally.failed();
    }
    false
}
