use super::counts::{Counts, first_number, leading_number};
use super::tally::{After, Tally};

/// Lines with which a task runner reports that something it started has failed.
pub(super) fn stops(line: &str, tally: &mut Tally) -> bool {
    let text = line.trim_start();
    let failed = match text.as_bytes().first() {
        Some(b'm' | b'g') if text.contains("make") => {
            let (program, rest) = text.split_once(": *** ").unwrap_or(("", ""));
            program.contains("make") && !rest.ends_with("(ignored)") && !rest.is_empty()
        }
        Some(b'm') => text.starts_with("mise ERROR"),
        Some(b'n') => {
            text.starts_with("npm ERR!")
                || text.starts_with("npm error ")
                || text.starts_with("ninja: build stopped")
        }
        Some(b'e') => {
            (text.starts_with("error: Recipe `") && text.contains("failed"))
                || text.starts_with("error Command failed with exit code")
                || text.starts_with("error: script \"")
        }
        Some(b't') => text.starts_with("task: Failed to run task"),
        Some(b'r') => text.starts_with("rake aborted!"),
        Some(b'[') => {
            text.split_once("] ").is_some_and(|(_, rest)| rest.starts_with("ERROR task failed"))
        }
        Some(b'B') => {
            if text.starts_with("BUILD SUCCESS") {
                return tally.passed();
            }
            text.starts_with("BUILD FAIL")
        }
        Some(b'E') => text.starts_with("ELIFECYCLE") || text.starts_with("ERR_PNPM_"),
        Some(0xe2) => text.contains("ELIFECYCLE"),
        Some(b'h') => text.starts_with("husky - ") && text.contains("hook exited with code"),
        _ => false,
    };
    failed && tally.failed()
}

/// Lines that indicate a failure unless a result line contradicts them: compiler errors under a
/// test runner, uncaught exceptions, a missing program.
pub(super) fn breaks(line: &str, tally: &mut Tally) {
    let broke = match line.as_bytes().first() {
        Some(b'e') => line.starts_with("error[E") || line.starts_with("error: could not compile"),
        Some(b'T') => line.starts_with("Traceback (most recent call last):"),
        Some(b'p') => line.starts_with("panic: "),
        Some(b't') => line.starts_with("thread '") && line.contains("' panicked at"),
        Some(b'S') => line.starts_with("Segmentation fault"),
        _ => {
            line.ends_with(": command not found")
                || line.starts_with("Error: Cannot find module")
                || line.ends_with(": No module named pytest")
                || line.contains(" error TS")
        }
    } || line.ends_with(": command not found");
    if broke {
        tally.broke();
    }
}

/// Messages from compilers and bundlers.
pub(super) fn read(line: &str, tally: &mut Tally) -> bool {
    let text = line.trim_start();
    rust(text, tally)
        || go(line, tally)
        || typescript(text, tally)
        || native(line, tally)
        || bundlers(text, tally)
}

fn rust(text: &str, tally: &mut Tally) -> bool {
    if text.starts_with("error[E") {
        tally.issues += 1;
        return tally.failed();
    }
    if let Some(rest) = text.strip_prefix("error: ") {
        if rest.starts_with("could not compile") {
            let errors = rest.split_once("due to ").and_then(|(_, rest)| first_number(rest));
            // `due to previous error` means a single error.
            tally.counts.add(&Counts { errors: errors.or(Some(1)), ..Counts::default() });
        }
        return tally.failed();
    }
    if text.starts_with("warning: ")
        && let Some((_, rest)) = text.split_once(" generated ")
        && let Some((number, _)) = leading_number(rest)
    {
        tally.counts.add(&Counts { warnings: Some(number), ..Counts::default() });
        return true;
    }
    if text.starts_with("Finished `")
        || text.starts_with("Finished dev [")
        || text.starts_with("Finished release [")
    {
        return tally.passed();
    }
    false
}

/// `# package`, then `file.go:1:2: message`.
fn go(line: &str, tally: &mut Tally) -> bool {
    if line.starts_with("# ") && !line.contains(". ") && line.split(' ').count() <= 3 {
        tally.after = After::GoPackage;
        return true;
    }
    let text = line.strip_prefix("vet: ").unwrap_or(line);
    if let Some((path, rest)) = text.split_once(".go:")
        && !path.contains(' ')
        && leading_number(rest).is_some_and(|(_, rest)| rest.starts_with(':'))
    {
        tally.issues += 1;
        return tally.failed();
    }
    if tally.after == After::GoPackage && line.starts_with("package ") {
        return tally.failed();
    }
    line.starts_with("no required module provides package") && tally.failed()
}

fn typescript(text: &str, tally: &mut Tally) -> bool {
    if text.contains("error TS") {
        tally.issues += 1;
        return tally.failed();
    }
    if let Some(rest) = text.strip_prefix("Found ")
        && let Some((number, rest)) = leading_number(rest)
        && (rest.starts_with(" error")
            || rest.starts_with(" problem")
            || rest.starts_with(" issue"))
    {
        // `Found 3 errors (2 fixed, 1 remaining).`
        let remaining = rest
            .split_once(" fixed, ")
            .and_then(|(_, rest)| leading_number(rest))
            .map_or(number, |(left, _)| left);
        tally.counts.add(&Counts { errors: Some(remaining), ..Counts::default() });
        return if remaining > 0 { tally.failed() } else { tally.passed() };
    }
    false
}

/// `file.c:1:2: error: message`, linkers, javac.
fn native(line: &str, tally: &mut Tally) -> bool {
    if let Some(at) = memchr::memmem::find(line.as_bytes(), b" error: ") {
        let before = line.get(..at).unwrap_or_default();
        if before.ends_with(':') || before.ends_with(": fatal") {
            tally.issues += 1;
            return tally.failed();
        }
    }
    if line.contains("undefined reference to ")
        || line.starts_with("clang: error:")
        || line.starts_with("CMake Error")
    {
        return tally.failed();
    }
    if let Some((number, rest)) = leading_number(line)
        && matches!(rest, " error" | " errors" | " error generated." | " errors generated.")
    {
        tally.counts.add(&Counts { errors: Some(number), ..Counts::default() });
        return if number > 0 { tally.failed() } else { true };
    }
    // .NET
    let text = line.trim_start();
    if let Some((number, rest)) = leading_number(text) {
        match rest {
            " Error(s)" => {
                tally.counts.errors = Some(number);
                return true;
            }
            " Warning(s)" => {
                tally.counts.warnings = Some(number);
                return true;
            }
            _ => {}
        }
    }
    match text {
        "Build succeeded." => tally.passed(),
        "Build FAILED." => tally.failed(),
        _ => text.contains(": error CS") && tally.failed(),
    }
}

fn bundlers(text: &str, tally: &mut Tally) -> bool {
    if text.starts_with("ERROR in ")
        || text.starts_with("Failed to compile")
        || text.starts_with("✘ [ERROR]")
        || text.starts_with("error during build:")
        || text.starts_with("ERROR: failed to solve")
        || text.starts_with("ERROR: failed to build")
        || text.starts_with("> Build error occurred")
    {
        return tally.failed();
    }
    if text.starts_with("webpack ") && text.contains(" compiled ") {
        return if text.contains(" error") { tally.failed() } else { tally.passed() };
    }
    if text.starts_with("✓ built in ")
        || text.starts_with("Compiled successfully")
        || text.starts_with("✓ Compiled successfully")
        || text.starts_with("Successfully built ")
        || text.starts_with("Build complete!")
    {
        return tally.passed();
    }
    false
}

/// Messages from installers, downloads, publishing and deployment.
pub(super) fn transfer(line: &str, tally: &mut Tally) -> bool {
    let text = line.trim_start();
    if text.starts_with("ERROR: ")
        || text.starts_with("E: ")
        || text.starts_with("curl: (")
        || text.starts_with("fatal: ")
        || text.starts_with("error: ")
        || text.starts_with("Error: ")
        || text.starts_with("error[")
    {
        return tally.failed();
    }
    if text.starts_with("Successfully installed ")
        || (text.starts_with("added ") && text.contains(" package"))
        || text.starts_with("up to date")
        || text.starts_with("Apply complete!")
        || text.starts_with("Requirement already satisfied")
    {
        return tally.passed();
    }
    false
}

/// Whether a build tool says that only linters or similar tools failed, but no tests.
#[must_use]
pub fn stopped_elsewhere(output: &str) -> bool {
    const OTHERS: [&str; 9] = [
        "checkstyle",
        "pmd",
        "spotbugs",
        "ktlint",
        "detekt",
        "spotless",
        "javadoc",
        "lint",
        "license",
    ];
    let failed = output.lines().filter_map(|line| {
        let line = line.trim();
        let task = line.strip_prefix("> Task ").and_then(|task| task.strip_suffix(" FAILED"));
        let goal = line.split_once("Failed to execute goal ").map(|(_, goal)| goal);
        task.or(goal)
    });
    let mut failed = failed.peekable();
    failed.peek().is_some() && failed.all(|task| OTHERS.iter().any(|other| task.contains(other)))
}
