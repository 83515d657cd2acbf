use std::sync::LazyLock;

use regex::Regex;

/// What a filter puts in place of lines. It is never counted, merged or left out again.
static NOTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\[(?:\d+ lines? left out|the line above (?:once|\d+ times) more)\]$").ok()
});

/// In place of lines that were left out for their number.
pub(super) fn left_out(count: usize) -> String {
    let noun = if count == 1 { "line" } else { "lines" };
    format!("[{count} {noun} left out]")
}

/// Behind a line that came several times in a row.
pub(super) fn repeated(more: usize) -> String {
    if more == 1 {
        "[the line above once more]".to_owned()
    } else {
        format!("[the line above {more} times more]")
    }
}

/// Whether a line is such a note.
pub(super) fn is_note(line: &str) -> bool {
    line.starts_with('[') && NOTE.as_ref().is_some_and(|note| note.is_match(line))
}

/// The lines as a text that ends as `like` does.
pub(super) fn joined(lines: &[&str], like: &str) -> String {
    let mut text = lines.join("\n");
    if like.ends_with('\n') && !lines.is_empty() {
        text.push('\n');
    }
    text
}
