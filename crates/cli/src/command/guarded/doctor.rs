mod check;
mod files;
mod machine;
mod trial;

use std::io::{self, Write as _};

use clap::Args;
use serde::Serialize;

use super::config::checked;
use crate::choices::{ShownWhole, WholeFormat};
use crate::config;
use crate::exit::Exit;
use crate::global::Global;
use crate::guard;
use crate::terminal::Paint;
use check::{Check, Status};

/// Show which sandboxing this machine supports, and how to enable the rest
///
/// Also tests the sandbox by running a command that tries to break out of it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil doctor
  counterfoil doctor --format json | jq '.checks[] | select(.status != \"ok\")'

Exit codes: 0 commands are sandboxed and recorded as configured, 1 a check failed, 2 usage error.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    shown: ShownWhole,
}

#[derive(Debug, Serialize)]
struct Outcome {
    schema_version: u32,
    /// Whether no check failed.
    healthy: bool,
    profile: &'static str,
    checks: Vec<Check>,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let (mut checks, options) = match config::find(&global.place()) {
        Ok(found) => match checked(&found) {
            Ok((_, unset)) => (files::configuration(&found.files, &unset), found.options),
            Err(error) => (vec![files::unusable(&error)], config::Options::default()),
        },
        Err(error) => (vec![files::unusable(&error)], config::Options::default()),
    };
    let settings = guard::settings(&options)?;
    let sandbox = settings.shell.load().sandbox.clone();
    let state = global.state();
    checks.push(files::state(state));
    checks.extend(files::keys(global.state().ok(), &options));
    checks.extend(files::ledger(&settings.ledger));
    checks.push(files::hooks());
    let abilities = guard::sandbox(None).abilities(&sandbox).clone();
    checks.extend(machine::checks(&abilities));
    checks.push(trial::check(&options));
    let healthy = checks.iter().all(|check| check.status != Status::Fail);
    let outcome = Outcome { schema_version: 1, healthy, profile: sandbox.profile().name(), checks };
    let mut out = io::stdout().lock();
    match arguments.shown.format {
        WholeFormat::Json => writeln!(out, "{}", counterfoil_report::json_pretty(&outcome))?,
        WholeFormat::Text => {
            write!(out, "{}", text(&outcome, Paint::for_output(arguments.shown.color)))?
        }
    }
    Ok(if healthy { Exit::Clean } else { Exit::Findings })
}

fn text(outcome: &Outcome, paint: Paint) -> String {
    let mut text = String::new();
    for check in &outcome.checks {
        let status = match check.status {
            Status::Ok => "ok  ".to_owned(),
            Status::Note => paint.help("note"),
            Status::Fail => paint.error("FAIL"),
        };
        text += &format!("{status}  {:<16}  {}\n", check.name, check.found);
        if let Some(help) = &check.help {
            text += &format!("      {:<16}  {} {help}\n", "", paint.help("help:"));
        }
    }
    text + if outcome.healthy {
        "\nCommands are sandboxed and recorded as configured.\n"
    } else {
        "\nSome checks failed: see FAIL above.\n"
    }
}
