//! The commands, one file each, in one table: [`Command`].

mod check;
mod completions;
mod config;
mod explain;
mod man;
mod prompt;
mod rules;
mod validate;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::Place;
use crate::exit::Exit;

/// Checks what a language-model agent says against what its tool calls show.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, max_term_width = 100, after_help = AFTER)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Examples:
  countersign check session.jsonl          what the agent said, against what it did
  countersign check logs/ --format sarif   the same for a folder, for code scanning
  countersign explain UNKNOWN_TOOL         what a rule finds, and what it leaves alone

Exit codes: 0 clean, 1 findings at or above the fail level, 2 usage or input error,
3 internal error.";

/// What every command understands.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct Global {
    /// Read exactly this configuration file
    #[arg(long, global = true, value_name = "FILE", env = "COUNTERSIGN_CONFIG")]
    config: Option<PathBuf>,
    /// Read no configuration file
    #[arg(long, global = true, conflicts_with = "config")]
    no_config: bool,
}

impl Global {
    pub(crate) fn place(&self) -> Place {
        match (&self.config, self.no_config) {
            (_, true) => Place::Nowhere,
            (Some(path), false) => Place::Named(path.clone()),
            (None, false) => Place::Found,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Validate(validate::Arguments),
    Rules(rules::Arguments),
    Explain(explain::Arguments),
    Prompt(prompt::Arguments),
    Config(config::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

/// Runs what was asked for.
pub(crate) fn run(cli: Cli) -> anyhow::Result<Exit> {
    let global = &cli.global;
    match cli.command {
        Command::Check(arguments) => check::run(global, arguments),
        Command::Validate(arguments) => validate::run(&arguments),
        Command::Rules(arguments) => rules::run(global, &arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Prompt(arguments) => prompt::run(&arguments),
        Command::Config(arguments) => config::run(global, &arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
