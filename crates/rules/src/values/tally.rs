//! What results count: numbers that they print beside a noun, lists, and lines of one kind.

use super::leaves::{Leaf, Leaves, Node};
use crate::prose::Words;

/// Things that tools count, whatever they call them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Countable {
    /// Tests and their cases.
    Tests,
    /// What a check complains about.
    Troubles,
    /// Files.
    Files,
    /// What a search gives back.
    Hits,
    /// Commits.
    Commits,
    /// Lines that a change puts in.
    Insertions,
    /// Lines that a change takes out.
    Deletions,
}

/// A longer line is content, not a report.
const LONGEST_LINE: usize = 400;

/// A number this large is an id or a size.
const TOO_MANY: u64 = 1_000_000;

/// Nouns and participles by what they count.
const NOUNS: [(&str, Countable); 38] = [
    ("test", Countable::Tests),
    ("tests", Countable::Tests),
    ("testcases", Countable::Tests),
    ("specs", Countable::Tests),
    ("passed", Countable::Tests),
    ("passing", Countable::Tests),
    ("pass", Countable::Tests),
    ("failed", Countable::Tests),
    ("failing", Countable::Tests),
    ("error", Countable::Troubles),
    ("errors", Countable::Troubles),
    ("issue", Countable::Troubles),
    ("issues", Countable::Troubles),
    ("warning", Countable::Troubles),
    ("warnings", Countable::Troubles),
    ("problem", Countable::Troubles),
    ("problems", Countable::Troubles),
    ("violation", Countable::Troubles),
    ("violations", Countable::Troubles),
    ("offenses", Countable::Troubles),
    ("failure", Countable::Tests),
    ("failures", Countable::Tests),
    ("file", Countable::Files),
    ("files", Countable::Files),
    ("match", Countable::Hits),
    ("matches", Countable::Hits),
    ("results", Countable::Hits),
    ("hits", Countable::Hits),
    ("occurrences", Countable::Hits),
    ("entries", Countable::Hits),
    ("records", Countable::Hits),
    ("rows", Countable::Hits),
    ("commits", Countable::Commits),
    ("examples", Countable::Tests),
    ("insertion", Countable::Insertions),
    ("insertions", Countable::Insertions),
    ("deletion", Countable::Deletions),
    ("deletions", Countable::Deletions),
];

impl Countable {
    /// What a noun counts.
    pub(crate) fn of(noun: &str) -> Option<Self> {
        let known = NOUNS.iter().find(|(known, _)| known.eq_ignore_ascii_case(noun));
        known.map(|(_, countable)| *countable)
    }
}

/// What one result counts of one kind.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Numbers that stand beside the noun.
    pub(crate) printed: Vec<u64>,
    /// Lines and list items that may be what is counted.
    pub(crate) counted: Vec<u64>,
    /// Lines that are plainly of the kind: one for each test.
    pub(crate) certain: Option<u64>,
}

impl Tally {
    /// Counts in a result.
    pub(crate) fn of(text: &str, kind: Countable) -> Self {
        let mut tally = Self::default();
        tally.read_words(text, kind);
        tally.count_lines(text, kind);
        if text.trim_start().starts_with(['{', '[']) {
            tally.counted.extend(lengths(text));
            if kind == Countable::Hits {
                tally.certain = tally.certain.or(listed(text));
            }
        }
        tally
    }

    /// Whether nothing speaks of the kind.
    pub(crate) fn is_silent(&self) -> bool {
        self.printed.is_empty() && self.certain.is_none()
    }

    /// `3 files`, `4 lint errors`, `errors: 4`, `rows=48`, `12 passed, 1 failed`; a line's numbers
    /// and their sum.
    fn read_words(&mut self, text: &str, kind: Countable) {
        let lines = text.lines().filter(|line| line.len() < LONGEST_LINE);
        for line in lines.map(without_number) {
            let from = self.printed.len();
            self.printed.extend(command_tag(line).filter(|_| kind == Countable::Hits));
            let mut number: Option<(u64, usize)> = None;
            let mut named = false;
            for word in line.split_ascii_whitespace() {
                let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
                // "1 Warning(s)"
                let bare = bare.strip_suffix("(s").unwrap_or(bare);
                if let Some((noun, value)) = bare.split_once('=') {
                    let own = Countable::of(noun) == Some(kind);
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
                let noun = Countable::of(bare) == Some(kind)
                    || (kind == Countable::Tests && is_left_out(bare));
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

    fn count_lines(&mut self, text: &str, kind: Countable) {
        let (mut all, mut placed, mut paths, mut tests, mut tops) = (0, 0, 0, 0, 0);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            all += 1;
            placed += u64::from(is_placed(line));
            paths += u64::from(is_path(line));
            let test = is_test(line.trim_start());
            tests += u64::from(test);
            tops += u64::from(test && !line.starts_with([' ', '\t']));
        }
        match kind {
            Countable::Tests => {
                self.certain = (tests > 0).then_some(tests);
                self.counted.extend([tests, tops]);
            }
            Countable::Troubles => self.counted.push(placed),
            Countable::Hits => self.counted.extend([all, placed, paths]),
            Countable::Files | Countable::Commits => self.counted.extend([placed, paths]),
            // Of several changes, the sum.
            Countable::Insertions | Countable::Deletions => {
                let sum = self.printed.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
                self.counted.push(sum);
            }
        }
        if kind == Countable::Commits {
            self.counted.push(all);
        }
    }
}

/// "UPDATE 1843", "INSERT 0 12": how many rows a database says that a statement was about.
fn command_tag(line: &str) -> Option<u64> {
    let mut words = line.split_ascii_whitespace();
    let statement = words.next()?;
    let number = words.next_back()?;
    let between = words.next();
    let plain = match statement {
        "UPDATE" | "DELETE" | "SELECT" | "COPY" | "MERGE" => between.is_none(),
        "INSERT" => between == Some("0") && words.next().is_none(),
        _ => false,
    };
    whole(number).filter(|_| plain)
}

/// A line of a file without the number that a viewer puts before it.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(['→', '\t']).unwrap_or(line)
}

/// What a runner calls tests that it counts and does not run.
fn is_left_out(word: &str) -> bool {
    let known = ["skipped", "ignored", "deselected", "pending", "todo", "xfailed", "xpassed"];
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// A line that is a path, with a mark before it at most: ` M src/a.rs`.
fn is_path(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace().rev();
    let path = words.next().is_some_and(|word| word.contains(['.', '/']));
    path && words.next().is_none_or(|mark| mark.len() <= 2) && words.next().is_none()
}

/// A line that says how one test went.
fn is_test(line: &str) -> bool {
    let marks = ["--- PASS", "--- FAIL", "✓", "✔", "✗", "✕", "PASSED", "FAILED "];
    marks.iter().any(|mark| line.starts_with(mark))
        || (line.starts_with("test ") && line.contains(" ... "))
        || line.ends_with(" PASSED")
        || line.ends_with(" FAILED")
}

/// A line that begins with a place: `src/a.rs:12: …`.
fn is_placed(line: &str) -> bool {
    let mut parts = line.splitn(3, ':');
    let path = parts.next().is_some_and(|path| path.contains(['.', '/']) && !path.contains(' '));
    path && parts.next().is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// How long the list is that a JSON text is.
fn listed(text: &str) -> Option<u64> {
    let leaves = Leaves::of(text)?;
    match leaves.nodes().first()?.leaf {
        Leaf::List(count) => u64::try_from(count).ok(),
        _ => None,
    }
}

/// How long the list is that a JSON text is, or of the only one in it.
pub(crate) fn list_of(text: &str) -> Option<u64> {
    let leaves = Leaves::of(text)?;
    if let Some(counted) = only_count(leaves.nodes()) {
        return Some(counted);
    }
    let mut lists =
        leaves.nodes().iter().filter(|node| node.parent == 0).filter_map(|node| match node.leaf {
            Leaf::List(count) => u64::try_from(count).ok(),
            _ => None,
        });
    let first = lists.next()?;
    let own = matches!(leaves.nodes().first()?.leaf, Leaf::List(_));
    (own || lists.next().is_none()).then_some(first)
}

/// `{"rows": [[0]]}`, `[{"count": 0}]`: one number that counts, and no list of one.
fn only_count(nodes: &[Node<'_>]) -> Option<u64> {
    let of_one = |leaf: Leaf<'_>| matches!(leaf, Leaf::Object | Leaf::List(1));
    let mut plain = nodes.iter().filter(|node| !of_one(node.leaf));
    let (Some(node), None) = (plain.next(), plain.next()) else { return None };
    let Leaf::Number(number) = node.leaf else { return None };
    let listed = |at: usize| nodes.get(at).filter(|node| node.leaf == Leaf::List(1));
    let row = listed(node.parent).is_some_and(|row| listed(row.parent).is_some());
    let named = ["count", "total", "cnt", "num"].iter().any(|word| node.name.contains(word));
    (row || named).then(|| whole(number)).flatten()
}

/// How long the longest list in a JSON text is, 0 without one; `None` for a text that is not JSON
/// and may list things in its own way.
pub(crate) fn longest_list(text: &str) -> Option<u64> {
    if text.trim_start().starts_with(['{', '[']) {
        return Leaves::of(text).map(|_| lengths(text).into_iter().max().unwrap_or(0));
    }
    (text.lines().count() < 2).then_some(0)
}

/// The lengths of the lists of a JSON text.
fn lengths(text: &str) -> Vec<u64> {
    let leaves = Leaves::of(text);
    let nodes = leaves.iter().flat_map(|leaves| leaves.nodes());
    nodes
        .filter_map(|node| match node.leaf {
            Leaf::List(count) => u64::try_from(count).ok(),
            _ => None,
        })
        .collect()
}

/// Whole numbers in words, from two on.
pub(crate) const SPELLED: &Words = words![
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// A whole number: `12`, `1,204`, "three".
pub(crate) fn whole(word: &str) -> Option<u64> {
    if !word.bytes().next()?.is_ascii_digit() {
        let at = SPELLED.list.iter().position(|known| known.eq_ignore_ascii_case(word))?;
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
        let check = |text: &str, kind, printed: &[u64], certain| {
            let tally = Tally::of(text, kind);
            assert_eq!((tally.printed.as_slice(), tally.certain), (printed, certain), "{text}");
        };
        check("2 issues:\n* unused: 2", Countable::Troubles, &[2], None);
        check(" 4 files changed, 320 insertions(+)", Countable::Files, &[4], None);
        check("Tests: 12 passed, 1 failed", Countable::Tests, &[12, 1, 13], None);
        check("a.go:48:2: Error: no (unused)", Countable::Troubles, &[], None);
        check("--- PASS: A\n    --- PASS: A/x\nok", Countable::Tests, &[], Some(2));
        check("errors: 7", Countable::Troubles, &[7], None);
        check("found 1,204 matches", Countable::Hits, &[1204], None);
        check("(cost=0.5 rows=48,210 loops=1)", Countable::Hits, &[48210], None);
        check(" 2 files changed, 19 insertions(+)", Countable::Insertions, &[19], None);
        check("3 of the other things files", Countable::Files, &[], None);
    }
}
