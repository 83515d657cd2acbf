use std::net::SocketAddr;

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::global::Global;

mod look;
mod stand;

use stand::Standing;

/// Run a proxy between an agent and its model that checks tool calls and claims
///
/// Set the agent's base URL to the proxy's address, or start the agent with `proxy run`. Requests
/// go to the provider with the agent's own key. Tool calls are checked against the request's tools
/// and the configured rules before the agent sees them. The tool results that the agent reports
/// become evidence, and the model's claims are checked against it. Anything without a finding
/// passes through byte for byte.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  counterfoil proxy                         proxy OpenAI and Anthropic on http://127.0.0.1:8788
  counterfoil proxy run -- my-agent         start a program that uses the proxy
  counterfoil proxy --mode block --upstream http://127.0.0.1:11434
  counterfoil proxy status                  show what a running proxy has seen
  counterfoil proxy tail                    show each answer as it arrives, with its outcome

In the agent's environment:
  OPENAI_BASE_URL=http://127.0.0.1:8788/v1
  ANTHROPIC_BASE_URL=http://127.0.0.1:8788

Modes:
  observe    pass everything through unchanged, and record findings
  annotate   add a note about unsupported claims below the answer [default]
  correct    ask the model again; add a note about claims that are still unsupported
  block      ask the model again; withhold answers that are still unsupported

Exit codes: 0 stopped (`proxy run`: the exit code of the program), 2 usage or input error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    standing: Standing,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8788")]
    listen: SocketAddr,
}

#[derive(Debug, Subcommand)]
enum Action {
    Run(RunArguments),
    /// Show what a running proxy has seen, withheld and corrected
    Status(look::Arguments),
    /// Show the sessions that a running proxy remembers
    Sessions(look::Arguments),
    /// Show each answer as it arrives, and what the proxy did with it
    Tail(look::Arguments),
}

/// Run a program, with its own proxy for its model requests
///
/// The proxy stops when the program exits. The program gets the proxy's address in
/// `OPENAI_BASE_URL`, `OPENAI_API_BASE` and `ANTHROPIC_BASE_URL`.
#[derive(Debug, Args)]
struct RunArguments {
    #[command(flatten)]
    standing: Standing,
    /// Address to listen on [default: a free port on this machine]
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", hide_default_value = true)]
    listen: SocketAddr,
    /// The program and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.action {
        None => stand::stand_between(global, &arguments.standing, arguments.listen, None),
        Some(Action::Run(run)) => {
            stand::stand_between(global, &run.standing, run.listen, Some(&run.command))
        }
        Some(Action::Status(look)) => look::status(global, look),
        Some(Action::Sessions(look)) => look::sessions(global, look),
        Some(Action::Tail(look)) => look::tail(global, look),
    }
}
