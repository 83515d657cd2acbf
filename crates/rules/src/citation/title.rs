//! Lines that announce the result of a tool.

use std::collections::BTreeMap;

use crate::prose::sets;

/// The last line before `at` that is not empty and opens no fenced block.
pub(super) fn line_before(text: &str, at: usize) -> Option<&str> {
    let mut lines = text.get(..at)?.lines().rev().map(str::trim).take(4);
    lines.find(|line| !line.is_empty() && !line.starts_with("```"))
}

/// "Here is the result of the speed test:": whether a line names nothing but a result of this tool.
pub(super) fn introduces(line: &str, tool: &str) -> bool {
    let line = line.rsplit(". ").next().unwrap_or(line);
    let lower = line.to_ascii_lowercase();
    let tool = tool.to_ascii_lowercase();
    let words = || lower.split(|c: char| !is_of_name(c));
    lower.ends_with(':')
        && words().any(|word| RESULT.contains(&word))
        && words().any(|word| word == tool || is_part(word, &tool))
        && only_speaks_of(&lower, &tool)
}

/// Whether a word is a part of a tool's name.
pub(super) fn is_part(word: &str, tool: &str) -> bool {
    !word.is_empty() && tool.split(['_', '-', '.']).any(|part| part == word)
}

/// Whether a text names nothing but a tool, given in small letters, and its execution.
pub(super) fn only_speaks_of(text: &str, tool: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut words = text.split(|c: char| !is_of_name(c));
    words.all(|word| {
        let plain = sets::BETWEEN_TOOL_AND_ID.list.contains(&word);
        word.is_empty() || word == tool || plain || is_part(word, tool)
    })
}

/// "Tool result:", "**Output**": whether a line ends with words for a result.
pub(super) fn is_head(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let line = line.trim_end_matches(['*', '`', ']', ' ', '{', '[']);
    let heads = || sets::RESULT_HEADS.list.iter();
    let ends = line.ends_with(':') || heads().any(|head| line.ends_with(head));
    ends && heads().any(|head| line.contains(head))
}

/// Where titles of results end, each with the tool that it names.
pub(super) type Titles = BTreeMap<usize, String>;

/// The lines, or their parts before an object, that only announce the result of a tool.
pub(super) fn titles(text: &str) -> Titles {
    let mut found = Titles::new();
    let (mut before, mut at) = ("", 0);
    for raw in text.split_inclusive('\n') {
        let line = raw.split('{').next().unwrap_or(raw).trim_end();
        if let Some(tool) = title(line).or_else(|| announced(before, line)) {
            found.insert(at + line.len(), tool.to_owned());
        }
        at += raw.len();
        before = if raw.trim().is_empty() { before } else { raw };
    }
    found
}

const RESULT: [&str; 4] = ["result", "results", "output", "response"];

/// The only word of a text that is spelled like the name of a tool, with the texts around it.
fn only_name(text: &str) -> Option<(&str, &str, &str)> {
    let mut words = text.split(|c: char| !is_of_name(c)).filter(|word| word.contains('_'));
    let name = words.next().filter(|_| words.next().is_none())?;
    let (before, after) = text.split_once(name)?;
    Some((before, name, after))
}

/// "run_speed_test result:", "run_speed_test() ->": the tool whose result a line only announces.
fn title(line: &str) -> Option<&str> {
    let line = line.trim_end_matches(['*', '`', ' ']);
    let arrow = ["->", "=>", "→"].iter().any(|arrow| line.ends_with(arrow));
    if !arrow && !line.ends_with(':') || line.starts_with('>') {
        return None;
    }
    let (before, name, after) = only_name(line.rsplit(". ").next()?)?;
    let call = after.strip_prefix('(').and_then(|call| call.split_once(')'));
    let after = call.map_or(after, |(_, rest)| rest);
    let mut words = [before, after].into_iter().flat_map(|part| part.split(|c| !is_of_name(c)));
    let result = words.any(|word| RESULT.iter().any(|known| word.eq_ignore_ascii_case(known)));
    let plain = only_speaks_of(before, "") && only_speaks_of(after, "");
    (plain && (result || call.is_some())).then_some(name)
}

/// "Let me run run_speed_test.", before a line "Result:": the tool that was to be called.
fn announced<'t>(before: &'t str, line: &str) -> Option<&'t str> {
    let head = line.trim_matches(['*', '#', ' ']).strip_suffix(':')?;
    RESULT.iter().find(|known| head.eq_ignore_ascii_case(known))?;
    let (before, name, after) = only_name(before)?;
    let before = before.trim_end_matches(['`', '*', ' ']);
    let verb = before.strip_suffix(" the").unwrap_or(before).rsplit(' ').next()?;
    let denied = before.contains("n't ") || before.contains(" not ");
    let calls = ["run", "running", "call", "calling", "use", "using"];
    let ends = after.trim_matches(|c: char| !c.is_alphanumeric());
    let calls = calls.contains(&verb.to_ascii_lowercase().as_str());
    (calls && !denied && matches!(ends, "" | "tool" | "now")).then_some(name)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
