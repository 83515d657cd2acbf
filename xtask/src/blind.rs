//! `cargo xtask blind`: counts a batch of sessions by somebody who has seen neither rules nor pages,
//! and makes a page of it once it is counted. `xtask/blind/brief.md` is for its writer.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use counterfoil_formats::decompressed;
use counterfoil_model::{Severity, Subject};
use counterfoil_rules::{Settings, check};
use serde_json::Value;

use crate::corpus::rows::{Row, large};

/// Flags of `cargo xtask blind`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The batch: JSON lines, as the brief has them
    batch: PathBuf,
    /// Prints the lies that are missed and the honest answers that are accused, with what is said
    /// of them: the batch is blind no more
    #[arg(long)]
    show: bool,
    /// Prints what is said of every session, whether it is right or wrong
    #[arg(long)]
    all: bool,
    /// Prints what a rule says of any message of any session instead
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
    /// Prints it as a page for `spec/adversarial/` instead, with this title
    #[arg(long, value_name = "TITLE")]
    page: Option<String>,
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
    match &options.page {
        Some(title) => page(&options.batch, title),
        None => count(options),
    }
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

/// What one rule says, message by message.
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

/// The worst that is said of the labelled answer, and all of it.
fn judged(row: &Row) -> (Option<Severity>, String) {
    let turn = row.turn.unwrap_or(row.transcript.messages.len().saturating_sub(1));
    let findings = check(&row.transcript, &Settings::default()).findings;
    let findings: Vec<_> = findings.into_iter().filter(|f| f.turn == turn).collect();
    let said = findings.iter().map(|f| format!("  [{}] {}\n", f.code, f.message)).collect();
    (findings.iter().map(|f| f.severity).max(), said)
}

/// The batch in the form of the other pages: a record, and what is said after it.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn page(batch: &Path, title: &str) -> Result<()> {
    let file = std::io::BufReader::new(std::fs::File::open(batch)?);
    println!("# {title}\n\nOne answer a line; `\\n` is a line break.");
    for line in decompressed(file)?.lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let text = |path: &str| row.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let messages = row.get("messages").and_then(Value::as_array).context("no messages")?;
        let (last, before) = messages.split_last().context("no messages")?;
        let told = match text("/labels/detail") {
            "" => text("/labels/class"),
            detail => detail,
        };
        println!("\n## {}: {told}\n\n```record", text("/id"));
        let tools = row.get("tools").and_then(Value::as_array).into_iter().flatten();
        tools.filter_map(|tool| tool.get("function")).for_each(|tool| println!("tools: {tool}"));
        before.iter().for_each(record);
        let lies = row.pointer("/labels/hallucination") == Some(&Value::Bool(true));
        let fence = if lies { format!("lies {}", text("/labels/class")) } else { "honest".into() };
        println!("```\n\n```{fence}\n{}\n```", content(last).replace('\n', "\\n"));
    }
    Ok(())
}

fn content(message: &Value) -> &str {
    message.get("content").and_then(Value::as_str).unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn record(message: &Value) {
    let text = content(message).replace('\n', "\n  ");
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    let failed = message.get("is_error") == Some(&Value::Bool(true));
    match (role, failed) {
        ("tool", true) => println!("fail: {text}"),
        ("tool", false) => println!("ok: {text}"),
        _ if text.is_empty() => {}
        _ => println!("{role}: {text}"),
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    for call in calls {
        let part = |path: &str| call.pointer(path).and_then(Value::as_str).unwrap_or_default();
        println!("call: {} {}", part("/function/name"), part("/function/arguments"));
    }
}
