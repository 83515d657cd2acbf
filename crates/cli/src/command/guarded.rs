//! The commands that run tools, record what they did, or run between other programs.

mod approve;
mod audit;
mod chat;
mod config;
mod doctor;
mod hook;
mod mcp;
mod policy;
mod proxy;
mod run;
mod scheduler;
mod serve;
mod skills;
mod stats;
mod tools;
mod undo;
mod witness;

use clap::Subcommand;

use crate::exit::Exit;
use crate::global::Global;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Audit(audit::Arguments),
    Witness(witness::Arguments),
    Hook(hook::Arguments),
    Policy(policy::Arguments),
    Chat(chat::Arguments),
    Scheduler(scheduler::Arguments),
    Skills(skills::Arguments),
    Run(run::Arguments),
    Approve(approve::Arguments),
    Mcp(mcp::Arguments),
    Proxy(proxy::Arguments),
    Serve(serve::Arguments),
    Tools(tools::Arguments),
    Stats(stats::Arguments),
    Undo(undo::Arguments),
    Config(config::Arguments),
    Doctor(doctor::Arguments),
}

impl Command {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        match self {
            Self::Audit(arguments) => audit::run(global, &arguments),
            Self::Witness(arguments) => witness::run(global, &arguments),
            Self::Hook(arguments) => hook::run(global, &arguments),
            Self::Policy(arguments) => policy::run(global, &arguments),
            Self::Chat(arguments) => chat::run(global, &arguments),
            Self::Scheduler(arguments) => scheduler::run(global, &arguments),
            Self::Skills(arguments) => skills::run(global, &arguments),
            Self::Run(arguments) => run::run(global, &arguments),
            Self::Approve(arguments) => approve::run(global, &arguments),
            Self::Mcp(arguments) => mcp::run(global, &arguments),
            Self::Proxy(arguments) => proxy::run(global, &arguments),
            Self::Serve(arguments) => serve::run(global, &arguments),
            Self::Tools(arguments) => tools::run(global, &arguments),
            Self::Stats(arguments) => stats::run(global, &arguments),
            Self::Undo(arguments) => undo::run(global, &arguments),
            Self::Config(arguments) => config::run(global, &arguments),
            Self::Doctor(arguments) => doctor::run(global, &arguments),
        }
    }
}
