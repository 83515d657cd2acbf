use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use counterfoil_guard::ExecutorKind;

use super::Global;
use crate::exit::Exit;

mod clients;
mod inspect;
mod install;
mod reach;
mod stand;

use reach::Reach;

/// Run a gateway between MCP clients and servers that validates, judges and records calls
///
/// Put it in front of the server's command in the client's configuration. The client sees the same
/// tools; what it says and hears passes as it is, except calls that do not fit their tool or are
/// denied, and the id of the receipt in `_meta`. With `--builtin` our own tools are the server.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  counterfoil mcp install claude-code       put the servers that a client has behind the gateway
  counterfoil mcp -- npx -y @modelcontextprotocol/server-filesystem .
  counterfoil mcp inspect -- npx -y x       what a server offers, and what changed in it
  counterfoil mcp --name github -- github-mcp-server stdio
  counterfoil mcp --url https://mcp.example/mcp --header 'Authorization: Bearer ${TOKEN}'
  counterfoil mcp --listen 127.0.0.1:8765 -- uvx mcp-server-git
  counterfoil mcp                           the servers of the configuration, as one
  counterfoil mcp --builtin shell,file
  counterfoil check --session ID            what the agent said, against the calls it made

In a client's configuration:
  { \"mcpServers\": { \"files\": { \"command\": \"counterfoil\",
      \"args\": [\"mcp\", \"--\", \"npx\", \"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"] } } }

Exit codes: 0 the client went away, 1 the server ended by itself, 2 usage or input error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    reach: Reach,
    /// The client speaks another revision of the protocol than the server: one with sessions, the
    /// other without
    #[arg(long, conflicts_with = "builtin")]
    bridge: bool,
    /// Clients come over HTTP, to /mcp at this address (`127.0.0.1:8765`), and not over standard
    /// input and output; `[mcp.listen]` says who is let in
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["builtin", "session"])]
    listen: Option<SocketAddr>,
    /// Offer our own tools instead: shell, file, web
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', conflicts_with_all = ["command", "url", "name"])]
    builtin: Vec<Builtin>,
    /// A tool whose definition changed since the server was first seen does not run until it is
    /// accepted [default: the change is only said]
    #[arg(long, conflicts_with = "builtin")]
    hold_changes: bool,
    /// Go on with the session of this id, or begin it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The model behind the client, which the record keeps
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The project's root [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    Install(install::InstallArguments),
    Uninstall(install::UninstallArguments),
    Inspect(inspect::Arguments),
}

/// Which of our own tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Builtin {
    /// Shell commands
    Shell,
    /// Files
    File,
    /// Pages of the web
    Web,
}

impl From<Builtin> for ExecutorKind {
    fn from(builtin: Builtin) -> Self {
        match builtin {
            Builtin::Shell => Self::Shell,
            Builtin::File => Self::File,
            Builtin::Web => Self::Web,
        }
    }
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.action {
        Some(Action::Install(arguments)) => install::install(arguments),
        Some(Action::Uninstall(arguments)) => install::uninstall(arguments),
        Some(Action::Inspect(arguments)) => inspect::run(global, arguments),
        None => stand::stand_between(global, arguments),
    }
}
