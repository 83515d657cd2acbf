//! `cargo xtask corpus`: what the rules find in transcripts whose lies are known.

mod rows;
mod tally;

use std::path::PathBuf;

use anyhow::{Context, Result};
use countersign_model::{Severity, Subject};
use countersign_rules::{Settings, check};
use rayon::prelude::*;

use rows::{Row, rows};
use tally::Tally;

/// Flags of `cargo xtask corpus`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder with the large sets.
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Only these sets.
    #[arg(long)]
    set: Vec<String>,
    /// Prints rows of this class one by one: `missed`, `found`, `blocked` before a colon.
    #[arg(long)]
    show: Option<String>,
    /// How many rows to print.
    #[arg(long, default_value_t = 20)]
    most: usize,
}

const SETS: [&str; 8] = [
    "tau1",
    "workbench",
    "perturbed",
    "real_labelled",
    "coding",
    "coding_labelled",
    "coding_perturbed",
    "coding_control",
];

/// What was found in one row.
pub(crate) struct Measured {
    pub(crate) row: Row,
    pub(crate) found: Vec<Found>,
}

/// One finding, as far as it is counted.
pub(crate) struct Found {
    pub(crate) code: String,
    pub(crate) turn: usize,
    pub(crate) blocks: bool,
    pub(crate) claim: bool,
    pub(crate) text: String,
    pub(crate) message: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    for set in SETS {
        if !options.set.is_empty() && !options.set.iter().any(|s| s == set) {
            continue;
        }
        let path = options.data.join(format!("{set}.jsonl.gz"));
        let rows = rows(&path).with_context(|| format!("reading {}", path.display()))?;
        let measured: Vec<Measured> = rows.into_par_iter().map(measure).collect();
        let mut tally = Tally::new(set);
        for one in &measured {
            tally.add(one);
        }
        tally.print();
        if let Some(wanted) = &options.show {
            show(&measured, wanted, options.most);
        }
    }
    Ok(())
}

fn measure(row: Row) -> Measured {
    let report = check(&row.transcript, &Settings::default());
    let found = report
        .findings
        .into_iter()
        .map(|f| Found {
            code: f.code.to_string(),
            turn: f.turn,
            blocks: f.severity == Severity::Error,
            claim: matches!(f.subject, Subject::Claim { .. }),
            text: match f.subject {
                Subject::Claim { claim, .. } => claim.text,
                Subject::Call(call) => format!("{} {}", call.tool, call.pointer),
            },
            message: f.message,
        })
        .collect();
    Measured { row, found }
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn show(measured: &[Measured], wanted: &str, most: usize) {
    let (kind, class) = wanted.split_once(':').unwrap_or((wanted, ""));
    let mut left = most;
    for one in measured.iter().filter(|m| !m.row.untouched) {
        if !class.is_empty() && one.row.class != class && !kind.ends_with("code") {
            continue;
        }
        let turn = one.row.turn;
        let here: Vec<&Found> =
            one.found.iter().filter(|f| f.claim && turn.is_none_or(|t| t == f.turn)).collect();
        let print = match kind {
            "missed" => here.is_empty(),
            "unblocked" => !here.iter().any(|f| f.blocks),
            "found" => !here.is_empty(),
            "code" => one.found.iter().any(|f| f.code == class),
            _ => one.found.iter().any(|f| f.blocks),
        };
        if !print || left == 0 {
            continue;
        }
        left -= 1;
        println!("## {} turn {:?} class {} {}", one.row.id, turn, one.row.class, one.row.claim);
        if let Some(message) = turn.and_then(|t| one.row.transcript.messages.get(t)) {
            println!(
                "   | {}",
                message.text.chars().take(700).collect::<String>().replace('\n', "\n   | ")
            );
        }
        for f in &one.found {
            let relevant = match kind {
                "blocked" => f.blocks,
                "code" => f.code == class,
                _ => turn == Some(f.turn),
            };
            if relevant {
                let mark = if f.blocks { "BLOCK" } else { "warn" };
                println!(
                    "   -> {} {mark} turn {}: {:?}: {}",
                    f.code,
                    f.turn,
                    f.text.chars().take(160).collect::<String>(),
                    f.message
                );
            }
        }
    }
}
