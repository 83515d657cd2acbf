mod explain;
mod replay;
mod shown;
mod surroundings;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::config::checked;
use crate::config::{self, Files, Place};
use crate::exit::{Exit, note};
use crate::global::Global;
use counterfoil_report::counted;

/// Check a policy, or show what it would do
///
/// The policy is part of the configuration: `[tools.policy]`, `[tools.authorization]`,
/// `[tools.permissions]`, `[tools.trust]`, `[tools.dependencies]`, `[tools.blocklist]`. These
/// commands use the same gates as a running guard, but execute nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil policy check ci/counterfoil.toml
  counterfoil policy explain --tool shell --args '{\"command\": \"git push\"}'
  counterfoil policy replay --policy new.toml session.jsonl")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read policies, and test every rule against its examples
    #[command(after_help = "\
Exit codes: 0 all policies are valid, 2 at least one is invalid.")]
    Check {
        /// The configuration files [default: the configuration in effect]
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    Explain(explain::Arguments),
    Replay(replay::Arguments),
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    match &arguments.action {
        Action::Check { files } => check(global, files, &mut out),
        Action::Explain(arguments) => explain::run(global, arguments, &mut out),
        Action::Replay(arguments) => replay::run(global, arguments, &mut out),
    }
}

fn check(global: &Global, files: &[PathBuf], out: &mut impl Write) -> anyhow::Result<Exit> {
    let places: Vec<Place> = if files.is_empty() {
        vec![global.place()]
    } else {
        files.iter().cloned().map(|path| Files::Named(path).into()).collect()
    };
    for place in places {
        let found = config::find(&place)?;
        let (settings, _) = checked(&found)?;
        let tools = &found.options.tools;
        let named =
            found.files.first().map_or("defaults".into(), |file| file.display().to_string());
        writeln!(out, "{named}: valid")?;
        let sections = [
            ("policy", tools.policy.enabled, &tools.policy.rules),
            ("authorization", tools.authorization.enabled, &tools.authorization.rules),
        ];
        for (section, enabled, rules) in sections {
            let examples: usize =
                rules.iter().map(|rule| rule.matches.len() + rule.not_match.len()).sum();
            let state = if enabled { "on" } else { "off" };
            let (rules, examples) = (counted(rules.len(), "rule"), counted(examples, "example"));
            writeln!(out, "  {section:<14} {state:<4} {rules}, {examples} checked")?;
        }
        let permissions = counted(tools.permissions.rules.len(), "rule");
        writeln!(out, "  {:<14} {:<4} {permissions}", "permissions", "on")?;
        let (state, rules) = (tools.dependencies.enabled, tools.dependencies.rules.len());
        let state = if state { "on" } else { "off" };
        writeln!(out, "  {:<14} {state:<4} {}", "dependencies", counted(rules, "rule"))?;
        settings.dependencies.notice().map(note).transpose()?;
    }
    Ok(Exit::Clean)
}
