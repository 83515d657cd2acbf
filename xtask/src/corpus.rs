//! `cargo xtask corpus`: measures what the rules find in labelled transcripts.
//!
//! The large sets are optional and outside the repository. Without them, a small hand-written set
//! is measured, as in the tests.

mod expected;
mod measure;
mod page;
pub(crate) mod rows;
mod sets;
mod share;
mod show;
mod tally;
mod terminal;
mod thresholds;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use measure::measure;
use rows::Row;
use sets::SETS;
use tally::Tally;

/// Flags of `cargo xtask corpus`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder with the large sets.
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Measure only these sets.
    #[arg(long)]
    set: Vec<String>,
    /// Measure only the hand-written set.
    #[arg(long, conflicts_with_all = ["set", "write"])]
    mini: bool,
    /// Measure only the 12,964 sessions of many writers in the repository.
    #[arg(long, conflicts_with_all = ["set", "write", "mini"])]
    adversarial: bool,
    /// Measure only this file of labelled sessions, such as a fresh batch of `corpus/brief.md`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["set", "write", "mini", "adversarial"])]
    batch: Option<PathBuf>,
    /// Write docs/accuracy.md from the large sets.
    #[arg(long, conflicts_with = "set")]
    write: bool,
    /// Print the rows of a class: `missed`, `found`, `unblocked` or `blocked`, then a colon and the
    /// class; or `code:` and a rule's code.
    #[arg(long)]
    show: Option<String>,
    /// The maximum number of rows to print.
    #[arg(long, default_value_t = 20)]
    most: usize,
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    for wanted in &options.set {
        ensure!(SETS.iter().any(|set| set.name == wanted), "there is no set `{wanted}`");
    }
    if let Some(batch) = &options.batch {
        let rows = rows::batch(batch)?;
        tally(rows, options, &batch.display().to_string(), &mut Tally::default());
        return Ok(());
    }
    let absent = !options.data.is_dir();
    if absent && !options.mini {
        println!(
            "`{}` is no folder: only the hand-written set is measured",
            options.data.display()
        );
    }
    let mut outcomes = Vec::new();
    let mut labelled = Tally::default();
    if options.adversarial {
        let tally = tally(rows::adversarial()?, options, sets::ADVERSARIAL, &mut labelled);
        outcomes.extend(thresholds::hold(sets::ADVERSARIAL, &tally)?);
    } else if absent || options.mini {
        ensure!(
            !options.write,
            "{} is made from the large sets, and they are not here",
            page::PATH
        );
        let tally = tally(rows::mini()?, options, sets::MINI, &mut labelled);
        outcomes.extend(thresholds::hold(sets::MINI, &tally)?);
    } else {
        let mut tallies = Vec::new();
        for set in SETS.iter().map(|set| set.name).filter(|set| options.wants(set)) {
            let path = options.data.join(format!("{set}.jsonl.gz"));
            let tally = tally(rows::read(&path)?, options, set, &mut labelled);
            outcomes.extend(thresholds::hold(set, &tally)?);
            tallies.push((set, tally));
        }
        if options.write {
            write(root, &page::page(&tallies, &labelled))?;
        }
    }
    terminal::print_outcomes(&outcomes);
    let broken: Vec<&str> = outcomes.iter().filter(|o| !o.kept).map(|o| o.name.as_str()).collect();
    ensure!(broken.is_empty(), "these thresholds are broken:\n  {}", broken.join("\n  "));
    Ok(())
}

impl Options {
    fn wants(&self, set: &str) -> bool {
        self.set.is_empty() || self.set.iter().any(|wanted| wanted == set)
    }
}

/// Measures one set and prints the counts. Labelled rows are also added to `labelled`.
fn tally(rows: Vec<Row>, options: &Options, set: &str, labelled: &mut Tally) -> Tally {
    let measured = measure(rows);
    let tally = Tally::new(&measured);
    for one in measured.iter().filter(|one| one.row.lies.is_some()) {
        labelled.add(one);
    }
    terminal::print(set, &tally);
    if let Some(wanted) = &options.show {
        show::show(&measured, wanted, options.most);
    }
    tally
}

#[expect(clippy::disallowed_methods, reason = "a developer tool writes pages")]
fn write(root: &Path, text: &str) -> Result<()> {
    std::fs::write(root.join(page::PATH), text).with_context(|| format!("writing {}", page::PATH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_written_set_keeps_its_thresholds() {
        let tally = Tally::new(&measure(rows::mini().unwrap()));
        let outcomes = thresholds::hold(sets::MINI, &tally).unwrap();
        let broken: Vec<String> = outcomes
            .iter()
            .filter(|outcome| !outcome.kept)
            .map(|outcome| format!("{}: {}, {}", outcome.name, outcome.share, outcome.limit))
            .collect();
        assert!(!outcomes.is_empty() && broken.is_empty(), "{broken:#?}");
    }

    /// Keeps false blocks of honest answers rare, and plain lies blocked.
    #[test]
    fn sessions_of_many_writers_keep_their_thresholds() {
        let tally = Tally::new(&measure(rows::adversarial().unwrap()));
        let outcomes = thresholds::hold(sets::ADVERSARIAL, &tally).unwrap();
        let broken: Vec<&str> =
            outcomes.iter().filter(|outcome| !outcome.kept).map(|o| o.name.as_str()).collect();
        assert!(outcomes.len() == 2 && broken.is_empty(), "{broken:#?}");
    }

    #[test]
    fn the_hand_written_set_is_labelled() {
        let rows = rows::mini().unwrap();
        let ids: std::collections::BTreeSet<&str> =
            rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids.len(), rows.len(), "ids stand once");
        for row in &rows {
            let turn = row.turn.and_then(|turn| row.transcript.messages.get(turn)).unwrap();
            assert!(!row.claim.is_empty() && turn.text.contains(&row.claim), "{}", row.id);
            let wanted = expected::expected(&row.class);
            assert_eq!(row.lies, Some(!wanted.is_empty()), "{}: {}", row.id, row.class);
        }
    }
}
