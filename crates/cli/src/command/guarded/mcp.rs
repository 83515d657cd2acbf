use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::global::Global;

mod clients;
mod inspect;
mod install;
mod reach;
mod stand;

use stand::GatewayArguments;

/// Run a gateway between MCP clients and servers that validates, judges and records calls
///
/// Put it in front of the server's command in the client's configuration. The client sees the same
/// tools, and messages pass through unchanged, with few exceptions (all are in docs/mcp.md): the
/// gateway itself answers invalid and denied calls, adds the receipt id to each result's `_meta`,
/// and writes the server's name before each of its questions to the user. With `--builtin`, it
/// offers Counterfoil's own tools instead.
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
    standing: GatewayArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    Install(install::InstallArguments),
    Uninstall(install::UninstallArguments),
    Inspect(inspect::Arguments),
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.action {
        Some(Action::Install(arguments)) => install::install(arguments),
        Some(Action::Uninstall(arguments)) => install::uninstall(arguments),
        Some(Action::Inspect(arguments)) => inspect::run(global, arguments),
        None => stand::stand_between(global, &arguments.standing),
    }
}
