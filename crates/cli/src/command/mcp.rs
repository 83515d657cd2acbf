use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use counterfoil_guard::ExecutorKind;

use super::Global;
use crate::exit::Exit;

mod clients;
mod inspect;
mod install;
mod stand;

/// Stand between an MCP client and a server: calls are validated, judged and recorded
///
/// Put it in front of the server's command in the client's configuration. The client sees the same
/// tools; what it says and hears passes as it is, except calls that do not fit their tool or are
/// denied, and the id of the receipt in `_meta`. With `--builtin` our own tools are the server.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  counterfoil mcp install claude-code       put the servers that a client has behind the gateway
  counterfoil mcp -- npx -y @modelcontextprotocol/server-filesystem .
  counterfoil mcp inspect -- npx -y x       what a server offers, and what changed in it
  counterfoil mcp --name github -- github-mcp-server stdio
  counterfoil mcp --url https://mcp.example/mcp --header 'Authorization: Bearer ${TOKEN}'
  counterfoil mcp --listen 127.0.0.1:8765 -- uvx mcp-server-git
  counterfoil mcp --builtin shell,file
  counterfoil check --session ID            what the agent said, against the calls it made

In a client's configuration:
  { \"mcpServers\": { \"files\": { \"command\": \"counterfoil\",
      \"args\": [\"mcp\", \"--\", \"npx\", \"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"] } } }

Exit codes: 0 the client went away, 1 the server ended by itself, 2 usage or input error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The server's command, behind `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present_any = ["builtin", "url"])]
    command: Vec<String>,
    /// The server is one over HTTP
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "builtin"])]
    url: Option<String>,
    /// A header that each request to it has: `NAME: VALUE`, in which `${VARIABLE}` is filled in
    #[arg(long, value_name = "HEADER", requires = "url")]
    header: Vec<String>,
    /// Clients come over HTTP, to /mcp at this address (`127.0.0.1:8765`), and not over standard
    /// input and output; `[mcp.listen]` says who is let in
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["builtin", "session"])]
    listen: Option<SocketAddr>,
    /// Offer our own tools instead: shell, file, web
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', conflicts_with_all = ["command", "name"])]
    builtin: Vec<Builtin>,
    /// What the server is called in records [default: its package or program]
    #[arg(long)]
    name: Option<String>,
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

/// What a server is called: the package that a runner starts, else the program.
fn name_of(command: &[String]) -> String {
    const RUNNERS: [&str; 9] =
        ["npx", "bunx", "uvx", "node", "bun", "deno", "python", "python3", "pipx"];
    let stem = |word: &str| {
        let stem = Path::new(word).file_stem();
        stem.map_or_else(|| word.to_owned(), |stem| stem.to_string_lossy().into_owned())
    };
    let Some((program, words)) = command.split_first() else { return String::new() };
    let program = stem(program);
    let mut named = words.iter().filter(|word| !word.starts_with('-') && *word != "run");
    match named.next().filter(|_| RUNNERS.contains(&program.as_str())) {
        Some(package) => {
            let package = package.rsplit('/').next().unwrap_or(package);
            // Behind the name, a version.
            let end = package.find('@').filter(|at| *at > 0).unwrap_or(package.len());
            let package = package.get(..end).unwrap_or(package);
            let ending = [".js", ".mjs", ".py", ".ts"].iter().find_map(|e| package.strip_suffix(e));
            ending.unwrap_or(package).to_owned()
        }
        None => program,
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn servers_have_names() {
        for (command, name) in [
            ("npx -y @modelcontextprotocol/server-filesystem@1.2 .", "server-filesystem"),
            ("uvx mcp-server-git --repository .", "mcp-server-git"),
            ("/usr/bin/python3 -m mcp_server_time", "mcp_server_time"),
            ("node build/index.js", "index"),
            ("/opt/github-mcp-server stdio", "github-mcp-server"),
            ("npx", "npx"),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(name_of(&words), name, "{command}");
        }
    }
}
