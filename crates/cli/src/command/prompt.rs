use std::io::{self, Write as _};

use clap::Args;
use counterfoil_rules::PROTOCOL;

use crate::exit::Exit;

/// Print the execution protocol: instructions for an agent's system prompt
///
/// An agent that follows it announces each call, cites execution ids, and says so when it cannot.
/// This makes more of its claims checkable.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  counterfoil prompt >> CLAUDE.md\n  counterfoil prompt | pbcopy"
)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<Exit> {
    io::stdout().lock().write_all(PROTOCOL.as_bytes())?;
    Ok(Exit::Clean)
}
