//! Checks which crate may use which.

use anyhow::{Context as _, Result};

use super::complaint::Complaint;
use super::house::House;

/// The floors, from the ground. A crate may use only what is on a lower floor.
const FLOORS: [&[&str]; 10] = [
    &["model", "shell"],
    &["formats", "record", "redact", "admission"],
    &["rules", "judge", "report"],
    &["judges", "ledger", "sandbox"],
    &["tools"],
    &["guard"],
    &["providers"],
    &["hooks", "serve", "agent"],
    &["proxy"],
    &["cli", "python", "sdk"],
];

/// The line that turns on clippy's check for long functions, off by default, in the root of every
/// crate.
const SHORT: &str = "#![cfg_attr(not(test), warn(clippy::too_many_lines))]";

/// The floors whose crates are pure.
const PURE: usize = 3;

/// Dependencies that no pure crate may have: async, clock, randomness, network, logging.
const IMPURE: [&str; 10] = [
    "tokio",
    "async-std",
    "futures",
    "rand",
    "getrandom",
    "reqwest",
    "hyper",
    "tracing",
    "log",
    "walkdir",
];

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for (path, text) in house.texts() {
        let Some(name) = path.strip_prefix("crates/").and_then(|p| p.strip_suffix("/Cargo.toml"))
        else {
            continue;
        };
        let manifest: toml::Table = text.parse().with_context(|| format!("reading {path}"))?;
        let Some(own) = floor(name) else {
            complaints.push(Complaint::new(
                path,
                0,
                format!("`{name}` has no floor"),
                "give it one in xtask/src/tidy/floors.rs and in ARCHITECTURE.md",
            ));
            continue;
        };
        if manifest.get("lints").and_then(|l| l.get("workspace")) != Some(&true.into()) {
            complaints.push(Complaint::new(
                path,
                0,
                "the workspace's lints are off",
                "add `[lints]` with `workspace = true`",
            ));
        }
        complaints.extend(looks_away(house, name));
        for used in used(&manifest) {
            let line = line_of(text, &used);
            // A crate may depend on itself for tests, with a feature enabled.
            let crate_name = used.strip_prefix("counterfoil-").filter(|other| *other != name);
            if let Some(other) = crate_name.map(floor)
                && other.is_none_or(|other| other >= own)
            {
                let floor_of = other.map_or("no floor".into(), |floor| format!("floor {floor}"));
                complaints.push(Complaint::new(
                    path,
                    line,
                    format!("`{name}` (floor {own}) uses `{used}` ({floor_of})"),
                    "a crate may use only what is on a lower floor: move what they share down",
                ));
            }
            if own < PURE && IMPURE.contains(&used.as_str()) {
                complaints.push(Complaint::new(
                    path,
                    line,
                    format!("`{name}` is pure and uses `{used}`"),
                    "take the effect as an argument, or do it on a higher floor",
                ));
            }
        }
    }
    Ok(complaints)
}

/// Complains about a crate that does not check for long functions.
fn looks_away(house: &House, name: &str) -> Option<Complaint> {
    let roots = ["lib", "main"].map(|root| format!("crates/{name}/src/{root}.rs"));
    let (text, path) = roots.into_iter().find_map(|path| Some((house.text(&path)?, path)))?;
    (!text.lines().any(|line| line == SHORT)).then(|| {
        let message = "long functions of this crate are not looked for";
        Complaint::new(path, 0, message, format!("add `{SHORT}`"))
    })
}

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

/// Returns the dependencies in a manifest, including those of tests, which also know the crates
/// they use.
fn used(manifest: &toml::Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = targets.into_iter().flat_map(|t| t.values()).filter_map(toml::Value::as_table);
    let mut names: Vec<String> = std::iter::once(manifest)
        .chain(tables)
        .flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"]
                .into_iter()
                .filter_map(|kind| table.get(kind)?.as_table())
                .flat_map(|dependencies| dependencies.keys().cloned())
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

fn line_of(text: &str, dependency: &str) -> usize {
    text.lines().position(|line| line.starts_with(dependency)).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lower_floors_are_used() {
        let cases: [(&str, &str, &[(usize, &str)]); 9] = [
            ("rules", "[dependencies]\ncounterfoil-model.workspace = true", &[]),
            ("rules", "[dev-dependencies]\ncounterfoil-rules = { path = \".\" }", &[]),
            (
                "formats",
                "[dependencies]\ncounterfoil-record.workspace = true",
                &[(5, "`formats` (floor 1) uses `counterfoil-record` (floor 1)")],
            ),
            (
                "model",
                "[dev-dependencies]\ncounterfoil-rules.workspace = true",
                &[(5, "`model` (floor 0) uses `counterfoil-rules` (floor 2)")],
            ),
            (
                "formats",
                "[target.'cfg(unix)'.dependencies]\ntokio = \"1\"",
                &[(5, "`formats` is pure and uses `tokio`")],
            ),
            (
                "judge",
                "[dependencies]\ncounterfoil-record.workspace = true\nrand = \"1\"",
                &[(6, "`judge` is pure and uses `rand`")],
            ),
            (
                "record",
                "[dependencies]\ncounterfoil-rules.workspace = true",
                &[(5, "`record` (floor 1) uses `counterfoil-rules` (floor 2)")],
            ),
            ("cli", "[dependencies]\nwalkdir.workspace = true", &[]),
            ("attic", "", &[(0, "`attic` has no floor")]),
        ];
        for (name, rest, expected) in cases {
            let path = format!("crates/{name}/Cargo.toml");
            let text = format!("[lints]\nworkspace = true\n\n{rest}\n");
            let found = check(&House::with_files(&[(&path, &text)])).unwrap();
            let found: Vec<_> = found.iter().map(|c| (c.line, c.message.as_str())).collect();
            assert_eq!(found, expected, "{name}: {rest}");
        }
    }

    #[test]
    fn every_crate_looks_for_long_functions() {
        let asks = format!("//! A crate.\n{SHORT}\n");
        let cases: [(&str, &str, &[&str]); 4] = [
            ("crates/model/src/lib.rs", &asks, &[]),
            ("crates/model/src/lib.rs", "//! A crate.\n", &["crates/model/src/lib.rs"]),
            ("crates/model/src/main.rs", "fn main() {}\n", &["crates/model/src/main.rs"]),
            ("crates/model/src/span.rs", "", &[]),
        ];
        for (path, text, expected) in cases {
            let manifest = ("crates/model/Cargo.toml", "[lints]\nworkspace = true\n");
            let found = check(&House::with_files(&[manifest, (path, text)])).unwrap();
            let found: Vec<_> = found.iter().map(|c| c.path.as_str()).collect();
            assert_eq!(found, expected, "{path}");
        }
    }
}
