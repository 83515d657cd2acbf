//! "49 passed", "8 failures": compares the number of tests with one result with runs that count
//! both results.

use counterfoil_shell::{OutputVerdict, RunSummary};

/// How tests ended, according to a noun or participle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Badly,
}

impl Ended {
    /// Returns how tests ended if the word says so.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "passed" | "passing" | "pass" => Some(Self::Well),
            "failed" | "failing" | "fail" | "failure" | "failures" => Some(Self::Badly),
            _ => None,
        }
    }

    /// Whether this number of tests ended in this way in a run; `None` if the run does not count
    /// both.
    pub(super) fn agrees(self, number: u64, run: &RunSummary, text: &str) -> Option<bool> {
        let errors = run.errors.unwrap_or(0);
        // "OK (5 tests)"
        let none = (run.verdict == Some(OutputVerdict::Passed)).then_some(0);
        let failed = run.failed.or(run.errors).or(none)?;
        let (counted, stem) = match self {
            Self::Well => (number == run.passed?, "pass"),
            Self::Badly => {
                let all = run.failed.unwrap_or(0).saturating_add(errors);
                (number == failed || number == all, "fail")
            }
        };
        Some(counted || occurs_beside(text, number, stem))
    }
}

/// Whether the number is directly before or after a word with this beginning.
fn occurs_beside(text: &str, number: u64, stem: &str) -> bool {
    let number = number.to_string();
    let begins = |word: &str| word.get(..stem.len()).is_some_and(|w| w.eq_ignore_ascii_case(stem));
    let mut before = "";
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let last = std::mem::replace(&mut before, word);
        (last == number && begins(word)) || (begins(last) && word == number)
    })
}
