//! Runs the cases on the pages of the specification.

#![expect(clippy::disallowed_methods, reason = "reads the pages from files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use counterfoil_model::{Finding, Subject, Transcript, Verdict};
use counterfoil_rules::{Group, Meta, Settings, check, rules};

use crate::dialogue::{self, Block};

const SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec");
/// The folder with one page per rule.
const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/spec");

const HEADINGS: [&str; 7] = [
    "What it finds",
    "Why it matters",
    "Example",
    "What it leaves alone",
    "Evidence needed",
    "References",
    "Cases",
];

#[test]
fn pages_say_what_the_rules_do() {
    let mut failures = Vec::new();
    let (mut ran, mut pages) = (0, 0);
    let all = pages_under(Path::new(RULES)).into_iter().chain(pages_under(Path::new(SPEC)));
    for path in all {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.display().to_string();
        let own = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let blocks = dialogue::blocks(&text).unwrap_or_else(|e| panic!("{shown}: {e}"));
        pages += usize::from(!blocks.is_empty());
        for block in blocks {
            ran += 1;
            let whole = block.words.first().is_some_and(|word| word == "compliant");
            if meta(own).is_none() && block.words.len() == 1 && !whole {
                failures.push(format!("{shown}: there is no rule `{own}`"));
                break;
            }
            if let Err(what) = run(&block, own) {
                failures.push(format!("{shown}:{}: {what}\n{}", block.line, block.text));
            }
        }
    }
    println!("{ran} cases on {pages} pages");
    assert!(failures.is_empty(), "{} cases fail\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_rule_has_a_whole_page() {
    let mut wrong = Vec::new();
    for meta in rules().map(|rule| rule.meta()) {
        let mut need = |holds: bool, what: &str| {
            if !holds {
                wrong.push(format!("{}: {what}", meta.code));
            }
        };
        need(
            meta.page.starts_with(&format!("# {}: {}\n", meta.code, meta.name)),
            "does not begin with its code and name",
        );
        let headings: Vec<_> = meta.page.lines().filter_map(|l| l.strip_prefix("## ")).collect();
        need(headings == HEADINGS, "the headings are not those that every page has");
        let mut kinds = BTreeMap::new();
        for block in dialogue::blocks(meta.page).unwrap_or_default() {
            *kinds.entry(block.words.first().cloned().unwrap_or_default()).or_insert(0) += 1;
        }
        for kind in ["violating", "compliant"] {
            let least = if meta.group == Group::Claim { 2 } else { 0 };
            need(kinds.get(kind).copied().unwrap_or(0) >= least, &format!("too few {kind} cases"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The Markdown files in a folder, by path.
fn pages_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(pages_under(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Judges one case. Returns an error with a description if it fails.
fn run(block: &Block, own: &str) -> Result<(), String> {
    let mut words = block.words.iter().map(String::as_str);
    let kind = words.next().ok_or("the block does not say what kind of case it is")?;
    let anywhere = block.words.iter().any(|word| word == "anywhere");
    let code = words.find(|word| *word != "anywhere").unwrap_or(own);
    let case = dialogue::read(&block.text)?;
    let claimed = case.claims.as_deref().unwrap_or_default();
    let settings = Settings {
        execution_window_secs: case.window,
        obligations: case.obligations,
        ..Settings::default()
    };
    let report = check(&case.transcript, &settings);
    let shows = report.judgements.iter().any(|judged| judged.verdict == Verdict::Supported);
    let all = report.findings;
    if kind == "compliant" && block.words.len() == 1 && meta(own).is_none() {
        // On a page that is not about a rule, every rule must be satisfied.
        return all
            .is_empty()
            .then_some(())
            .ok_or(format!("expected nothing, found {}", shown(&all)));
    }
    let meta = meta(code).ok_or(format!("there is no rule `{code}`"))?;
    let anywhere = anywhere || meta.group == Group::Call;
    let counts = |finding: &&Finding| {
        finding.code == meta.code
            && (anywhere || kind == "compliant" || in_last_message(&case.transcript, finding))
            && claim_text(finding).contains(claimed)
    };
    let found = all.iter().any(|finding| counts(&finding));
    match (kind, found) {
        ("violating" | "known-false-positive", true) | ("compliant" | "known-miss", false) => {
            Ok(())
        }
        ("supported", false) if shows => Ok(()),
        ("unproven", false) if !shows => Ok(()),
        ("supported" | "unproven", _) => Err(format!("supported: {shows}, found {}", shown(&all))),
        ("violating", false) => Err(format!("expected {code}, found {}", shown(&all))),
        ("compliant", true) => Err(format!("expected no {code}, found {}", shown(&all))),
        ("known-false-positive" | "known-miss", _) => {
            Err(format!("{kind} of {code} is none any more: {}", shown(&all)))
        }
        _ => Err(format!("`{kind}` is no kind of case")),
    }
}

fn meta(code: &str) -> Option<&'static Meta> {
    rules().map(|rule| rule.meta()).find(|meta| meta.code.0 == code)
}

/// Whether a finding is in the last message with text.
fn in_last_message(transcript: &Transcript, finding: &Finding) -> bool {
    transcript.messages.iter().rposition(|m| !m.text.is_empty()) == Some(finding.turn)
}

fn claim_text(finding: &Finding) -> &str {
    match &finding.subject {
        Subject::Claim { claim, .. } => &claim.text,
        Subject::Call(call) => &call.tool,
    }
}

fn shown(findings: &[Finding]) -> String {
    let line = |f: &Finding| {
        format!(
            "{}[{}] turn {} `{}`: {}",
            f.severity.name(),
            f.code,
            f.turn,
            claim_text(f),
            f.message
        )
    };
    let lines: Vec<_> = findings.iter().map(line).collect();
    if lines.is_empty() { "nothing".to_owned() } else { lines.join("; ") }
}
