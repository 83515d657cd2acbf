//! The page `spec/agent/schedule.md`.

const PAGE: &str = include_str!("../../../../spec/agent/schedule.md");

/// The lines of the block with this name: what comes before the arrow, and what comes after it.
fn cases(block: &str) -> Vec<(&'static str, &'static str)> {
    let (_, rest) = PAGE.split_once(&format!("```{block}\n")).unwrap();
    let (cases, _) = rest.split_once("```").unwrap();
    cases.lines().map(|line| line.split_once(" → ").unwrap()).collect()
}

/// Phrases and their first two firings.
pub(crate) fn understood() -> Vec<(&'static str, &'static str, &'static str)> {
    let case = |(phrase, times): (&'static str, &'static str)| {
        let (first, second) = times.split_once(", ").unwrap();
        (phrase, first, second)
    };
    cases("understood").into_iter().map(case).collect()
}

/// Phrases and why they are refused; what comes after "; try" is left out.
pub(crate) fn refused() -> Vec<(&'static str, &'static str)> {
    let blank = ["", "   "].map(|phrase| (phrase, "the phrase is empty"));
    cases("refused").into_iter().chain(blank).collect()
}
