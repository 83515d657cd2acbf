//! Checks the documents that every reader relies on.

use anyhow::Result;

use super::complaint::Complaint;
use super::house::House;

const NEEDED: [&str; 8] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "spec/glossary.md",
];

/// The maximum number of lines in ARCHITECTURE.md.
const LONGEST: usize = 300;

/// The test command that both the README and CI must contain.
const TESTS: &str = "cargo test --workspace";

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for path in NEEDED.into_iter().filter(|path| !house.holds(path)) {
        complaints.push(Complaint::new(path, 0, "the document is missing", "write it"));
    }
    let text = |path| house.text(path).unwrap_or_default();
    if !text("CHANGELOG.md").lines().any(|line| line == "## [Unreleased]") {
        complaints.push(Complaint::new(
            "CHANGELOG.md",
            0,
            "there is no section for what is not released",
            "add `## [Unreleased]` above the newest version",
        ));
    }
    let architecture = text("ARCHITECTURE.md");
    if architecture.lines().count() > LONGEST {
        complaints.push(Complaint::new(
            "ARCHITECTURE.md",
            LONGEST + 1,
            format!("the map is longer than {LONGEST} lines"),
            "leave out what a reader finds in the crate itself",
        ));
    }
    for name in crates(house) {
        if !architecture.contains(&format!("`{name}`")) {
            complaints.push(Complaint::new(
                "ARCHITECTURE.md",
                0,
                format!("the crate `{name}` is not on the map"),
                "say what it is and what it must never contain",
            ));
        }
    }
    for path in ["README.md", ".ci/run"] {
        if !text(path).lines().any(|line| line == TESTS) {
            complaints.push(Complaint::new(
                path,
                0,
                format!("the line `{TESTS}` is missing"),
                "the README's test command is what CI runs: change both, and documents.rs",
            ));
        }
    }
    Ok(complaints)
}

fn crates(house: &House) -> impl Iterator<Item = &str> {
    house.paths().filter_map(|path| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_complete() {
        let good = [
            ("README.md", "```console\ncargo test --workspace\n```"),
            ("ARCHITECTURE.md", "the crate `model`"),
            ("CONTRIBUTING.md", ""),
            ("CHANGELOG.md", "## [Unreleased]"),
            ("SECURITY.md", ""),
            ("LICENSE-MIT", ""),
            ("LICENSE-APACHE", ""),
            ("spec/glossary.md", ""),
            (".ci/run", "cargo test --workspace"),
            ("crates/model/Cargo.toml", ""),
        ];
        assert_eq!(check(&House::with_files(&good)).unwrap(), []);
        for (at, (path, _)) in good.iter().enumerate().take(9) {
            let mut files = good.to_vec();
            files.remove(at);
            let found = check(&House::with_files(&files)).unwrap();
            assert!(found.iter().any(|c| c.path == *path), "{path}: {found:?}");
        }
    }
}
