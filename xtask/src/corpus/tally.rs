use std::collections::{BTreeMap, BTreeSet};

use countersign_model::Role;

use super::Measured;

/// Counts over one set, for the two thirds worked on and for the untouched third.
pub(crate) struct Tally {
    set: String,
    parts: [Part; 2],
}

#[derive(Default)]
struct Part {
    rows: usize,
    messages: usize,
    blocked_messages: usize,
    warned_messages: usize,
    classes: BTreeMap<String, Class>,
    rules: BTreeMap<String, (usize, usize)>,
}

#[derive(Default)]
struct Class {
    rows: usize,
    found: usize,
    blocked: usize,
}

impl Tally {
    pub(crate) fn new(set: &str) -> Self {
        Self { set: set.to_owned(), parts: [Part::default(), Part::default()] }
    }

    pub(crate) fn add(&mut self, one: &Measured) {
        let part = &mut self.parts[usize::from(one.row.untouched)];
        part.rows += 1;
        part.messages +=
            one.row.transcript.messages.iter().filter(|m| m.role == Role::Assistant).count();
        let turns = |blocks: bool| -> BTreeSet<usize> {
            one.found.iter().filter(|f| f.blocks == blocks).map(|f| f.turn).collect()
        };
        part.blocked_messages += turns(true).len();
        part.warned_messages += turns(false).len();
        for found in &one.found {
            let rule = part.rules.entry(found.code.clone()).or_default();
            if found.blocks {
                rule.0 += 1;
            } else {
                rule.1 += 1;
            }
        }
        if one.row.hallucination.is_some() {
            let class = part.classes.entry(one.row.class.clone()).or_default();
            let here = |f: &&super::Found| f.claim && one.row.turn.is_none_or(|t| t == f.turn);
            class.rows += 1;
            class.found += usize::from(one.found.iter().any(|f| here(&f)));
            class.blocked += usize::from(one.found.iter().filter(here).any(|f| f.blocks));
        }
    }

    #[expect(clippy::print_stdout, reason = "a developer reads it")]
    pub(crate) fn print(&self) {
        for (part, name) in self.parts.iter().zip(["worked on", "untouched"]) {
            println!(
                "{} ({name}): {} rows, {} assistant messages, {} blocked ({}), {} warned ({})",
                self.set,
                part.rows,
                part.messages,
                part.blocked_messages,
                share(part.blocked_messages, part.messages),
                part.warned_messages,
                share(part.warned_messages, part.messages),
            );
            for (class, counts) in &part.classes {
                println!(
                    "    {class:24} {:4} rows  found {}  blocked {}",
                    counts.rows,
                    share(counts.found, counts.rows),
                    share(counts.blocked, counts.rows)
                );
            }
            let rules: Vec<String> = part
                .rules
                .iter()
                .map(|(code, (blocked, warned))| format!("{code} {blocked}+{warned}"))
                .collect();
            println!("    {}", rules.join("  "));
        }
    }
}

/// A share in per cent with its 95% interval (Wilson).
fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let (low, high) = wilson(part, whole);
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let value = part as f64 / whole as f64;
    format!("{:5.1}% [{:.1}–{:.1}]", value * 100.0, low * 100.0, high * 100.0)
}

/// The 95% interval of a share.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn wilson(part: usize, whole: usize) -> (f64, f64) {
    let z = 1.96_f64;
    let n = whole as f64;
    let p = part as f64 / n;
    let centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt() / (1.0 + z * z / n);
    ((centre - half).max(0.0), (centre + half).min(1.0))
}
