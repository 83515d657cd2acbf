//! The commands, one file each, in one table: [`Command`].

mod check;
mod completions;
mod explain;
#[cfg(feature = "guard")]
mod guarded;
mod judge;
mod man;
mod prompt;
mod rules;
mod trust;
mod validate;

use std::io::{self, Write as _};

use clap::{CommandFactory as _, Parser, Subcommand};

#[cfg(not(feature = "guard"))]
use crate::exit::Complaint;
use crate::exit::Exit;
use crate::global::Global;
use crate::log::{self, LogLevel};
use crate::terminal::Paint;

/// Checks what a language-model agent says against what its tool calls show.
#[derive(Debug, Parser)]
#[command(name = "counterfoil", version, max_term_width = 100, after_help = AFTER)]
#[command(arg_required_else_help = true, subcommand_required = true)]
#[cfg_attr(feature = "guard", command(arg = migrate_config()))]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// A flag of other programs that is a command here.
#[cfg(feature = "guard")]
fn migrate_config() -> clap::Arg {
    let tip = "to update renamed configuration keys, run `counterfoil config migrate --write`";
    let parser = clap::builder::UnknownArgumentValueParser::suggest(tip);
    let flag = clap::Arg::new("migrate-config").long("migrate-config").hide(true).global(true);
    flag.action(clap::ArgAction::SetTrue).value_parser(parser)
}

const AFTER: &str = "Examples:
  counterfoil check session.jsonl          check what the agent said against what it did
  counterfoil check logs/ --format sarif   check a folder, for code scanning
  counterfoil explain UNKNOWN_TOOL         show what a rule finds and what it ignores

Exit codes: 0 clean, 1 findings at or above the fail level, 2 usage or input error,
3 internal error.";

#[derive(Debug, Subcommand)]
#[cfg_attr(
    not(feature = "guard"),
    expect(clippy::large_enum_variant, reason = "there is one command, and it is moved once")
)]
enum Command {
    Check(check::Arguments),
    Validate(validate::Arguments),
    Rules(rules::Arguments),
    Explain(explain::Arguments),
    Judge(judge::Arguments),
    Prompt(prompt::Arguments),
    #[cfg(feature = "guard")]
    #[command(flatten)]
    Guarded(guarded::Command),
    Trust(trust::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    #[cfg(not(feature = "guard"))]
    #[command(external_subcommand)]
    Other(Vec<String>),
}

impl Command {
    /// The default log level.
    fn log_level(&self) -> LogLevel {
        match self {
            #[cfg(feature = "guard")]
            Self::Guarded(guarded::Command::Hook(_)) => LogLevel::Off,
            _ => LogLevel::Warn,
        }
    }
}

/// Prints the help if there are no arguments.
pub(crate) fn help() -> anyhow::Result<Exit> {
    let help = Cli::command().render_help();
    match Paint::for_errors().is_on() {
        true => write!(io::stderr(), "{}", help.ansi())?,
        false => write!(io::stderr(), "{help}")?,
    }
    Ok(Exit::Input)
}

/// Runs the command.
pub(crate) fn run(cli: Cli) -> anyhow::Result<Exit> {
    let global = &cli.global;
    log::begin(global.log.unwrap_or(cli.command.log_level()));
    match cli.command {
        Command::Check(arguments) => check::run(global, arguments),
        Command::Validate(arguments) => validate::run(global, &arguments),
        Command::Rules(arguments) => rules::run(global, &arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Judge(arguments) => judge::run(global, &arguments),
        Command::Prompt(arguments) => prompt::run(&arguments),
        #[cfg(feature = "guard")]
        Command::Guarded(command) => command.run(global),
        Command::Trust(arguments) => trust::run(global, &arguments),
        Command::Completions(arguments) => completions::run(&arguments, Cli::command()),
        Command::Man(arguments) => man::run(&arguments, Cli::command()),
        #[cfg(not(feature = "guard"))]
        Command::Other(words) => Err(unbuilt(&words).into()),
    }
}

/// Reports a command that does not exist, or not in this build.
#[cfg(not(feature = "guard"))]
fn unbuilt(words: &[String]) -> Complaint {
    let name = words.first().map(String::as_str).unwrap_or_default();
    let command = Cli::command();
    let known = command.get_subcommands().map(clap::Command::get_name);
    let meant = crate::suggest::did_you_mean(name, known);
    Complaint::new(format!("this build has no command `{name}`")).help(meant.unwrap_or_else(|| {
        "this build contains only the linter; `cargo build --release -p counterfoil` builds all \
         commands"
            .to_owned()
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::OF_FLAGS;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// The configuration must not take these variables for its own.
    #[test]
    fn the_variables_of_flags_are_known() {
        fn collect(command: &clap::Command, names: &mut BTreeSet<String>) {
            let named = command.get_arguments().filter_map(clap::Arg::get_env);
            names.extend(named.map(|name| name.to_string_lossy().into_owned()));
            command.get_subcommands().for_each(|inner| collect(inner, names));
        }
        let mut names = BTreeSet::new();
        collect(&Cli::command(), &mut names);
        assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), OF_FLAGS);
    }
}
