//! Checks that every log format has a fixture, a fuzz target and an entry in docs/formats.md.

use anyhow::Result;
use counterfoil_model::Format;

use super::complaint::Complaint;
use super::house::House;

const FIXTURES: &str = "crates/formats/tests/fixtures";
const TARGETS: &str = "fuzz/fuzz_targets";

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let names = Format::ALL.map(Format::name);
    Ok(names.iter().flat_map(|name| format(house, name)).collect())
}

fn format(house: &House, name: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let stem = format!("{FIXTURES}/{name}.");
    if !house.paths().any(|path| path.starts_with(&stem)) {
        complaints.push(Complaint::new(
            FIXTURES,
            0,
            format!("the form `{name}` has no fixture"),
            format!("write a session by hand in {stem}jsonl, or what its files end in"),
        ));
    }
    let target = format!("read_{}", name.replace('-', "_"));
    if !house.holds(&format!("{TARGETS}/{target}.rs")) {
        complaints.push(Complaint::new(
            TARGETS,
            0,
            format!("the form `{name}` has no fuzz target"),
            format!("add {target}.rs beside the others"),
        ));
    }
    let bin = format!("name = \"{target}\"");
    if !house.text("fuzz/Cargo.toml").is_some_and(|text| text.contains(&bin)) {
        complaints.push(Complaint::new(
            "fuzz/Cargo.toml",
            0,
            format!("the fuzz target `{target}` is not in the manifest"),
            format!("add a `[[bin]]` with {bin}"),
        ));
    }
    if !house.text("docs/formats.md").is_some_and(|text| text.contains(&format!("`{name}`"))) {
        complaints.push(Complaint::new(
            "docs/formats.md",
            0,
            format!("the form `{name}` is not named"),
            "add it to the table of forms that are read",
        ));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_has_all_that_belongs_to_it() {
        let fixture = (("crates/formats/tests/fixtures/gemini-cli.json"), "{}");
        let target = ("fuzz/fuzz_targets/read_gemini_cli.rs", "");
        let manifest = ("fuzz/Cargo.toml", "[[bin]]\nname = \"read_gemini_cli\"");
        let page = ("docs/formats.md", "| `gemini-cli` |");
        let cases: [(&[(&str, &str)], usize); 4] = [
            (&[fixture, target, manifest, page], 0),
            (&[fixture, target, page], 1),
            (&[target, manifest, page], 1),
            (&[], 4),
        ];
        for (files, expected) in cases {
            assert_eq!(
                format(&House::with_files(files), "gemini-cli").len(),
                expected,
                "{files:?}"
            );
        }
    }
}
