use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use counterfoil_guard::{ExecutorKind, SessionStart};
use counterfoil_serve::{Ended, Gateway, input, output, relay, serve};

use super::Global;
use crate::config;
use crate::exit::Exit;
use crate::guard::Making;
use crate::reload::follow;
use crate::signals::interrupted;

mod clients;
mod inspect;
mod install;

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
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "builtin")]
    command: Vec<String>,
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
        None => stand_between(global, arguments),
    }
}

fn stand_between(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let kinds: Vec<ExecutorKind> = arguments.builtin.iter().map(|one| (*one).into()).collect();
    let state = global.state()?.create()?;
    let making = Making {
        options: &options,
        state: Some(state.clone()),
        approver: None,
        workspace: arguments.workspace.clone(),
    };
    let guard = making.offering(&kinds)?;
    for notice in guard.notices() {
        writeln!(io::stderr(), "note: {notice}")?;
    }
    if io::stdin().is_terminal() {
        writeln!(io::stderr(), "note: an MCP client starts this and speaks on standard input")?;
    }
    let start = SessionStart {
        id: arguments.session.clone(),
        model: arguments.model.clone(),
        ..SessionStart::default()
    };
    // One thread: a message is passed on sooner than another thread wakes up.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("the event loop cannot be started")?;
    let exit = runtime.block_on(async {
        tokio::spawn(follow(global.place(), guard.shell_policy()));
        let (input, output) = (input(), output());
        let Some((program, words)) = arguments.command.split_first() else {
            let session = guard.session(start)?;
            tokio::select! {
                served = serve(&guard, &session, input, output) => {
                    served.context("the connection broke")?;
                }
                () = interrupted() => {}
            }
            guard.end(&session).await?;
            return anyhow::Ok(Exit::Clean);
        };
        let name = arguments.name.clone().unwrap_or_else(|| name_of(&arguments.command));
        let pins = inspect::pins(&state, &arguments.command);
        let gateway = Gateway::new(guard, start, &name)?.watching(pins, arguments.hold_changes);
        let mut command = tokio::process::Command::new(program);
        command.args(words);
        Ok(match relay(&gateway, command, (input, output), interrupted()).await? {
            Ended::Client => Exit::Clean,
            Ended::Server(code) => {
                let code = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
                writeln!(io::stderr(), "error: the MCP server `{name}` ended by itself{code}")?;
                Exit::Findings
            }
        })
    });
    // A read of standard input that nobody waits for any more may hold its thread.
    runtime.shutdown_background();
    exit
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
