//! The findings of the call rules in real recorded sessions.

use std::collections::BTreeMap;

use counterfoil_rules::{Group, Settings, check, rules};

use crate::datasets;

/// The number of calls, and the findings of call rules by code. Prints each finding on a line.
fn findings(file: &str) -> (usize, BTreeMap<&'static str, usize>) {
    let codes: Vec<_> =
        rules().map(|r| r.meta()).filter(|m| m.group == Group::Call).map(|m| m.code).collect();
    let (mut calls, mut found) = (0, BTreeMap::new());
    for row in datasets::rows(file) {
        let transcript = datasets::transcript(&row);
        let report = check(&transcript, &Settings::default());
        calls += report.counts.calls;
        for finding in report.findings.iter().filter(|f| codes.contains(&f.code)) {
            *found.entry(finding.code.0).or_default() += 1;
            println!(
                "  {} {} turn {}: {:?} {}",
                finding.code, transcript.id, finding.turn, finding.subject, finding.message
            );
        }
    }
    println!("{file}: {calls} calls, {found:?}");
    (calls, found)
}

#[test]
fn few_in_recorded_sessions() {
    // Capable agents: at most one finding per hundred calls.
    for file in ["tau1.jsonl.gz", "coding.jsonl.gz"] {
        let (calls, found) = findings(file);
        let total: usize = found.values().sum();
        assert!(total * 100 <= calls, "{file}: {found:?} in {calls} calls");
    }
}

#[test]
fn weak_models_are_only_measured() {
    findings("workbench.jsonl.gz");
}
