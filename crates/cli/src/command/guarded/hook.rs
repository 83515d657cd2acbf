use clap::{Args, Subcommand};
use counterfoil_hooks::Agent;

use crate::exit::Exit;
use crate::global::Global;

mod answer;
mod canary;
mod install;
mod once_a_session;
mod snapshots;
mod status;
mod target;
mod uninstall;

/// Install, remove and inspect hooks that judge the calls and check the claims of coding agents
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil hook install claude-code         add the hook to ~/.claude/settings.json and test it
  counterfoil hook status                     show installed hooks, seen events and missed calls
  counterfoil hook claude-code < event.json   the command that the agent runs at every event

Exit codes: 0 whenever an event is answered, so that the agent reads the answer; 2 usage error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Install(install::Arguments),
    Uninstall(uninstall::Arguments),
    Status(status::Arguments),
    /// Answer one event of Claude Code: JSON on stdin, JSON on stdout
    ClaudeCode,
    /// Answer one event of Codex: JSON on stdin, JSON on stdout
    Codex,
    /// Answer one event of Gemini CLI: JSON on stdin, JSON on stdout
    Gemini,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.action {
        Action::Install(arguments) => install::run(global, arguments),
        Action::Uninstall(arguments) => uninstall::run(global, arguments),
        Action::Status(arguments) => status::run(global, arguments),
        Action::ClaudeCode => answer::run(global, Agent::ClaudeCode),
        Action::Codex => answer::run(global, Agent::Codex),
        Action::Gemini => answer::run(global, Agent::Gemini),
    }
}
