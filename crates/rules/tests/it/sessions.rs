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
const HARD: [(&str, usize, usize); 39] = [
    ("values.md", 33, 1),
    ("services.md", 18, 5),
    ("repositories.md", 22, 4),
    ("everyday-services.md", 22, 2),
    ("everyday-coding.md", 44, 1),
    ("desks.md", 15, 3),
    ("workshops.md", 40, 2),
    ("counters.md", 18, 1),
    ("terminals.md", 44, 2),
    ("offices.md", 50, 3),
    ("toolchains.md", 70, 2),
    ("agencies.md", 45, 1),
    ("pipelines.md", 66, 1),
    ("sheets.md", 78, 0),
    ("practices.md", 34, 3),
    ("checkouts.md", 50, 3),
    ("bureaus.md", 26, 4),
    ("worktrees.md", 38, 6),
    ("branches.md", 29, 2),
    ("patches.md", 42, 5),
    ("clinics.md", 60, 1),
    ("benches.md", 54, 1),
    ("harbours.md", 41, 1),
    ("forges.md", 52, 2),
    ("garages.md", 22, 2),
    ("parsers.md", 32, 3),
    ("almanacs.md", 29, 2),
    ("depots.md", 32, 5),
    ("stacks.md", 66, 3),
    ("lobbies.md", 20, 0),
    ("estates.md", 25, 3),
    ("clouds.md", 35, 8),
    ("ateliers.md", 29, 0),
    ("switchboards.md", 46, 0),
    ("foundries.md", 62, 0),
    ("concierges.md", 34, 4),
    ("timbers.md", 50, 4),
    ("explanations.md", 0, 2),
    ("plain.md", 65, 0),
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
