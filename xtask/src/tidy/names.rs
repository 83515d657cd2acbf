//! Rejects names that say nothing.

use anyhow::Result;

use super::complaint::Complaint;
use super::house::House;

const EMPTY: [&str; 13] = [
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "misc",
    "base",
    "manager",
    "handler",
    "processor",
    "core",
    "data",
    "info",
];

/// Words that are no nouns of the domain; as types they hide what was asked, told or said.
const NO_NOUNS: [&str; 5] = ["Asked", "Told", "Said", "Stands", "Way"];

/// Types with a name that comes from elsewhere, and from where.
const EXCUSED: [(&str, &str); 1] = [("StreakInfo", "the name of the published tracker's record")];

/// Where a type may be named by a word of `NO_NOUNS`, and why.
const EXCUSED_AT: [(&str, &str, &str); 1] =
    [("crates/ledger/src/event.rs", "Said", "the name of the recorded event kind")];

/// Folders with a name that comes from elsewhere, and from where.
const FOREIGN: [(&str, &str); 1] = [("crates/python/counterfoil.data/", "the format of wheels")];

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for path in house.paths().filter(|path| !FOREIGN.iter().any(|(at, _)| path.starts_with(at))) {
        for name in path.split('/') {
            let stem = name.split('.').next().unwrap_or_default();
            let word = stem.rsplit(['_', '-']).next().unwrap_or_default().to_lowercase();
            if EMPTY.contains(&word.as_str()) {
                complaints.push(Complaint::new(
                    path,
                    0,
                    format!("`{name}` does not say what is in it"),
                    "name it after the one idea it holds; if it holds several, split it",
                ));
            }
        }
    }
    for (path, text) in house.texts().filter(|(path, _)| path.ends_with(".rs")) {
        for (at, line) in text.lines().enumerate() {
            if function_name(line) == Some("of") {
                complaints.push(Complaint::new(
                    path,
                    at + 1,
                    "a function is called `of`".to_owned(),
                    "call a constructor `new`, `parse`, `from_…` or `load`, and others after what \
                     they do",
                ));
            }
            let Some(name) = type_name(line) else { continue };
            let excused = |(file, known, _): &(&str, &str, &str)| *file == path && *known == name;
            if NO_NOUNS.contains(&name) && !EXCUSED_AT.iter().any(excused) {
                complaints.push(Complaint::new(
                    path,
                    at + 1,
                    format!("the type name `{name}` is not a noun of the domain"),
                    "name what it is, in the words of spec/glossary.md",
                ));
            }
            let last = name.rfind(char::is_uppercase).and_then(|at| name.get(at..));
            let word = last.unwrap_or(name).to_lowercase();
            if EMPTY.contains(&word.as_str()) && !EXCUSED.iter().any(|(known, _)| *known == name) {
                complaints.push(Complaint::new(
                    path,
                    at + 1,
                    format!("the type name `{name}` ends in a word that says nothing"),
                    "name what it is, in the words of spec/glossary.md",
                ));
            }
        }
    }
    Ok(complaints)
}

/// Returns the name of the function that a line declares.
fn function_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let name = loop {
        match words.next()? {
            "fn" => break words.next()?,
            "async" | "const" | "unsafe" | "extern" => {}
            word if word.starts_with("pub") || word == "in" || word.ends_with([')', '"']) => {}
            _ => return None,
        }
    };
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Returns the name of the type that a line declares.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let name = loop {
        match words.next()? {
            "struct" | "enum" | "trait" | "type" | "union" => break words.next()?,
            word if word.starts_with("pub") || word == "in" || word.ends_with(')') => {}
            _ => return None,
        }
    };
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_names_are_found() {
        let cases: [(&str, &str, usize); 8] = [
            ("crates/a/src/utils.rs", "", 1),
            ("crates/a/src/call_helpers/x.rs", "", 1),
            ("crates/a/src/database.rs", "", 0),
            ("crates/a/src/a.rs", "pub(crate) struct FooManager<T>(T);", 1),
            ("crates/a/src/a.rs", "enum Core {", 1),
            ("crates/a/src/a.rs", "struct Database;", 0),
            ("crates/a/src/a.rs", "/// a struct Manager", 0),
            ("crates/a/src/a.rs", "pub struct StreakInfo {", 0),
        ];
        for (path, text, expected) in cases {
            let found = check(&House::with_files(&[(path, text)])).unwrap();
            assert_eq!(found.len(), expected, "{path} {text}");
        }
    }
    #[test]
    fn no_function_is_called_of_and_types_are_nouns() {
        let cases: [(&str, &str, usize); 16] = [
            ("crates/a/src/a.rs", "    fn of(text: &str) -> Self {", 1),
            ("crates/a/src/a.rs", "    pub(in crate::gate) fn of<'a>(", 1),
            ("crates/a/src/a.rs", "pub(crate) const fn of(", 1),
            ("crates/a/tests/it/a.rs", "    async fn of(&self) {", 1),
            ("crates/a/src/a.rs", "    fn of_bytes(bytes: &[u8]) -> Self {", 0),
            ("crates/a/src/a.rs", "    fn read(of: &str) {", 0),
            ("crates/a/src/a.rs", "    // fn of(", 0),
            ("crates/a/src/a.rs", "struct Asked {", 1),
            ("crates/a/src/a.rs", "    pub(super) enum Told<'a> {", 1),
            ("crates/a/src/a.rs", "pub(crate) type Way = (u8, u8);", 1),
            ("crates/a/src/a.rs", "struct Stands;", 1),
            ("crates/a/src/a.rs", "struct Wayward;", 0),
            ("crates/a/src/a.rs", "    Asked(u32),", 0),
            ("crates/a/src/event.rs", "pub struct Said {", 1),
            ("crates/ledger/src/event.rs", "pub struct Said {", 0),
            ("crates/ledger/src/event.rs", "pub struct Told {", 1),
        ];
        for (path, text, expected) in cases {
            let found = check(&House::with_files(&[(path, text)])).unwrap();
            assert_eq!(found.len(), expected, "{path} {text}");
        }
    }
}
