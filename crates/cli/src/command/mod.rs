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

use crate::exit::{Complaint, Exit};
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
        Command::Other(words) => Err(unknown(&words).into()),
    }
}

/// The commands that only a build with the guard has.
const GUARDED: &str = "audit witness hook policy chat scheduler skills run approve mcp proxy serve \
                       tools stats undo config doctor";

/// Reports a word that is not a command of this build.
fn unknown(words: &[String]) -> Complaint {
    let name = words.first().map(String::as_str).unwrap_or_default();
    if GUARDED.split(' ').any(|guarded| guarded == name) {
        let what = format!("`{name}` is not part of this build, which contains only the linter");
        let how =
            "install every command from a checkout: `cargo install --locked --path crates/cli`";
        return Complaint::new(what).help(how);
    }
    if std::path::Path::new(name).exists() {
        let what = format!("`{name}` is a path, not a command");
        let how = format!("to check it, run `counterfoil check {}`", words.join(" "));
        return Complaint::new(what).help(how);
    }
    let command = Cli::command();
    let known = command.get_subcommands().map(clap::Command::get_name).chain(GUARDED.split(' '));
    let help = match crate::suggest::did_you_mean(name, known) {
        Some(meant) => meant,
        None if name.contains(['.', '/']) => "to check a log, run `counterfoil check PATH`".into(),
        None => "`counterfoil --help` lists all commands".into(),
    };
    Complaint::new(format!("there is no command `{name}`")).help(help)
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

    #[cfg(feature = "guard")]
    #[test]
    fn the_commands_of_the_guard_are_known() {
        let linter = "check validate rules explain judge prompt trust completions man";
        let command = Cli::command();
        let names = command.get_subcommands().map(clap::Command::get_name);
        let guarded = names.filter(|name| !linter.split(' ').any(|other| other == *name));
        assert_eq!(guarded.collect::<Vec<_>>(), GUARDED.split(' ').collect::<Vec<_>>());
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
        // The linter has no such flags, but must not complain about the variables.
        names.extend(["COUNTERFOIL_LEDGER", "COUNTERFOIL_STATE"].map(str::to_owned));
        assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), OF_FLAGS);
    }
}
