use std::io::{self, Write as _};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::Exit;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil completions bash > ~/.local/share/bash-completion/completions/counterfoil
  counterfoil completions fish > ~/.config/fish/completions/counterfoil.fish")]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: Command) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "counterfoil", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Exit::Clean)
}
