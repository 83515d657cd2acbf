//! "49 passed", "8 failures": how many tests ended in one way, by the runs that count both.

use countersign_shell::RunSummary;

/// How tests ended, as a noun or participle says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Badly,
}

impl Ended {
    /// What the word says, if it says how tests ended.
    pub(super) fn of(word: &str) -> Option<Self> {
        let is = |known: &[&str]| known.iter().any(|known| known.eq_ignore_ascii_case(word));
        match () {
            () if is(&["passed", "passing", "pass"]) => Some(Self::Well),
            () if is(&["failed", "failing", "failure", "failures"]) => Some(Self::Badly),
            () => None,
        }
    }

    /// Whether so many ended in this way in a run; `None` where the run does not count both.
    pub(super) fn agrees(self, number: u64, run: &RunSummary, text: &str) -> Option<bool> {
        let (passed, failed) = (run.passed?, run.failed.or(run.errors)?);
        let troubles = failed.saturating_add(run.errors.unwrap_or(0));
        let counted = match self {
            Self::Well => number == passed,
            Self::Badly => number == failed || number == troubles,
        };
        let stem = match self {
            Self::Well => "pass",
            Self::Badly => "fail",
        };
        Some(counted || stands_beside(text, number, stem))
    }
}

/// Whether the number stands directly before or behind a word that begins so.
fn stands_beside(text: &str, number: u64, stem: &str) -> bool {
    let number = number.to_string();
    let begins = |word: &str| word.get(..stem.len()).is_some_and(|w| w.eq_ignore_ascii_case(stem));
    let mut before = "";
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let last = std::mem::replace(&mut before, word);
        (last == number && begins(word)) || (begins(last) && word == number)
    })
}
