use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command};

use crate::exit::Exit;

/// Print the manual page, or write one page per command to a folder
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil man | man -l -
  counterfoil man --directory /usr/local/share/man/man1")]
pub(crate) struct Arguments {
    /// Write all pages to this folder
    #[arg(long, value_name = "FOLDER")]
    directory: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, command: Command) -> anyhow::Result<Exit> {
    match &arguments.directory {
        Some(folder) => clap_mangen::generate_to(command, folder)
            .with_context(|| format!("cannot write manual pages to {}", folder.display()))?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            io::stdout().lock().write_all(&page)?;
        }
    }
    Ok(Exit::Clean)
}
