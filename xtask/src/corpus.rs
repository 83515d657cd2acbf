//! `cargo xtask corpus`: what the rules find in transcripts whose lies are known.
//!
//! The large sets are optional and stand outside the repository. Without them a small, hand-written
//! set is measured, as the tests do.

mod expected;
mod measure;
mod page;
mod rows;
mod share;
mod show;
mod tally;
mod terminal;
mod thresholds;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use measure::measure;
use rows::Row;
use tally::Tally;
use thresholds::Outcome;

/// Flags of `cargo xtask corpus`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder with the large sets.
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Only these sets.
    #[arg(long)]
    set: Vec<String>,
    /// Only the hand-written set.
    #[arg(long, conflicts_with_all = ["set", "write"])]
    mini: bool,
    /// Writes docs/accuracy.md from the large sets.
    #[arg(long, conflicts_with = "set")]
    write: bool,
    /// Prints rows of a class one by one: `missed`, `found`, `unblocked`, `blocked`, then a colon
    /// and the class; or `code:` and a rule's code.
    #[arg(long)]
    show: Option<String>,
    /// How many rows to print.
    #[arg(long, default_value_t = 20)]
    most: usize,
}

/// The large sets.
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

const MINI_SET: &str = "mini";

/// The generated page, from the root of the repository.
const PAGE: &str = "docs/accuracy.md";

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let absent = !options.data.is_dir();
    if absent && !options.mini {
        println!("`{}` is no folder: only the hand-written set is measured", options.data.display());
    }
    let mut outcomes = Vec::new();
    if absent || options.mini {
        ensure!(!options.write, "{PAGE} is made from the large sets, and they are not here");
        tally(MINI_SET, rows::mini()?, options, &mut outcomes)?;
    } else {
        let mut tallies = Vec::new();
        for set in SETS {
            if !options.set.is_empty() && !options.set.iter().any(|wanted| wanted == set) {
                continue;
            }
            let path = options.data.join(format!("{set}.jsonl.gz"));
            let rows =
                rows::large(&path).with_context(|| format!("reading `{}`", path.display()))?;
            tallies.push((set, tally(set, rows, options, &mut outcomes)?));
        }
        if options.write {
            write(root, &page::page(&tallies, &outcomes))?;
        }
    }
    terminal::print_outcomes(&outcomes);
    let broken: Vec<&str> = outcomes.iter().filter(|o| !o.kept).map(|o| o.name.as_str()).collect();
    ensure!(broken.is_empty(), "these thresholds are broken:\n  {}", broken.join("\n  "));
    Ok(())
}

/// Measures one set, prints what was counted, and holds it to its thresholds.
fn tally(
    set: &str,
    rows: Vec<Row>,
    options: &Options,
    outcomes: &mut Vec<Outcome>,
) -> Result<Tally> {
    let measured = measure(rows);
    let mut tally = Tally::default();
    for one in &measured {
        tally.add(one);
    }
    terminal::print(set, &tally);
    if let Some(wanted) = &options.show {
        show::show(&measured, wanted, options.most);
    }
    outcomes.extend(thresholds::hold(set, &tally)?);
    Ok(tally)
}

#[expect(clippy::disallowed_methods, reason = "a developer tool writes pages")]
fn write(root: &Path, text: &str) -> Result<()> {
    std::fs::write(root.join(PAGE), text).with_context(|| format!("writing {PAGE}"))
}
