//! Which tools a text names.

use std::collections::BTreeSet;

/// Returns the tools that a text names as whole words. A name of several words counts in any case and
/// with `-` like `_`; one of a single word only as it is written, because "edit the file" does not
/// name the tool `Edit`.
pub(crate) fn named<'t>(text: &str, tools: impl Iterator<Item = &'t String>) -> BTreeSet<String> {
    let folded = folded(text);
    tools.filter(|tool| names(text, &folded, tool)).cloned().collect()
}

/// Whether a text names the tool. Its folded form has the same length.
fn names(text: &str, folded_text: &str, tool: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    !tool.is_empty()
        && places(text, folded_text, tool).into_iter().any(|at| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + tool.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(part) && !after.is_some_and(part)
        })
}

/// The positions of a name in a text.
fn places(text: &str, folded_text: &str, tool: &str) -> Vec<usize> {
    let (text, name) = match tool.contains(['_', '-']) {
        true => (folded_text, folded(tool)),
        false => (text, tool.to_owned()),
    };
    text.match_indices(&name).map(|(at, _)| at).collect()
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
            ("grep, then Write-File.", vec!["grep", "write_file"]),
            ("Grep for it", vec![]),
            ("WRITE_FILE it", vec!["write_file"]),
            ("-grep", vec!["grep"]),
            ("egrep, write_files, write file", vec![]),
        ] {
            let found: Vec<String> = named(text, tools.iter()).into_iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
