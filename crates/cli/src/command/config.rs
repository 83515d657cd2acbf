use std::io::{self, Write as _};

use clap::{Args, Subcommand};

use super::Global;
use crate::config;
use crate::exit::Exit;

/// Check or show the configuration, or print its schema
///
/// The configuration is `countersign.toml` in the working directory or above it, and below that
/// the user's (`$XDG_CONFIG_HOME/countersign/countersign.toml`). Environment variables
/// `COUNTERSIGN_*` come before files, flags before both.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  countersign config check
  countersign config show --config ci/countersign.toml
  countersign config schema > countersign.schema.json")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read the configuration and say what is wrong with it
    Check,
    /// Print what is in force, defaults filled in
    Show,
    /// Print the JSON Schema of the configuration
    Schema,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    match arguments.action {
        Action::Schema => {
            writeln!(out, "{}", serde_json::to_string_pretty(&config::schema())?)?;
        }
        Action::Check => {
            let (_, files) = config::find(&global.place())?;
            if files.is_empty() {
                writeln!(out, "no configuration file: defaults are in force")?;
            }
            for file in files {
                writeln!(out, "{}: valid", file.display())?;
            }
        }
        Action::Show => {
            let (options, files) = config::find(&global.place())?;
            for file in files {
                writeln!(out, "# {}", file.display())?;
            }
            write!(out, "{}", toml::to_string(&options.resolved())?)?;
        }
    }
    Ok(Exit::Clean)
}
