//! Runs the sentences of `spec/adversarial/`: those that only look like claims, and claims that do
//! not look like any.

#![expect(clippy::disallowed_methods, reason = "reads the pages from files")]

use std::fs;

use counterfoil_model::{Severity, Subject};
use counterfoil_rules::{Settings, check};

use crate::dialogue;

pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/adversarial");

/// The sentences below one heading, with what goes before each.
struct Section {
    title: String,
    record: String,
    sentences: Vec<String>,
}

/// What became of the sentences of a section.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) all: usize,
    pub(crate) blocked: usize,
    pub(crate) warned: usize,
}

impl Count {
    pub(crate) fn add(&mut self, other: Self) {
        self.all += other.all;
        self.blocked += other.blocked;
        self.warned += other.warned;
    }
}

#[test]
fn sentences_that_mean_the_opposite_are_left_alone() {
    let (total, failures) = judged("opposites.md", |worst| worst.is_some());
    assert!(total.all >= 150, "{} sentences", total.all);
    assert!(
        total.blocked * 100 <= total.all && total.warned * 100 <= total.all * 3,
        "{total:?}\n{}",
        failures.join("\n")
    );
}

#[test]
fn paraphrased_false_claims_are_found() {
    let (total, failures) = judged("paraphrases.md", |worst| worst.is_none());
    assert!(total.all >= 150, "{} sentences", total.all);
    let found = total.blocked + total.warned;
    assert!(found * 10 >= total.all * 9, "{total:?}\n{}", failures.join("\n"));
}

#[test]
fn the_page_of_results_says_what_is_found() {
    let mut table = String::from("| page | section | sentences | blocked | warned | quiet |\n");
    table.push_str("|---|---|---|---|---|---|\n");
    for page in ["opposites.md", "paraphrases.md"] {
        let mut total = Count::default();
        for section in sections(page) {
            let mut count = Count::default();
            section.sentences.iter().for_each(|s| count.add(one(&section.record, s).0));
            row(&mut table, page, &section.title, count);
            total.add(count);
        }
        row(&mut table, page, "*all*", total);
    }
    let page = fs::read_to_string(format!("{FOLDER}/README.md")).unwrap();
    assert!(page.contains(&table), "the table on spec/adversarial/README.md should be\n\n{table}");
}

fn row(table: &mut String, page: &str, section: &str, count: Count) {
    let quiet = count.all - count.blocked - count.warned;
    let Count { all, blocked, warned } = count;
    let line =
        format!("| [{page}]({page}) | {section} | {all} | {blocked} | {warned} | {quiet} |\n");
    table.push_str(&line);
}

/// Counts a page; what became otherwise than it should is told line by line.
fn judged(page: &str, wrong: impl Fn(Option<Severity>) -> bool) -> (Count, Vec<String>) {
    let (mut total, mut failures) = (Count::default(), Vec::new());
    for section in sections(page) {
        for sentence in &section.sentences {
            let (count, worst, shown) = one(&section.record, sentence);
            total.add(count);
            if wrong(worst) {
                failures.push(format!("{}: {sentence} {shown}", section.title));
            }
        }
    }
    println!("{page}: {total:?}\n{}", failures.join("\n"));
    (total, failures)
}

/// Checks one sentence as the last answer.
pub(crate) fn one(record: &str, sentence: &str) -> (Count, Option<Severity>, String) {
    let said = sentence.replace("\\n", "\n  ");
    let case = dialogue::read(&format!("{record}assistant:\n  {said}\n")).unwrap();
    let last = case.transcript.messages.len() - 1;
    let found = check(&case.transcript, &Settings::default()).findings;
    let here: Vec<_> = found
        .iter()
        .filter(|f| f.turn == last && matches!(f.subject, Subject::Claim { .. }))
        .collect();
    let worst = here.iter().map(|f| f.severity).max();
    let shown: Vec<_> =
        here.iter().map(|f| format!("{}[{}] {}", f.severity.name(), f.code, f.message)).collect();
    let count = Count {
        all: 1,
        blocked: usize::from(worst == Some(Severity::Error)),
        warned: usize::from(worst == Some(Severity::Warning)),
    };
    (count, worst, shown.join("; "))
}

/// The sections of a page: a heading, a `record`, `sentences`.
fn sections(page: &str) -> Vec<Section> {
    let text = fs::read_to_string(format!("{FOLDER}/{page}")).unwrap();
    let mut sections: Vec<Section> = Vec::new();
    let mut fence = "";
    for line in text.lines() {
        if let Some(word) = line.strip_prefix("```") {
            fence = word;
        } else if let Some(title) = line.strip_prefix("## ") {
            sections.push(Section {
                title: title.to_owned(),
                record: String::new(),
                sentences: Vec::new(),
            });
        } else if let Some(section) = sections.last_mut() {
            match fence {
                "record" => {
                    section.record.push_str(line);
                    section.record.push('\n');
                }
                "sentences" => section.sentences.push(line.to_owned()),
                _ => {}
            }
        }
    }
    sections
}
