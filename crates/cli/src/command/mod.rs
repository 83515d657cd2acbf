//! The commands, one file each, in one table: [`Command`].

mod approve;
mod audit;
mod chat;
mod check;
mod completions;
mod config;
mod doctor;
mod explain;
mod hook;
mod man;
mod mcp;
mod policy;
mod prompt;
mod proxy;
mod rules;
mod run;
mod scheduler;
mod serve;
mod skills;
mod stats;
mod tools;
mod trust;
mod undo;
mod validate;
mod witness;

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use counterfoil_guard::LedgerUrl;

use crate::config::{Files, Place};
use crate::exit::{Complaint, Exit};
use crate::log::{self, LogLevel};
use crate::state::State;
use crate::terminal::Paint;

/// Checks what a language-model agent says against what its tool calls show.
#[derive(Debug, Parser)]
#[command(name = "counterfoil", version, max_term_width = 100, after_help = AFTER)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Examples:
  counterfoil check session.jsonl          what the agent said, against what it did
  counterfoil check logs/ --format sarif   the same for a folder, for code scanning
  counterfoil explain UNKNOWN_TOOL         what a rule finds, and what it leaves alone

Exit codes: 0 clean, 1 findings at or above the fail level, 2 usage or input error,
3 internal error.";

/// What every command understands.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Configuration and state")]
pub(crate) struct Global {
    /// Read exactly this configuration file
    #[arg(long, global = true, value_name = "FILE", env = "COUNTERFOIL_CONFIG")]
    config: Option<PathBuf>,
    /// Read no configuration file
    #[arg(long, global = true, conflicts_with = "config")]
    no_config: bool,
    /// How much is logged to standard error [default: warn; off in hooks]
    #[arg(long, global = true, value_name = "LEVEL", env = "COUNTERFOIL_LOG")]
    log: Option<LogLevel>,
    /// The folder of ledger, audit log and keys
    #[arg(long, global = true, value_name = "DIR", env = "COUNTERFOIL_STATE")]
    state: Option<PathBuf>,
    /// The ledger that several replicas share: `postgres://USER@HOST/DATABASE`
    #[arg(long, global = true, value_name = "URL", env = "COUNTERFOIL_LEDGER", hide_env_values = true, value_parser = ledger_url)]
    ledger: Option<LedgerUrl>,
}

/// Checked when it is used: what is wrong with it is said without its password.
#[expect(clippy::unnecessary_wraps, reason = "clap wants it so")]
fn ledger_url(text: &str) -> Result<LedgerUrl, std::convert::Infallible> {
    Ok(LedgerUrl::new(text))
}

impl Global {
    pub(crate) fn place(&self) -> Place {
        let files = match (&self.config, self.no_config) {
            (_, true) => Files::Nowhere,
            (Some(path), false) => Files::Named(path.clone()),
            (None, false) => Files::Found,
        };
        Place { files, ledger: self.ledger.clone() }
    }

    /// The state folder that is meant. Nothing is made or opened yet.
    pub(crate) fn state(&self) -> Result<State, Complaint> {
        State::resolve(self.state.as_deref())
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Validate(validate::Arguments),
    Audit(audit::Arguments),
    Witness(witness::Arguments),
    Rules(rules::Arguments),
    Explain(explain::Arguments),
    Hook(hook::Arguments),
    Policy(policy::Arguments),
    Prompt(prompt::Arguments),
    Chat(chat::Arguments),
    Scheduler(scheduler::Arguments),
    Skills(skills::Arguments),
    Run(run::Arguments),
    Approve(approve::Arguments),
    Mcp(mcp::Arguments),
    Proxy(proxy::Arguments),
    Serve(serve::Arguments),
    Tools(tools::Arguments),
    Stats(stats::Arguments),
    Undo(undo::Arguments),
    Config(config::Arguments),
    Trust(trust::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

/// The environment variables that stand for flags.
pub(crate) fn variables() -> BTreeSet<String> {
    fn collect(command: &clap::Command, names: &mut BTreeSet<String>) {
        let named = command.get_arguments().filter_map(clap::Arg::get_env);
        names.extend(named.map(|name| name.to_string_lossy().into_owned()));
        command.get_subcommands().for_each(|inner| collect(inner, names));
    }
    let mut names = BTreeSet::new();
    collect(&Cli::command(), &mut names);
    names
}

/// Shows the help, to somebody who asked for nothing.
pub(crate) fn help() -> anyhow::Result<Exit> {
    let help = Cli::command().render_help();
    match Paint::for_errors().is_on() {
        true => write!(io::stderr(), "{}", help.ansi())?,
        false => write!(io::stderr(), "{help}")?,
    }
    Ok(Exit::Input)
}

/// Runs what was asked for.
pub(crate) fn run(cli: Cli) -> anyhow::Result<Exit> {
    let global = &cli.global;
    let quiet = matches!(cli.command, Command::Hook(_));
    log::begin(global.log.unwrap_or(if quiet { LogLevel::Off } else { LogLevel::Warn }));
    match cli.command {
        Command::Check(arguments) => check::run(global, arguments),
        Command::Validate(arguments) => validate::run(global, &arguments),
        Command::Audit(arguments) => audit::run(global, &arguments),
        Command::Witness(arguments) => witness::run(global, &arguments),
        Command::Rules(arguments) => rules::run(global, &arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Hook(arguments) => hook::run(global, &arguments),
        Command::Policy(arguments) => policy::run(global, &arguments),
        Command::Prompt(arguments) => prompt::run(&arguments),
        Command::Chat(arguments) => chat::run(global, &arguments),
        Command::Scheduler(arguments) => scheduler::run(global, &arguments),
        Command::Skills(arguments) => skills::run(global, &arguments),
        Command::Run(arguments) => run::run(global, &arguments),
        Command::Approve(arguments) => approve::run(global, &arguments),
        Command::Mcp(arguments) => mcp::run(global, &arguments),
        Command::Proxy(arguments) => proxy::run(global, &arguments),
        Command::Serve(arguments) => serve::run(global, &arguments),
        Command::Tools(arguments) => tools::run(global, &arguments),
        Command::Stats(arguments) => stats::run(global, &arguments),
        Command::Undo(arguments) => undo::run(global, &arguments),
        Command::Config(arguments) => config::run(global, &arguments),
        Command::Trust(arguments) => trust::run(global, &arguments),
        Command::Doctor(arguments) => doctor::run(global, &arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
