use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Makes a name safe to print on one line: escapes control characters and marks that reorder text.
pub(super) fn shown(name: &str) -> Cow<'_, str> {
    if !name.chars().any(hides) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        if hides(c) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}", c.escape_unicode());
        } else {
            text.push(c);
        }
    }
    Cow::Owned(text)
}

fn hides(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Makes a path safe to print; the workspace itself is `.`.
pub(super) fn shown_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.is_empty() { ".".to_owned() } else { shown(&text).into_owned() }
}

/// At most this many characters of a text, and whether some are missing.
pub(super) fn head(text: &str, most: usize) -> (&str, bool) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (text.get(..at).unwrap_or(text), true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_line() {
        for (name, expected) in [
            ("plain é 日.rs", "plain é 日.rs"),
            ("a\nb", "a\\u{a}b"),
            ("\u{202e}gpj", "\\u{202e}gpj"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
        ] {
            assert_eq!(shown(name), expected);
        }
    }

    #[test]
    fn heads_end_between_characters() {
        assert_eq!(head("äöü", 2), ("äö", true));
        assert_eq!(head("äöü", 3), ("äöü", false));
        assert_eq!(head("", 0), ("", false));
    }
}
