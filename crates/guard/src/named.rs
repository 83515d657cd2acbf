//! Which tools a text names.

use std::collections::BTreeSet;

/// Returns the tools that a text names as whole words, in any case and with `-` like `_`.
pub(crate) fn named<'t>(text: &str, tools: impl Iterator<Item = &'t String>) -> BTreeSet<String> {
    let folded = folded(text);
    tools.filter(|tool| names(text, &folded, tool)).cloned().collect()
}

/// Whether a text names the tool. Its folded form has the same length.
fn names(text: &str, folded_text: &str, tool: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    !tool.is_empty()
        && folded_text.match_indices(&folded(tool)).any(|(at, _)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + tool.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(part) && !after.is_some_and(part)
        })
}

fn folded(text: &str) -> String {
    text.to_ascii_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_name_in_any_spelling_but_only_as_a_whole() {
        let tools = ["grep".to_owned(), "write_file".to_owned()];
        for (text, expected) in [
            ("use write_file", vec!["write_file"]),
            ("Grep, then Write-File.", vec!["grep", "write_file"]),
            ("WRITE_FILE it", vec!["write_file"]),
            ("-grep", vec!["grep"]),
            ("egrep, write_files, write file", vec![]),
        ] {
            let found: Vec<String> = named(text, tools.iter()).into_iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
