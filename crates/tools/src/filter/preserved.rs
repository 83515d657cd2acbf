use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
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
    "error", "errors", "fail", "fails", "failed", "failure", "failures", "fatal", "panic",
    "critical", "denied", "killed", "aborted", "deadlock", "err!", "✗", "✕", "✖",
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

struct Search {
    words: AhoCorasick,
    passed: Regex,
}

static SEARCH: LazyLock<Option<Search>> = LazyLock::new(|| {
    let words = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(ANYWHERE.iter().chain(WORDS))
        .ok()?;
    let passed = Regex::new(&format!("^(?:{})$", PASSED.join("|"))).ok()?;
    Some(Search { words, passed })
});

/// Whether no filter may drop this line: panics, failures, security warnings, refused access. A
/// line that reports a passed test may be dropped, whatever the test is called.
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

impl Search {
    /// Whether a match counts: anywhere, or only as a word.
    fn counts(&self, text: &str, found: &aho_corasick::Match) -> bool {
        if found.pattern().as_usize() < ANYWHERE.len() {
            return true;
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
        !inside(before) && before != Some(&b'.') && !inside(after) && !extension
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
