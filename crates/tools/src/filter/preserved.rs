use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use counterfoil_record::failure_openings;
use regex::Regex;

/// Texts that mark a line as a problem anywhere in it.
const ANYWHERE: &[&str] = &[
    "error:",
    "error[",
    "exception:",
    "panicked at",
    "panic:",
    "traceback (most recent call last)",
    "assertion",
    "segmentation fault",
    "core dumped",
    "stack overflow",
    "out of memory",
    "no space left",
    "disk full",
    "disk is full",
    "quota exceeded",
    "permission denied",
    "access denied",
    "unauthorized",
    "not authorized",
    "forbidden",
    "authentication",
    "invalid credentials",
    "host key verification",
    "certificate",
    "vulnerabilit",
    "cve-",
    "ghsa-",
    "malware",
    "security",
    "not ok ",
    "command not found",
    "no such file",
    "undefined reference",
    "timed out",
];

/// Texts that do so as a whole word.
const WORDS: &[&str] = &[
    "error",
    "errors",
    "exception",
    "exceptions",
    "fail",
    "fails",
    "failed",
    "failure",
    "failures",
    "fatal",
    "panic",
    "critical",
    "denied",
    "killed",
    "aborted",
    "deadlock",
    "err!",
    "✗",
    "✕",
    "✖",
];

/// Complete lines of known runners that report success, although the name of a test may contain
/// "error".
const PASSED: &[&str] = &[
    r"test .+ \.\.\. ok(?: <[0-9.]+m?s>)?",
    r" *PASS \[ *[0-9.]+s\] .+",
    r"\S+::\S.* PASSED +\[ *\d+%\]",
    r"\S+\.py [.sx]+ +\[ *\d+%\]",
    r"[A-Za-z_]\w* \([\w.]+\) \.\.\. ok",
    r" *--- PASS: \S+ \([0-9.]+s\)",
    r"=== (?:RUN|PAUSE|CONT|NAME) +\S+",
    r" *[✓✔√] .+",
    r"PASS +\S+\.[cm]?[jt]sx?(?: \([0-9.]+ m?s\))?",
    r" *ok \d+ - .+",
    r"\s*Compiling [\w-]+ v\S+(?: \(.*\))?",
    r"\s*(?:Checking|Downloaded|Documenting|Fresh|Adding|Updating|Locking|Dirty) [\w-]+ v?\S+.*",
];

/// The words that end the name of a kind of exception, such as `KeyError`.
const KINDS: [&str; 2] = ["Error", "Exception"];

struct Search {
    words: AhoCorasick,
    passed: Regex,
}

static SEARCH: LazyLock<Option<Search>> = LazyLock::new(|| {
    let known = || ANYWHERE.iter().chain(WORDS).copied();
    // An opening that contains a known text would hide it.
    let openings = failure_openings().filter(|opening| !known().any(|text| opening.contains(text)));
    let words = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(known().chain(openings))
        .ok()?;
    let passed = Regex::new(&format!("^(?:{})$", PASSED.join("|"))).ok()?;
    Some(Search { words, passed })
});

/// Whether no filter may drop this line: panics, failures, exceptions, security warnings, refused
/// access, a full disk. A line that reports a passed test may be dropped, whatever the test is
/// called.
#[must_use]
pub fn is_preserved(line: &str) -> bool {
    // Without the search nothing is known, so nothing may be dropped.
    SEARCH.as_ref().is_none_or(|search| {
        search.words.find_iter(line).any(|found| search.counts(line, &found))
            && !search.passed.is_match(line)
    })
}

/// Every line that no filter may drop, in order, found in one pass.
pub(super) fn preserved(text: &str) -> Vec<&str> {
    let Some(search) = SEARCH.as_ref() else { return text.lines().collect() };
    let mut lines = Vec::new();
    let mut from = 0;
    while let Some(rest) = text.get(from..) {
        let Some(found) = search.words.find_iter(rest).find(|found| search.counts(rest, found))
        else {
            break;
        };
        let start = rest.get(..found.start()).and_then(|b| b.rfind('\n')).map_or(0, |at| at + 1);
        let end = rest.get(found.start()..).and_then(|b| b.find('\n'));
        let end = end.map_or(rest.len(), |at| found.start() + at);
        let line = rest.get(start..end).unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        if !search.passed.is_match(line) {
            lines.push(line);
        }
        from += end + 1;
    }
    lines
}

/// Whether a match ends the name of a kind of exception: `KeyError`, but not `failsOnError`.
fn names_a_kind(text: &str, found: &aho_corasick::Match) -> bool {
    let ends = text.get(found.range()).is_some_and(|word| KINDS.contains(&word));
    let before = text.get(..found.start()).unwrap_or_default();
    let named = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    ends && named.starts_with(|c: char| c.is_ascii_uppercase())
}

impl Search {
    /// Whether a match counts: anywhere, only as a word, or only at the beginning of a line.
    fn counts(&self, text: &str, found: &aho_corasick::Match) -> bool {
        let pattern = found.pattern().as_usize();
        if pattern < ANYWHERE.len() {
            return true;
        }
        if pattern >= ANYWHERE.len() + WORDS.len() {
            let line = text.get(..found.start()).and_then(|before| before.rsplit('\n').next());
            return line.is_some_and(|before| before.trim_start().is_empty());
        }
        let bytes = text.as_bytes();
        let inside = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-/".contains(byte))
        };
        let before = found.start().checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(found.end());
        // `error.rs` is a name; `error.` is the end of a sentence.
        let extension = after == Some(&b'.')
            && bytes.get(found.end() + 1).is_some_and(u8::is_ascii_alphanumeric);
        let begins = names_a_kind(text, found) || (!inside(before) && before != Some(&b'.'));
        begins && !inside(after) && !extension
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests each kind of line that the specification names.
    #[test]
    fn what_must_stay_is_known() {
        for line in [
            "thread 'main' panicked at src/lib.rs:3:5:",
            "panic: runtime error: index out of range [5]",
            "error[E0308]: mismatched types",
            "TypeError: x is not a function",
            "test parser::reads ... FAILED",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "--- FAIL: TestAdd (0.00s)",
            "  ✕ adds (3 ms)",
            "not ok 3 - adds",
            "3 vulnerabilities (1 high)",
            "warning: CVE-2026-1234 affects openssl",
            "security warning: the signature is missing",
            "remote: HTTP 403 Forbidden",
            "401 Unauthorized",
            "bash: ./x: Permission denied",
            "git@example.org: Permission denied (publickey).",
            "fatal: Authentication failed for 'https://example.org/'",
            "Segmentation fault (core dumped)",
            "make: *** [Makefile:3: all] Error 2",
            "test result: ok. 3 passed; 0 failed",
            "npm ERR! code ELIFECYCLE",
            "It ended with an error.",
            "write failed: disk full",
            "The disk is full",
            "java.lang.IllegalStateException",
            "  java.io.IOException",
            "KeyError",
            "Exception in thread \"main\"",
            "Unhandled exception",
            "remote: fatal: it broke",
            "could not connect to the server",
            "  unable to resolve the host",
        ] {
            assert!(is_preserved(line), "{line}");
            assert_eq!(preserved(&format!("a\n{line}\nb\n")), [line]);
        }
    }

    #[test]
    fn a_name_is_no_failure() {
        for line in [
            "test parser::error_in_line ... ok",
            "test fails_on_error - should panic ... ok",
            "   Compiling thiserror v2.0.1",
            "   Compiling error-chain v0.12.4 (/app/error)",
            "src/error.rs",
            "src/KeyError.java",
            "CartTest > failsOnError() PASSED",
            "copied to the folder that could not be read",
            "cc -c src/error/failed.c -o failed.o",
            "  ✓ shows an error: no such file (3 ms)",
            "tests/test_a.py::test_failed_login PASSED [ 50%]",
            "all is well",
            "",
        ] {
            assert!(!is_preserved(line), "{line}");
            assert!(preserved(line).is_empty(), "{line}");
        }
    }
}
