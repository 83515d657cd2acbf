use std::sync::LazyLock;

use regex::Regex;

/// Matches the notes that filters insert. They are never counted, merged or left out.
static NOTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\[(?:\d+ lines? left out|the line above (?:once|\d+ times) more)\]$").ok()
});

/// The note in place of lines that were left out.
pub(super) fn left_out(count: usize) -> String {
    let noun = if count == 1 { "line" } else { "lines" };
    format!("[{count} {noun} left out]")
}

/// The note after a line that was repeated.
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

/// The lines joined to a text that ends in a line feed if `like` does.
pub(super) fn joined(lines: &[&str], like: &str) -> String {
    let mut text = lines.join("\n");
    if like.ends_with('\n') && !lines.is_empty() {
        text.push('\n');
    }
    text
}
