use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use counterfoil_formats::{Options, read};
use counterfoil_guard::{Gates, Replay, ReplayChange};
use serde::Serialize;

use super::shown::call_line;
use super::surroundings::Surroundings;
use crate::choices::{ShownWhole, WholeFormat};
use crate::config::{self, Files, Place};
use crate::exit::Exit;
use crate::global::Global;
use crate::inputs::inputs;
use crate::terminal::Paint;
use counterfoil_report::counted;

/// Show what a new policy would have done with recorded calls
///
/// Judges every recorded call twice, with the current configuration and with the new one, and shows
/// the differences. Accepts logs in every format that `check` reads, and ledger sessions exported
/// with `counterfoil audit export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil policy replay --policy new.toml session.jsonl
  counterfoil policy replay --policy new.toml logs/ --format json
  counterfoil --no-config policy replay --policy new.toml session.jsonl

Exit codes: 0 no decision changes, 1 at least one decision changes, 2 usage or input error.")]
pub(super) struct Arguments {
    /// The new policy: a configuration file
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Logs: files, folders, or - for standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    #[command(flatten)]
    surroundings: Surroundings,
    #[command(flatten)]
    shown: ShownWhole,
}

pub(super) fn run(
    global: &Global,
    arguments: &Arguments,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let old = gates(&global.place())?;
    let new = gates(&Files::Named(arguments.policy.clone()).into())?;
    let scenery = arguments.surroundings.place();
    let mut tally = Replay::default();
    for input in inputs(&arguments.logs) {
        let reader = input.open(|_| {}).with_context(|| format!("cannot read {}", input.shown))?;
        read(reader, &Options::new(input.name()), &mut |reading| {
            tally.add(&reading.transcript, &input.shown, [&old, &new], &scenery);
        })
        .with_context(|| input.shown.clone())?;
    }
    match arguments.shown.format {
        WholeFormat::Json => {
            #[derive(Serialize)]
            struct Replayed<'t> {
                version: u32,
                calls: usize,
                unreadable: usize,
                changes: &'t [ReplayChange],
            }
            let Replay { calls, unreadable, ref changes } = tally;
            let answer = Replayed { version: 1, calls, unreadable, changes };
            writeln!(out, "{}", counterfoil_report::json_pretty(&answer))?;
        }
        WholeFormat::Text => show(&tally, Paint::for_output(arguments.shown.color), out)?,
    }
    Ok(if tally.changes.is_empty() { Exit::Clean } else { Exit::Findings })
}

fn show(tally: &Replay, paint: Paint, out: &mut impl Write) -> anyhow::Result<()> {
    let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for change in &tally.changes {
        let place = match change.line {
            0 => change.log.clone(),
            line => format!("{}:{line}", change.log),
        };
        let call = call_line(&change.tool, &change.arguments.to_string());
        writeln!(out, "{}  {call}", paint.code(&place))?;
        let after = match change.after {
            "deny" => paint.error("deny"),
            other => paint.bold(other),
        };
        let no_longer = if change.after == "allow" { "no longer " } else { "" };
        let why: Vec<String> = change.why.iter().map(|why| format!("{no_longer}{why}")).collect();
        writeln!(out, "    {} → {after}  {}\n", change.before, why.join("; "))?;
        *kinds.entry((change.before, change.after)).or_default() += 1;
    }
    let same = tally.calls - tally.changes.len() - tally.unreadable;
    let mut parts = vec![format!("{same} unchanged")];
    parts.extend(kinds.iter().map(|((was, is), count)| format!("{count} {was} → {is}")));
    if tally.unreadable > 0 {
        parts.push(format!("{} skipped (arguments are not a JSON object)", tally.unreadable));
    }
    writeln!(out, "{}: {}", counted(tally.calls, "call"), parts.join(", "))?;
    Ok(())
}

/// Creates the gates of a configuration.
fn gates(place: &Place) -> anyhow::Result<Gates> {
    crate::guard::gates(&config::find(place)?.options, None)
}
