use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The length of a list in a JSON result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListLength {
    /// The members that lead to the list, joined by dots; empty if the result itself is the list.
    pub path: String,
    /// The number of entries.
    pub length: u64,
}

/// Maximum number of lists kept per result.
const MOST: usize = 12;
/// Maximum depth at which lists are looked for.
const DEEPEST: usize = 4;

/// The lists in a result that is a single JSON value, except lists within lists.
pub(crate) fn lengths(text: &str) -> Vec<ListLength> {
    let mut found = Vec::new();
    collect(text, "", 0, &mut found);
    found
}

fn collect(text: &str, path: &str, depth: usize, found: &mut Vec<ListLength>) {
    let text = text.trim();
    if text.starts_with('[') && found.len() < MOST {
        let items = serde_json::from_str::<Vec<IgnoredAny>>(text).ok();
        let length = items.and_then(|items| u64::try_from(items.len()).ok());
        found.extend(length.map(|length| ListLength { path: path.to_owned(), length }));
    } else if text.starts_with('{') && depth < DEEPEST {
        let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(text);
        for (name, value) in members.unwrap_or_default() {
            let path = if path.is_empty() { name } else { format!("{path}.{name}") };
            collect(value.get(), &path, depth + 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted() {
        for (text, expected) in [
            ("[1, 2, [3, 4]]", " 3"),
            (r#"{"items": [{"tags": [1]}, {}], "page": {"ids": []}}"#, "items 2; page.ids 0"),
            (r#"{"total": 5}"#, ""),
            ("no JSON", ""),
            ("[1, 2", ""),
            ("", ""),
        ] {
            let found = lengths(text);
            let shown = found.iter().map(|l| format!("{} {}", l.path, l.length));
            assert_eq!(shown.collect::<Vec<_>>().join("; "), expected, "{text}");
        }
    }
}
