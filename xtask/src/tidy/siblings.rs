//! Checks that no rule, reader, format or command uses another file of its folder.

use std::collections::BTreeMap;

use anyhow::Result;

use super::complaint::Complaint;
use super::house::House;

/// The folders, each with the path of its module.
const FOLDERS: [(&str, &str); 4] = [
    ("crates/rules/src/claims", "crate::claims"),
    ("crates/formats/src/reader", "crate::reader"),
    ("crates/report/src/format", "crate::format"),
    ("crates/cli/src/command", "crate::command"),
];

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for (folder, module) in FOLDERS {
        let table = house.text(&format!("{folder}/mod.rs")).unwrap_or_default();
        let mut owners: BTreeMap<&str, &str> = reexports(table);
        owners.extend(house.modules_in(folder).map(|(_, stem, _)| (stem, stem)));
        for (path, own, text) in house.modules_in(folder) {
            for (at, line) in text.lines().enumerate() {
                for prefix in ["super", module] {
                    for name in named_after(line, prefix) {
                        if let Some(owner) = owners.get(name)
                            && *owner != own
                        {
                            complaints.push(Complaint::new(
                                path,
                                at + 1,
                                format!("`{own}` imports from its neighbour `{owner}`"),
                                format!("move what both need out of {folder}/"),
                            ));
                        }
                    }
                }
            }
        }
    }
    complaints.dedup();
    Ok(complaints)
}

/// Returns the names that `mod.rs` re-exports, each with the file it comes from.
fn reexports(table: &str) -> BTreeMap<&str, &str> {
    table
        .lines()
        .filter_map(|line| line.split_once("use ").map(|(_, rest)| rest))
        .filter_map(|rest| rest.trim_end_matches(';').split_once("::"))
        .filter(|(owner, _)| !matches!(*owner, "super" | "crate" | "std" | "self"))
        .flat_map(|(owner, names)| {
            names
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|name| !name.is_empty())
                .map(move |name| (name, owner))
        })
        .collect()
}

/// Returns the names that follow `prefix::` in a line: one, or those of a list.
fn named_after<'l>(line: &'l str, prefix: &str) -> Vec<&'l str> {
    let code = line.split("//").next().unwrap_or_default();
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code.get(..at).and_then(|b| b.chars().next_back());
        // `super::super` refers to a module above the folder.
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let Some(rest) = code.get(at + prefix.len()..).and_then(|r| r.strip_prefix("::")) else {
            continue;
        };
        match rest.strip_prefix('{') {
            Some(list) => names.extend(list.split([',', '}']).map(str::trim).map(first_name)),
            None => names.push(first_name(rest)),
        }
    }
    names
}

fn first_name(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_not_imported() {
        let cases: [(&str, &[usize]); 9] = [
            ("use super::two::Two;", &[1]),
            ("use crate::claims::two;", &[1]),
            ("use super::{Table, two::Two};", &[1]),
            ("\nfn f() { super::two::g(); }", &[2]),
            ("use super::Two;", &[1]),
            ("use super::Table;", &[]),
            ("use crate::facts::two;", &[]),
            ("// unlike super::two", &[]),
            ("#[cfg(test)]\nmod tests {\n    use super::*;\n}", &[]),
        ];
        for (text, expected) in cases {
            let house = House::with_files(&[
                ("crates/rules/src/claims/mod.rs", "mod one;\nmod two;\npub(crate) use two::Two;"),
                ("crates/rules/src/claims/one.rs", text),
                ("crates/rules/src/claims/two.rs", "pub(crate) struct Two;"),
            ]);
            let lines: Vec<usize> = check(&house).unwrap().iter().map(|c| c.line).collect();
            assert_eq!(lines, expected, "{text}");
        }
    }
}
