//! Only the guard may name what performs calls, because its executors spend a permit on each call.
//! The compiler checks permits; this checks that no code goes around them.

use anyhow::Result;

use super::complaint::Complaint;
use super::house::House;

/// The types that perform calls, and their input.
const PERFORM: [&str; 4] = ["ShellTools", "FileTools", "WebTools", "Wanted"];

/// The folders that may name them.
const MAY: [&str; 2] = ["crates/guard/src/executor/", "crates/tools/src/"];

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    let sources = |path: &str| path.starts_with("crates/") && path.ends_with(".rs");
    for (path, text) in house.texts().filter(|(path, _)| sources(path)) {
        if MAY.iter().any(|folder| path.starts_with(folder)) || !text.contains("counterfoil_tools")
        {
            continue;
        }
        for (at, line) in text.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if let Some(name) = words.find(|word| PERFORM.contains(word)) {
                complaints.push(Complaint::new(
                    path,
                    at + 1,
                    format!("`{name}` performs calls without a permit"),
                    "give the call to the guard: its executors have it performed",
                ));
            }
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_executors_perform_calls() {
        let cases: [(&str, &str, usize); 5] = [
            ("crates/serve/src/a.rs", "use counterfoil_tools::{FileTools, Wanted};", 1),
            ("crates/guard/src/call/a.rs", "\nlet x = counterfoil_tools::WebTools::new(s);", 2),
            ("crates/guard/src/executor/web.rs", "use counterfoil_tools::WebTools;", 0),
            ("crates/serve/src/a.rs", "use counterfoil_tools::ToolOutput;", 0),
            ("crates/formats/src/a.rs", "struct Wanted;", 0),
        ];
        for (path, text, expected) in cases {
            let found = check(&House::with_files(&[(path, text)])).unwrap();
            let line = found.first().map_or(0, |complaint| complaint.line);
            assert_eq!(line, expected, "{path}: {text}");
        }
    }
}
