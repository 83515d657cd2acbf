//! Checking a transcript from a message on finds the same as checking all of it finds from there
//! on.

#![expect(clippy::disallowed_methods, reason = "reads the pages from files")]

use std::fs;

use counterfoil_model::{Finding, Transcript};
use counterfoil_rules::{Indexed, Settings, check, check_from};

use crate::{datasets, dialogue};

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/spec");

/// The number of rows of a large data set that are cut at every message.
const ROWS: usize = 12;

/// Cuts a transcript at every message, or at about `most` messages, and counts the compared
/// findings.
fn compare(transcript: &Transcript, settings: &Settings, most: usize) -> usize {
    let whole = check(transcript, settings);
    let mut compared = 0;
    let indexed = Indexed::new(transcript);
    let step = (transcript.messages.len() / most).max(1);
    for first in (0..=transcript.messages.len() + 1).step_by(step) {
        let part = check_from(transcript, settings, first);
        // What one check cached does not affect another.
        assert_eq!(indexed.check_from(settings, first).findings, part.findings);
        let wanted: Vec<&Finding> =
            whole.findings.iter().filter(|finding| finding.turn >= first).collect();
        let found: Vec<&Finding> = part.findings.iter().collect();
        assert_eq!(found, wanted, "{} from message {first}", transcript.id);
        compared += found.len();
        let judged = whole.judgements.iter().filter(|j| j.claim.turn >= first);
        assert!(judged.eq(part.judgements.iter()), "{} from message {first}", transcript.id);
    }
    compared
}

#[test]
fn the_cases_of_every_page_can_be_cut_anywhere() {
    let mut compared = 0;
    for entry in fs::read_dir(PAGES).unwrap().flatten() {
        let page = fs::read_to_string(entry.path()).unwrap();
        for block in dialogue::blocks(&page).unwrap() {
            let Ok(case) = dialogue::read(&block.text) else { continue };
            let mut settings =
                Settings { execution_window_secs: case.window, ..Settings::default() };
            settings.obligations = case.obligations;
            compared += compare(&case.transcript, &settings, usize::MAX);
        }
    }
    assert!(compared > 300, "{compared} findings compared");
}

#[test]
fn sessions_of_the_large_sets_can_be_cut_anywhere() {
    for name in ["tau1.jsonl.gz", "perturbed.jsonl.gz", "coding.jsonl.gz"] {
        let rows = datasets::rows(name).take(ROWS);
        let compared: usize =
            rows.map(|row| compare(&datasets::transcript(&row), &Settings::default(), 24)).sum();
        println!("{name}: {compared} findings compared");
    }
}
