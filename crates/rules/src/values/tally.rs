//! Counts in results: numbers next to a noun, lists, and lines of one kind.

use super::leaves::{Leaf, Leaves, Node};
use crate::prose::{Words, sets};

/// Kinds of things that tools count, under any name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Countable {
    /// Tests and their cases.
    Tests,
    /// Problems that a check found, files, search hits, commits, changed lines.
    Others,
}

/// The maximum length of a line of a report, in bytes. A longer line is content.
const LONGEST_LINE: usize = 400;

/// The limit for counts. A number this large is an id or a size.
const TOO_MANY: u64 = 1_000_000;

impl Countable {
    /// The kind of thing that a noun counts.
    pub(crate) fn parse(noun: &str) -> Option<Self> {
        let is_in = |words: &Words| words.hold(noun.as_bytes());
        match (is_in(&sets::COUNTS_TESTS), is_in(&sets::COUNTS_OTHERS)) {
            (true, _) => Some(Self::Tests),
            (_, true) => Some(Self::Others),
            _ => None,
        }
    }
}

/// The counts of tests in one result.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Numbers next to the noun.
    pub(crate) printed: Vec<u64>,
    /// The numbers of lines or list items that may be what is counted.
    pub(crate) counted: Vec<u64>,
    /// The number of lines that plainly report one test each.
    pub(crate) certain: Option<u64>,
}

impl Tally {
    /// Reads the counts in a result.
    pub(crate) fn parse(text: &str) -> Self {
        let mut tally = Self::default();
        tally.read_words(text);
        tally.count_lines(text);
        if text.trim_start().starts_with(['{', '[']) {
            tally.counted.extend(lengths(text));
        }
        tally
    }

    /// Whether the result does not mention tests.
    pub(crate) fn is_silent(&self) -> bool {
        self.printed.is_empty() && self.certain.is_none()
    }

    /// `3 unit tests`, `passed: 4`, `tests=48`, `12 passed, 1 failed`: the numbers of a line and
    /// their sum.
    fn read_words(&mut self, text: &str) {
        let lines = text.lines().filter(|line| line.len() < LONGEST_LINE);
        for line in lines.map(without_number) {
            let from = self.printed.len();
            let mut number: Option<(u64, usize)> = None;
            let mut named = false;
            for word in line.split_ascii_whitespace() {
                let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
                // "1 Warning(s)"
                let bare = bare.strip_suffix("(s").unwrap_or(bare);
                if let Some((noun, value)) = bare.split_once('=') {
                    let own = Countable::parse(noun) == Some(Countable::Tests);
                    self.printed.extend(whole(value).filter(|_| own));
                    number = None;
                    continue;
                }
                if let Some(found) = whole(bare).filter(|found| *found < TOO_MANY) {
                    if named {
                        self.printed.push(found);
                    }
                    let open = !named && !word.ends_with([':', ')', ']', '→']);
                    number = open.then_some((found, 0));
                    named = false;
                    continue;
                }
                let noun = Countable::parse(bare) == Some(Countable::Tests) || is_left_out(bare);
                if let Some((found, _)) = number.filter(|_| noun) {
                    self.printed.push(found);
                }
                named = noun && word.ends_with([':', '=']) && number.is_none();
                number = number.filter(|(_, far)| !noun && *far < 2).map(|(n, far)| (n, far + 1));
            }
            let own = self.printed.get(from..).unwrap_or_default();
            if own.len() > 1 {
                let sum = own.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
                self.printed.push(sum);
            }
        }
    }

    fn count_lines(&mut self, text: &str) {
        let (mut tests, mut tops) = (0, 0);
        for line in text.lines().filter(|line| is_test(line.trim_start())) {
            tests += 1;
            tops += u64::from(!line.starts_with([' ', '\t']));
        }
        self.certain = (tests > 0).then_some(tests);
        self.counted.extend([tests, tops]);
    }
}

/// A line without the line number that a viewer adds.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(['→', '\t']).unwrap_or(line)
}

/// A runner's word for tests that it counts but does not run.
fn is_left_out(word: &str) -> bool {
    sets::LEFT_OUT.hold(word.as_bytes())
}

/// Whether a line reports how one test ended.
fn is_test(line: &str) -> bool {
    let marks = ["--- PASS", "--- FAIL", "✓", "✔", "✗", "✕", "PASSED", "FAILED "];
    marks.iter().any(|mark| line.starts_with(mark))
        || (line.starts_with("test ") && line.contains(" ... "))
        || line.ends_with(" PASSED")
        || line.ends_with(" FAILED")
}

/// The length of a JSON text that is a list, or of the only list in it.
pub(crate) fn list_of(text: &str) -> Option<u64> {
    let leaves = Leaves::parse(text)?;
    let mut lists = leaves.nodes().iter().filter(|node| node.parent == 0).filter_map(length);
    let first = lists.next()?;
    let own = matches!(leaves.nodes().first()?.leaf, Leaf::List(_));
    (own || lists.next().is_none()).then_some(first)
}

/// The lengths of all lists in a JSON text.
fn lengths(text: &str) -> Vec<u64> {
    let leaves = Leaves::parse(text);
    leaves.iter().flat_map(|leaves| leaves.nodes()).filter_map(length).collect()
}

/// The length of a value that is a list.
fn length(node: &Node<'_>) -> Option<u64> {
    match node.leaf {
        Leaf::List(count) => u64::try_from(count).ok(),
        _ => None,
    }
}

/// A whole number: `12`, `1,204`, "three".
pub(crate) fn whole(word: &str) -> Option<u64> {
    if !word.bytes().next()?.is_ascii_digit() {
        let at =
            sets::SPELLED_NUMBERS.list.iter().position(|known| known.eq_ignore_ascii_case(word))?;
        return u64::try_from(at + 2).ok();
    }
    let digits = word.bytes().all(|b| b.is_ascii_digit() || b == b',');
    digits.then(|| word.replace(',', "").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_results() {
        let check = |text: &str, printed: &[u64], certain| {
            let tally = Tally::parse(text);
            assert_eq!((tally.printed.as_slice(), tally.certain), (printed, certain), "{text}");
        };
        check("Tests: 12 passed, 1 failed", &[12, 1, 13], None);
        check("--- PASS: A\n    --- PASS: A/x\nok", &[], Some(2));
        check("passed: 7", &[7], None);
        check("tests=1,204", &[1204], None);
        check("3 of the other things tests", &[], None);
    }
}
