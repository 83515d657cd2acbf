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
/// tools, and messages pass through unchanged, with two exceptions: the gateway itself answers
/// invalid and denied calls, and it adds the receipt id to each result's `_meta`. With `--builtin`,
/// it offers Counterfoil's own tools instead.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  counterfoil mcp install claude-code       route a client's servers through the gateway
  counterfoil mcp -- npx -y @modelcontextprotocol/server-filesystem .
  counterfoil mcp inspect -- npx -y x       show what a server offers and what has changed
  counterfoil mcp --name github -- github-mcp-server stdio
  counterfoil mcp --url https://mcp.example/mcp --header 'Authorization: Bearer ${TOKEN}'
  counterfoil mcp --listen 127.0.0.1:8765 -- uvx mcp-server-git
  counterfoil mcp                           all configured servers, as one server
  counterfoil mcp --builtin shell,file
  counterfoil check --session ID            check the agent's claims against its calls

In a client's configuration:
  { \"mcpServers\": { \"files\": { \"command\": \"counterfoil\",
      \"args\": [\"mcp\", \"--\", \"npx\", \"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"] } } }

Exit codes: 0 client disconnected, 1 server exited, 2 usage or input error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    reach: Reach,
    /// Translate between protocol revisions if only one of client and server uses sessions
    #[arg(long, conflicts_with = "builtin")]
    bridge: bool,
    /// Accept clients over HTTP at /mcp on this address (such as `127.0.0.1:8765`) instead of on
    /// standard input and output; `[mcp.listen]` controls who may connect
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["builtin", "session"])]
    listen: Option<SocketAddr>,
    /// Offer Counterfoil's own tools instead of a server's: shell, file, web
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', conflicts_with_all = ["command", "url", "name"])]
    builtin: Vec<Builtin>,
    /// Block a tool whose definition has changed since the server was first seen, until the change
    /// is accepted [default: changes are only reported]
    #[arg(long, conflicts_with = "builtin")]
    hold_changes: bool,
    /// Continue the session with this id, or begin it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Name of the model that the client uses, stored in the record
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

/// Our own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Builtin {
    /// Shell commands
    Shell,
    /// Files
    File,
    /// Web pages
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
