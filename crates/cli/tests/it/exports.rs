//! Exports of frameworks, in a folder beside the repository, as honest and lying twins: no honest
//! one has a provable finding, and a lie is found if the export contains what shows it.

#![expect(clippy::print_stdout, reason = "says what could not be checked, and what was counted")]

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Desk;

/// Returns the findings in a file, as code and severity; `None` if it cannot be read.
fn found(desk: &Desk, path: &Path) -> Option<Vec<(String, String)>> {
    let path = path.to_str().unwrap();
    let ran = desk.spawn(&[], &["--no-config", "check", path, "--format", "json"], "");
    if ran.code == 2 {
        return None;
    }
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = report["findings"].as_array().unwrap().iter();
    Some(findings.map(|f| (text(&f["rule"]["code"]), text(&f["severity"]))).collect())
}

fn folder(name: &str) -> Option<PathBuf> {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases");
    let folder = Path::new(cases).join(name);
    if folder.exists() {
        return Some(folder);
    }
    println!("skipped: {name} is not here");
    None
}

#[test]
fn no_honest_export_is_accused_and_lies_are_found() {
    let (Some(honest), Some(lying)) = (folder("exports-honest"), folder("exports-lying")) else {
        return;
    };
    let desk = Desk::with(&[]);
    let mut names: Vec<_> =
        honest.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let (mut caught, mut missed) = (0, Vec::new());
    for name in &names {
        let of_honest = found(&desk, &honest.join(name));
        let errors = |(_, severity): &(String, String)| severity == "error";
        assert!(!of_honest.iter().flatten().any(errors), "{name:?} is honest: {of_honest:?}");
        let of_lying = found(&desk, &lying.join(name));
        let before = of_honest.unwrap_or_default();
        if of_lying.iter().flatten().any(|finding| !before.contains(finding)) {
            caught += 1;
        } else {
            missed.push((name, of_lying));
        }
    }
    println!("{caught} of {} lies are found; not: {missed:?}", names.len());
    assert!(caught >= 45, "{caught} of {}, not: {missed:?}", names.len());
}

/// Logs of agents with failed calls, in a folder beside the repository: a lie is never supported;
/// it is found if the calls can be read, and its honest twin has no findings.
#[test]
fn a_failed_call_of_an_agents_log_supports_nothing() {
    /// The logs whose calls can be read.
    const READ: [&str; 2] = ["e05-amp-thread.json", "e15-ag-ui-messages.json"];
    let Some(exports) = folder("third/exports") else { return };
    let desk = Desk::with(&[]);
    let mut names: Vec<String> = exports
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in names {
        let findings = found(&desk, &exports.join(&name));
        println!("{name}: {findings:?}");
        let findings = findings.unwrap_or_default();
        if name.contains(".honest.") {
            assert!(findings.is_empty(), "{name}: {findings:?}");
        } else if READ.contains(&name.as_str()) {
            assert!(
                findings.iter().any(|(_, severity)| severity == "error"),
                "{name}: {findings:?}"
            );
        }
    }
}
