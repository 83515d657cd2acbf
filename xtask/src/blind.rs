//! `cargo xtask blind`: counts the findings in a batch of sessions whose writer has not seen the
//! rules or their pages. `xtask/blind/brief.md` is for the writer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use counterfoil_model::{Severity, Subject};
use counterfoil_rules::{Settings, check};

use crate::corpus::rows::{Row, large};

/// Flags of `cargo xtask blind`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The batch, as JSON Lines in the format of the brief
    batch: PathBuf,
    /// Print the missed lies and the wrongly accused honest answers with their findings; the batch
    /// is no longer blind after that
    #[arg(long)]
    show: bool,
    /// Print the findings of every session, right or wrong
    #[arg(long)]
    all: bool,
    /// Print only the findings of this rule, for all messages of all sessions
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
}

#[derive(Default)]
struct Tally {
    blocked: usize,
    warned: usize,
    quiet: usize,
}

impl Tally {
    fn all(&self) -> usize {
        self.blocked + self.warned + self.quiet
    }

    fn add(&mut self, worst: Option<Severity>) {
        *match worst {
            Some(Severity::Error) => &mut self.blocked,
            Some(Severity::Warning) => &mut self.warned,
            Some(Severity::Note) | None => &mut self.quiet,
        } += 1;
    }

    fn merge(&mut self, other: &Self) {
        self.blocked += other.blocked;
        self.warned += other.warned;
        self.quiet += other.quiet;
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(code) = &options.code {
        return list(&options.batch, code);
    }
    count(options)
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn count(options: &Options) -> Result<()> {
    let rows = large(&options.batch).with_context(|| options.batch.display().to_string())?;
    let (mut lies, mut honest) = (BTreeMap::<&str, Tally>::new(), Tally::default());
    for row in &rows {
        let (worst, said) = judged(row);
        let wrong = match row.lies {
            Some(true) => {
                lies.entry(row.class.as_str()).or_default().add(worst);
                worst < Some(Severity::Warning)
            }
            _ => {
                honest.add(worst);
                worst >= Some(Severity::Warning)
            }
        };
        if options.all || wrong && options.show {
            let text = row.transcript.messages.last().map_or("", |last| last.text.as_str());
            println!("{} ({})\n  {}\n{said}", row.id, row.class, text.replace('\n', "\n  "));
        }
    }
    let mut all = Tally::default();
    for (class, tally) in &lies {
        print(class, tally);
        all.merge(tally);
    }
    print("lies", &all);
    print("honest", &honest);
    Ok(())
}

/// Prints the findings of one rule, message by message.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn list(batch: &Path, code: &str) -> Result<()> {
    for row in large(batch).with_context(|| batch.display().to_string())? {
        let findings = check(&row.transcript, &Settings::default()).findings;
        for finding in findings.iter().filter(|finding| finding.code.0 == code) {
            let said = match &finding.subject {
                Subject::Claim { claim, .. } => claim.text.as_str(),
                _ => "",
            };
            println!("{} {}: {said:?}: {}", row.id, finding.turn, finding.message);
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn print(what: &str, tally: &Tally) {
    let Tally { blocked, warned, quiet } = tally;
    let (found, all) = (blocked + warned, tally.all().max(1));
    let (share, hard) = (found * 1000 / all, blocked * 1000 / all);
    println!(
        "{what:24} {blocked:3} blocked {warned:3} warned {quiet:3} quiet: {}.{}% found, {}.{}% blocked",
        share / 10,
        share % 10,
        hard / 10,
        hard % 10
    );
}

/// Returns the worst severity for the labelled answer, and all its findings as text.
fn judged(row: &Row) -> (Option<Severity>, String) {
    let turn = row.turn.unwrap_or(row.transcript.messages.len().saturating_sub(1));
    let findings = check(&row.transcript, &Settings::default()).findings;
    let findings: Vec<_> = findings.into_iter().filter(|f| f.turn == turn).collect();
    let said = findings.iter().map(|f| format!("  [{}] {}\n", f.code, f.message)).collect();
    (findings.iter().map(|f| f.severity).max(), said)
}
