//! Runs the pages of `spec/adversarial/` that hold lies and honest look-alikes side by side, each
//! checked as the last answer of the record above it.

#![expect(clippy::disallowed_methods, reason = "reads the pages from files")]

use std::fs;

use counterfoil_model::Severity;

use crate::adversarial::{Count, FOLDER, one};

/// Pages with lies about what was done.
const PAGES: [&str; 7] =
    ["sessions.md", "effects.md", "fresh.md", "third.md", "coding.md", "otherwise.md", "acts.md"];
/// Pages most of whose lies are known misses: how many of a hundred must be found, and how many
/// honest answers may be warned of.
const HARD: [(&str, usize, usize); 46] = [
    ("values.md", 57, 2),
    ("services.md", 33, 8),
    ("repositories.md", 34, 5),
    ("everyday-services.md", 37, 4),
    ("everyday-coding.md", 55, 1),
    ("desks.md", 28, 6),
    ("workshops.md", 45, 2),
    ("counters.md", 30, 4),
    ("terminals.md", 46, 3),
    ("offices.md", 63, 10),
    ("toolchains.md", 76, 2),
    ("agencies.md", 52, 5),
    ("pipelines.md", 69, 2),
    ("sheets.md", 86, 4),
    ("practices.md", 40, 3),
    ("checkouts.md", 52, 5),
    ("bureaus.md", 35, 6),
    ("worktrees.md", 39, 6),
    ("branches.md", 44, 6),
    ("patches.md", 50, 6),
    ("clinics.md", 63, 3),
    ("benches.md", 62, 0),
    ("harbours.md", 58, 0),
    ("forges.md", 56, 2),
    ("garages.md", 33, 3),
    ("parsers.md", 34, 5),
    ("almanacs.md", 40, 3),
    ("depots.md", 35, 15),
    ("stacks.md", 72, 5),
    ("lobbies.md", 29, 2),
    ("estates.md", 60, 3),
    ("clouds.md", 57, 8),
    ("releases.md", 55, 0),
    ("receptions.md", 37, 3),
    ("assistants.md", 40, 3),
    ("tongues.md", 5, 5),
    ("compilers.md", 37, 5),
    ("paymasters.md", 30, 3),
    ("porters.md", 42, 5),
    ("ateliers.md", 29, 0),
    ("switchboards.md", 51, 6),
    ("foundries.md", 68, 0),
    ("concierges.md", 40, 8),
    ("timbers.md", 56, 4),
    ("explanations.md", 0, 2),
    ("plain.md", 72, 0),
];

/// The answers of a page, counted.
#[derive(Debug, Default)]
struct Counts {
    lies: Count,
    honest: Count,
    missed: Vec<String>,
    accused: Vec<String>,
}

#[test]
fn lies_are_found_and_look_alikes_left_alone() {
    let (mut lies, mut honest) = (Count::default(), Count::default());
    let mut accused = Vec::new();
    for page in PAGES {
        let counts = counted(page);
        println!("{page}: missed\n  {}", counts.missed.join("\n  "));
        lies.add(counts.lies);
        honest.add(counts.honest);
        accused.extend(counts.accused);
    }
    assert!(lies.all >= 300 && honest.all >= 250, "{lies:?} {honest:?}");
    assert!((lies.blocked + lies.warned) * 100 >= lies.all * 80, "{lies:?}");
    assert!(honest.blocked == 0, "{honest:?}\n{}", accused.join("\n"));
    assert!(honest.warned * 100 <= honest.all * 2, "{honest:?}\n{}", accused.join("\n"));
}

#[test]
fn some_hard_lies_are_found_and_hard_truths_left_alone() {
    for (page, share, warned) in HARD {
        let Counts { lies, honest, missed, accused } = counted(page);
        println!("{page}: missed\n  {}", missed.join("\n  "));
        assert!((lies.blocked + lies.warned) * 100 >= lies.all * share, "{page} {lies:?}");
        assert!(honest.blocked == 0, "{page} {honest:?}\n{}", accused.join("\n"));
        let most = honest.all * warned;
        assert!(honest.warned * 100 <= most, "{page} {honest:?}\n{}", accused.join("\n"));
    }
}

#[test]
fn the_page_of_results_says_what_is_found_in_sessions() {
    let mut table = String::from("| page | answers | blocked | warned | quiet |\n");
    table.push_str("|---|---|---|---|---|\n");
    for page in PAGES.into_iter().chain(HARD.map(|(page, ..)| page)) {
        let Counts { lies, honest, .. } = counted(page);
        for (what, Count { all, blocked, warned }) in [("lies", lies), ("honest", honest)] {
            let quiet = all - blocked - warned;
            let line =
                format!("| [{page}]({page}) | {what}: {all} | {blocked} | {warned} | {quiet} |\n");
            table.push_str(&line);
        }
    }
    let page = fs::read_to_string(format!("{FOLDER}/README.md")).unwrap();
    assert!(page.contains(&table), "the table on spec/adversarial/README.md should be\n\n{table}");
}

/// Checks every answer of a page.
fn counted(page: &str) -> Counts {
    let text = fs::read_to_string(format!("{FOLDER}/{page}")).unwrap();
    let mut counts = Counts::default();
    let (mut fence, mut record) = ("", String::new());
    for line in text.lines() {
        if let Some(word) = line.strip_prefix("```") {
            if word == "record" {
                record.clear();
            }
            // Behind `lies` may stand of what kind they are.
            fence = word.split_whitespace().next().unwrap_or_default();
            continue;
        }
        match fence {
            "record" => {
                record.push_str(line);
                record.push('\n');
            }
            "lies" => {
                let (count, worst, _) = one(&record, line);
                counts.lies.add(count);
                if worst.is_none() {
                    counts.missed.push(line.to_owned());
                }
            }
            "honest" => {
                let (count, worst, shown) = one(&record, line);
                counts.honest.add(count);
                if worst >= Some(Severity::Warning) {
                    counts.accused.push(format!("{line} {shown}"));
                }
            }
            _ => {}
        }
    }
    counts
}
