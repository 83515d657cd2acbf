//! Lines of files that are cited, and that no result showed.

use super::any_case::AnyCase;
use super::given::Source;
use crate::facts::{Deed, Execution, Facts, ShellWork};

/// So many bytes before an answer are searched for lines of the file.
const REACH: usize = 256 * 1024;
/// A cited line is usually the head of what encloses the one that was seen.
const ENCLOSING: u64 = 3;
/// So many lines have to be numbered for a listing.
const LISTING: usize = 3;
/// Parts of commands that print what files hold.
const PRINTS: [&str; 18] = [
    "cat", "sed", "head", "tail", "awk", "less", "more", "show", "diff", "grep", "rg", "ag ",
    "nl ", "python", "blame", "cut ", "perl", "ruby",
];

/// The lines of a file that results showed, where the one that is cited is not among them, and all
/// that showed the file numbered its lines: "`src/a.py:16`", with a hit in line 61 only.
pub(crate) fn unseen_line(facts: &Facts<'_>, turn: usize, cited: &str) -> Option<String> {
    let (path, line) = cited.rsplit_once(':')?;
    let line: u64 = line.split(['-', '–']).next()?.parse().ok()?;
    let name = path.rsplit(['/', '\\']).next().filter(|name| name.contains('.'))?;
    if !facts.is_complete_before(turn) || !facts.given().is_whole_before(turn) {
        return None;
    }
    let search = AnyCase::new(name);
    let mut seen: Vec<(u64, u64)> = Vec::new();
    let mut added = 0_u64;
    for given in facts.given().near(turn, REACH) {
        let said = lines_behind(given.text, name, &search);
        let (at, argued) = match given.source {
            Source::Told => {
                seen.extend(said);
                continue;
            }
            Source::Argument(at) => (at, true),
            Source::Result(at) => (at, false),
        };
        let Some((execution, deed)) = facts.deed(at) else { continue };
        let arguments = execution.arguments();
        let asked = search.stands_in(arguments) || deed.written.iter().any(|p| p.contains(name));
        if argued {
            // What was put in moved the lines behind it.
            if deed.written.iter().any(|path| path.contains(name)) {
                let lines = u64::try_from(arguments.matches("\\n").count()).unwrap_or(u64::MAX);
                added = added.saturating_add(lines).saturating_add(2);
                if is_written_whole(deed) {
                    return None;
                }
            }
            continue;
        }
        let listed = asked.then(|| listing(given.text)).flatten();
        if let Some((from, to)) = listed {
            seen.push((from, to));
        } else if said.is_empty() && shows_unnumbered(execution, deed, asked, &search) {
            return None;
        }
        seen.extend(said);
    }
    let shown = |(from, to): &(u64, u64)| {
        let last = to.saturating_add(ENCLOSING).saturating_add(added);
        (from.saturating_sub(ENCLOSING)..=last).contains(&line)
    };
    if seen.is_empty() || seen.iter().any(shown) {
        return None;
    }
    seen.sort_unstable();
    seen.dedup();
    let spans = seen.iter().take(4).map(|(from, to)| match from == to {
        true => from.to_string(),
        false => format!("{from}–{to}"),
    });
    Some(spans.collect::<Vec<_>>().join(", "))
}

/// A tool that makes a file rather than change a part of it.
fn is_written_whole(deed: &Deed<'_>) -> bool {
    deed.shell.is_some()
        || deed.words().iter().any(|word| matches!(word.as_str(), "write" | "create" | "notebook"))
}

/// Whether the result may hold parts of the file without saying which lines they are.
fn shows_unnumbered(
    execution: &Execution<'_>,
    deed: &Deed<'_>,
    asked: bool,
    search: &AnyCase<'_>,
) -> bool {
    let text = execution.text();
    let edits = !deed.written.is_empty() && deed.shell.is_none();
    // A list of files or of commits, a run of tests: none shows what is in the file.
    let prints =
        |work: &ShellWork<'_>| work.opaque || PRINTS.iter().any(|word| work.command.contains(word));
    if deed.shell.as_ref().is_some_and(|work| !prints(work)) {
        return false;
    }
    let hunks = || text.contains("@@ ") && search.stands_in(text);
    (asked && !edits && !text.trim().is_empty()) || hunks()
}

/// The lines that a text gives behind the name of a file: `a.py:61`, `a.py(61`, `"a.py", line 61`.
fn lines_behind(text: &str, name: &str, search: &AnyCase<'_>) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = search.find(text, from) {
        from = at + name.len();
        // `retry.py` is no `test_retry.py`.
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        if before.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
            continue;
        }
        let rest = text.get(from..).unwrap_or_default();
        let marks = ["\", line ", "', line ", ", line ", " line ", ":L", "#L", ":", "(", "-"];
        let Some(rest) = marks.iter().find_map(|mark| rest.strip_prefix(mark)) else { continue };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if let Some(line) = rest.get(..digits).and_then(|n| n.parse().ok()) {
            found.push((line, line));
        }
    }
    found
}

/// The first and the last line of a listing that numbers its lines.
fn listing(text: &str) -> Option<(u64, u64)> {
    let numbers: Vec<u64> = text.lines().filter_map(gutter).collect();
    let rising = numbers.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
    let most = numbers.len() * 2 >= text.lines().count();
    let listed =
        rising && most && (numbers.len() >= LISTING || numbers.len() == text.lines().count());
    listed.then(|| Some((*numbers.first()?, *numbers.last()?))).flatten()
}

/// The number before a line: `  49→code`, `49:code`, `49 | code`.
fn gutter(line: &str) -> Option<u64> {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let behind = line.get(digits..)?;
    let marked = behind.starts_with(['→', '\t', ':', '|', '-']) || behind.starts_with(" |");
    line.get(..digits).filter(|_| marked)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings() {
        for (text, expected) in [
            ("  9→a\n 10→b\n 11→c", Some((9, 11))),
            ("14:def parse\n61:    parse", Some((14, 61))),
            ("def parse\nparse", None),
            ("3→a\n2→b\n1→c", None),
            ("", None),
        ] {
            assert_eq!(listing(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_behind_a_name() {
        let text = "x/a.py:61: hit; File \"a.py\", line 7; a.py(12); ba.py:9";
        let found = lines_behind(text, "a.py", &AnyCase::new("a.py"));
        let lines: Vec<u64> = found.into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [61, 7, 12]);
        let most = format!("a.py:{}", u64::MAX);
        assert_eq!(lines_behind(&most, "a.py", &AnyCase::new("a.py")), [(u64::MAX, u64::MAX)]);
    }
}
