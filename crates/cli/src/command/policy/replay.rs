use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use counterfoil_formats::{Options, read};
use counterfoil_guard::Gates;
use counterfoil_model::{Role, Tool, Transcript};
use serde::Serialize;
use serde_json::{Value, json};

use super::shown::{as_json, call_line, outcome, reasons};
use super::surroundings::{Past, Place as Scenery, Surroundings};
use super::{Shape, gates};
use crate::choices::Colour;
use crate::command::Global;
use crate::config::Files;
use crate::exit::Exit;
use crate::inputs::inputs;
use crate::terminal::Paint;

/// Show what a new policy would have done with recorded calls
///
/// Every recorded call is judged twice: by the configuration in force, and by the new one. What
/// changes is shown. Logs of every form that `check` reads are understood, and so is a session of
/// the ledger, exported with `counterfoil audit export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil policy replay --policy new.toml session.jsonl
  counterfoil policy replay --policy new.toml logs/ --format json
  counterfoil --no-config policy replay --policy new.toml session.jsonl

Exit codes: 0 nothing changes, 1 something does, 2 usage or input error.")]
pub(super) struct Arguments {
    /// The new policy: a configuration file
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Logs: files, folders, or - for standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    #[command(flatten)]
    surroundings: Surroundings,
    /// How the answer is shown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Shape,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

/// One call on which the two policies differ.
#[derive(Debug, Serialize)]
struct Change {
    log: String,
    line: usize,
    session: String,
    tool: String,
    arguments: Value,
    before: &'static str,
    after: &'static str,
    gates: Value,
    #[serde(skip)]
    why: Vec<String>,
}

/// Everything that was judged.
#[derive(Debug, Default)]
struct Tally {
    calls: usize,
    unreadable: usize,
    changes: Vec<Change>,
}

pub(super) fn run(
    global: &Global,
    arguments: &Arguments,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let old = gates(&global.place())?;
    let new = gates(&Files::Named(arguments.policy.clone()).into())?;
    let scenery = arguments.surroundings.place();
    let mut tally = Tally::default();
    for input in inputs(&arguments.logs) {
        let reader =
            input.open(|_| {}).with_context(|| format!("{} cannot be read", input.shown))?;
        read(reader, &Options::new(input.name()), &mut |reading| {
            replay(&reading.transcript, &input.shown, [&old, &new], &scenery, &mut tally);
        })
        .with_context(|| input.shown.clone())?;
    }
    match arguments.format {
        Shape::Json => {
            let answer = json!({
                "version": 1,
                "calls": tally.calls,
                "unreadable": tally.unreadable,
                "changes": tally.changes,
            });
            writeln!(out, "{}", counterfoil_report::json_pretty(&answer))?;
        }
        Shape::Text => show(&tally, Paint::for_output(arguments.color), out)?,
    }
    Ok(if tally.changes.is_empty() { Exit::Clean } else { Exit::Findings })
}

/// Judges every call of a session in its order, each with what the session had done until then.
fn replay(
    transcript: &Transcript,
    log: &str,
    [old, new]: [&Gates; 2],
    scenery: &Scenery,
    tally: &mut Tally,
) {
    let mut past = Past::default();
    let called = transcript.messages.iter().flat_map(|message| &message.calls);
    let named = called.map(|call| call.tool.clone());
    past.tools = transcript.catalog.iter().map(|tool| tool.name.clone()).chain(named).collect();
    let mut open: BTreeMap<&str, &str> = BTreeMap::new();
    for message in &transcript.messages {
        for outcome in &message.outcomes {
            let succeeded = outcome.is_error != Some(true)
                && !outcome.refused
                && !outcome.running
                && outcome.exit_code.is_none_or(|code| code == 0);
            if let Some(tool) = open.remove(outcome.call_id.as_str()).filter(|_| succeeded) {
                past.completed.insert(tool.to_owned());
            }
        }
        if message.role == Role::User && !message.text.is_empty() {
            let mentioned = past.tools.iter().filter(|tool| message.text.contains(*tool));
            past.mentioned = mentioned.cloned().collect();
        }
        for call in &message.calls {
            tally.calls += 1;
            let tool = transcript.catalog.get(&call.tool).cloned();
            let tool = tool.unwrap_or_else(|| Tool::named(&call.tool));
            let scene = scenery.scene(&past, message.agent.as_deref());
            let judged = (old.rehearse(call, &tool, &scene), new.rehearse(call, &tool, &scene));
            if let (Ok(before), Ok(after)) = judged {
                let (was, is) = (outcome(&before), outcome(&after));
                if was != is {
                    tally.changes.push(Change {
                        log: log.to_owned(),
                        line: call.line,
                        session: transcript.id.clone(),
                        tool: call.tool.clone(),
                        arguments: call.arguments.parse().unwrap_or(Value::Null),
                        before: was,
                        after: is,
                        gates: as_json(&after),
                        why: reasons(if is == "allow" { &before } else { &after }),
                    });
                }
            } else {
                tally.unreadable += 1;
            }
            past.calls_made += 1;
            open.insert(&call.id, &call.tool);
        }
    }
}

fn show(tally: &Tally, paint: Paint, out: &mut impl Write) -> anyhow::Result<()> {
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
    let mut parts = vec![format!("{same} the same")];
    parts.extend(kinds.iter().map(|((was, is), count)| format!("{count} {was} → {is}")));
    if tally.unreadable > 0 {
        parts.push(format!("{} with arguments that are not a JSON object", tally.unreadable));
    }
    writeln!(out, "{}: {}", super::count(tally.calls, "call"), parts.join(", "))?;
    Ok(())
}
