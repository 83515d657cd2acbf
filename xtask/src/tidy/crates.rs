//! Limits the size of crates and the circles of their files, and prints a table of both.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use super::complaint::Complaint;
use super::house::House;
use super::imports::Imports;

/// The maximum number of lines of Rust in the sources of a crate.
const LARGEST: usize = 20_000;
/// The maximum number of files that import each other in a circle.
const WIDEST: usize = 5;

/// A crate's sources.
struct Crate<'f> {
    lines: usize,
    files: usize,
    /// The circles, each with the paths of its files, the largest first.
    circles: Vec<Vec<&'f str>>,
    /// The longest function: lines, name, file.
    longest: (usize, String, String),
}

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for (name, sources) in crates(house)? {
        if sources.lines > LARGEST {
            complaints.push(Complaint::new(
                format!("{name}/src"),
                0,
                format!("the crate has {} lines, {LARGEST} are the most", sources.lines),
                "move what does not belong to it to another crate, or delete it",
            ));
        }
        for circle in sources.circles.iter().filter(|circle| circle.len() > WIDEST) {
            complaints.push(Complaint::new(
                format!("{name}/src"),
                0,
                format!(
                    "{} files import each other in a circle, {WIDEST} are the most:\n    {}",
                    circle.len(),
                    circle.join("\n    ")
                ),
                "move what several of them need to a file that imports none of them",
            ));
        }
    }
    Ok(complaints)
}

/// Prints a line for each crate.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(super) fn print(house: &House) -> Result<()> {
    println!("{:<20} {:>6} {:>5} {:>6}  longest function", "crate", "lines", "files", "circle");
    for (name, sources) in crates(house)? {
        let (lines, function, file) = &sources.longest;
        let widest = sources.circles.first().map_or(0, Vec::len);
        println!(
            "{name:<20} {:>6} {:>5} {widest:>6}  {lines} {function} ({file})",
            sources.lines, sources.files
        );
    }
    Ok(())
}

fn crates(house: &House) -> Result<BTreeMap<&str, Crate<'_>>> {
    let mut sources: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for (path, text) in house.texts().filter(|(path, _)| path.ends_with(".rs")) {
        if let Some((name, file)) = path.split_once("/src/")
            && house.holds(&format!("{name}/Cargo.toml"))
        {
            sources.entry(name).or_default().insert(file, text);
        }
    }
    sources.into_iter().map(|(name, files)| Ok((name, measured(name, &files)?))).collect()
}

fn measured<'f>(name: &str, files: &BTreeMap<&'f str, &str>) -> Result<Crate<'f>> {
    let imports = Imports::read(files).with_context(|| format!("reading {name}"))?;
    let longest = files.iter().filter_map(|(file, text)| {
        let (lines, function) = functions(text).max()?;
        Some((lines, function.to_owned(), (*file).to_owned()))
    });
    Ok(Crate {
        lines: files.values().map(|text| text.lines().count()).sum(),
        files: files.len(),
        circles: imports.circles(),
        longest: longest.max().unwrap_or_default(),
    })
}

/// The words before `fn`.
const QUALIFIERS: [&str; 5] = ["pub", "const", "async", "unsafe", "extern"];

/// Returns the length and name of each function, in text that rustfmt formatted.
fn functions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).filter_map(move |at| {
        let rest = lines.get(at..)?;
        let (before, after) = rest.first()?.split_once("fn ")?;
        let mut words = before.split_whitespace();
        if !words.all(|word| QUALIFIERS.iter().any(|known| word.starts_with(known))) {
            return None;
        }
        let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        // Without a body, or with one on the same line.
        if after.ends_with([';', '}']) {
            return Some((1, name));
        }
        let indent = before.strip_suffix(before.trim_start())?;
        let is_end = |line: &str| line == "}" || line.starts_with(')') && line.ends_with(';');
        let end = rest.iter().position(|line| line.strip_prefix(indent).is_some_and(is_end))?;
        Some((end + 1, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_crates_and_wide_circles_are_reported() {
        let long = "\n".repeat(LARGEST + 1);
        let names: Vec<String> = (0..=WIDEST).map(|n| format!("m{n}")).collect();
        let next = |n: usize| (n + 1) % names.len();
        let file = |n: usize| format!("use crate::m{}::F{};\npub struct F{n};\n", next(n), next(n));
        let mut files = vec![
            ("crates/a/Cargo.toml".to_owned(), String::new()),
            ("crates/a/src/lib.rs".to_owned(), long),
            ("crates/b/Cargo.toml".to_owned(), String::new()),
            ("crates/b/src/lib.rs".to_owned(), String::new()),
        ];
        files.extend((0..names.len()).map(|n| (format!("crates/b/src/m{n}.rs"), file(n))));
        let shown: Vec<(&str, &str)> =
            files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        let messages: Vec<String> =
            check(&House::with_files(&shown)).unwrap().into_iter().map(|c| c.message).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert_eq!(messages[0], "the crate has 20001 lines, 20000 are the most");
        assert!(messages[1].starts_with("6 files import each other in a circle, 5 are the most:"));
    }

    #[test]
    fn functions_have_lengths() {
        let text = "fn one() {\n    two();\n}\n\nimpl A {\n    pub(crate) async fn three(\n        &self,\n    ) -> u8 {\n        3\n    }\n}\ntrait B {\n    fn four(&self);\n    fn five(\n        &self,\n    ) -> u8;\n    fn six() {\n    }\n}\n";
        let found: Vec<_> = functions(text).collect();
        assert_eq!(found, [(3, "one"), (5, "three"), (1, "four"), (3, "five"), (2, "six")]);
    }
}
