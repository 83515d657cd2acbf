//! Shortens results that are too long to show: the beginning and the end are kept, and between them
//! lines that report problems. The ledger keeps the whole result.

use counterfoil_tools::is_preserved;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[tools.overflow]`: how much of a long result is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OverflowOptions {
    /// The maximum number of characters of one result that are shown. The agent can read the rest
    /// in pieces.
    pub max_chars: usize,
}

impl Default for OverflowOptions {
    fn default() -> Self {
        Self { max_chars: 30_000 }
    }
}

/// Why the options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`max_chars` is {0}; it must be between 1000 and 10000000")]
pub struct OverflowOptionsError(usize);

impl OverflowOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// When the number is out of range.
    pub fn resolve(self) -> Result<OverflowSettings, OverflowOptionsError> {
        if (1_000..=10_000_000).contains(&self.max_chars) {
            Ok(OverflowSettings { max_chars: self.max_chars })
        } else {
            Err(OverflowOptionsError(self.max_chars))
        }
    }
}

/// Validated settings: how much of a long result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverflowSettings {
    pub(crate) max_chars: usize,
}

impl Default for OverflowSettings {
    fn default() -> Self {
        Self { max_chars: 30_000 }
    }
}

/// Returns the beginning and the end of a text, each up to a third of the maximum, and up to a
/// third of lines between them that report problems. `None` if the text is short enough.
pub(crate) fn cut(text: &str, most: usize, how: Option<&str>) -> Option<String> {
    // A text has at least as many bytes as characters.
    if text.len() <= most || text.chars().count() <= most {
        return None;
    }
    let third = most / 3;
    let (head, rest) = text.split_at_checked(boundary(text, third))?;
    let between_length = rest.chars().count().saturating_sub(third);
    let (between, tail) = rest.split_at_checked(boundary(rest, between_length))?;
    let mut room = third.saturating_sub(200);
    let mut wrong = String::new();
    for line in between.lines().filter(|line| is_preserved(line)) {
        let cost = line.chars().count() + 1;
        if cost <= room {
            room -= cost;
            wrong.push_str(line);
            wrong.push('\n');
        }
    }
    let left_out = between.chars().count();
    let how = how.map(|how| format!("; {how} them")).unwrap_or_default();
    let what = if wrong.is_empty() { "" } else { "; including these lines" };
    let end = if wrong.is_empty() { String::new() } else { format!("{wrong}[...]\n") };
    Some(format!("{head}\n[... {left_out} characters left out{how}{what} ...]\n{end}{tail}"))
}

/// The byte offset after this many characters.
fn boundary(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_and_what_is_wrong_between_them_stay() {
        assert_eq!(cut(&"ä".repeat(1000), 1000, None), None);
        let text = format!("{}\nerror: it broke\n{}end", "ä".repeat(2000), "b\n".repeat(1000));
        let shown = cut(&text, 1000, Some("x shows")).unwrap();
        assert!(shown.chars().count() <= 1000, "{}", shown.chars().count());
        assert!(shown.starts_with("ääää") && shown.ends_with("b\nend"));
        assert!(shown.contains(
            "left out; x shows them; including these lines ...]\nerror: it broke\n[...]\n"
        ));
        assert!(
            cut(&"a\n".repeat(2000), 1000, None).unwrap().contains(" characters left out ...]\n")
        );
    }
}
