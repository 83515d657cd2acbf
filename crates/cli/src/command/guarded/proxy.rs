use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use counterfoil_proxy::ProxyMode;

use super::Global;
use crate::exit::Exit;

mod look;
mod stand;

/// Run a proxy between an agent and its model that checks tool calls and claims
///
/// Change one base URL, or begin the agent with `proxy run`. Requests go on to the provider with the
/// agent's own key. Tool calls are held against the tools of the request and the rules of the
/// configuration before the agent sees them; the results that it reports become evidence; and what
/// the model says is held against that evidence. What nothing is wrong with passes byte for byte.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  counterfoil proxy                         OpenAI and Anthropic, on http://127.0.0.1:8788
  counterfoil proxy run -- my-agent         the same for one program, which is told the address
  counterfoil proxy --mode block --upstream http://127.0.0.1:11434
  counterfoil proxy status                  what a running proxy has seen
  counterfoil proxy tail                    each answer as it comes, and what became of it

In an agent:
  OPENAI_BASE_URL=http://127.0.0.1:8788/v1
  ANTHROPIC_BASE_URL=http://127.0.0.1:8788

Modes:
  observe    everything passes as it came, and is recorded
  annotate   what the record does not show is said beneath the answer [default]
  correct    the model is asked again; what gets no better is said beneath the answer
  block      the model is asked again; what gets no better does not pass

Exit codes: 0 it was ended (`proxy run`: those of the program), 2 usage or input error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    standing: Standing,
    /// Where agents ask
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8788")]
    listen: SocketAddr,
}

/// How it stands between.
#[derive(Debug, Clone, Args)]
struct Standing {
    /// The server of all requests, everything in front of `/v1`
    /// [default: those of OpenAI and Anthropic, by the request]
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// What becomes of an answer that the record does not show [default: annotate]
    #[arg(long, value_name = "MODE")]
    mode: Option<Mode>,
    /// The project's root, for rules about files [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    Run(RunArguments),
    /// What a running proxy has seen, held and corrected
    Status(look::Arguments),
    /// The sessions that a running proxy remembers
    Sessions(look::Arguments),
    /// Each answer as it comes, and what became of it
    Tail(look::Arguments),
}

/// Begin a program whose model is asked through a proxy of its own
///
/// The proxy ends with the program. The program is told the address in `OPENAI_BASE_URL`,
/// `OPENAI_API_BASE` and `ANTHROPIC_BASE_URL`.
#[derive(Debug, Args)]
struct RunArguments {
    #[command(flatten)]
    standing: Standing,
    /// Where it asks [default: a free port of this machine]
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", hide_default_value = true)]
    listen: SocketAddr,
    /// The program and its arguments, behind `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// What becomes of an answer that the record does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Everything passes as it came, and is recorded
    Observe,
    /// It is said beneath the answer
    Annotate,
    /// The model is asked again; what gets no better is said beneath the answer
    Correct,
    /// The model is asked again; what gets no better does not pass
    Block,
}

impl From<Mode> for ProxyMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Observe => Self::Observe,
            Mode::Annotate => Self::Annotate,
            Mode::Correct => Self::Correct,
            Mode::Block => Self::Block,
        }
    }
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
