use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// How many entries a list in a JSON result has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListLength {
    /// The members that lead to the list, joined by dots; empty where the result itself is it.
    pub path: String,
    /// The number of its entries.
    pub length: u64,
}

/// The most lists that are kept of one result.
const MOST: usize = 12;
/// How deep lists are looked for.
const DEEPEST: usize = 4;

/// The lists of a result that is one JSON value, lists within lists aside.
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
