mod installed;
mod seen;
mod shown;

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use counterfoil_hooks::Agent;

pub(super) use self::installed::version;
use self::shown::{AgentStatus, StateStatus, Status};
use crate::agents::{AgentName, Homes};
use crate::choices::{ShownWhole, WholeFormat};
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::terminal::Paint;

/// Show where the hook is installed, what it has seen, and which tool calls have no receipt
///
/// Compares each agent's newest sessions with the ledger: a tool call in an agent's log without a
/// receipt is a call that the hook did not see.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil hook status
  counterfoil hook status claude-code --sessions 20
  counterfoil hook status --transcript session.jsonl --format json

Exit codes: 0 no problems, 1 a hook has a problem (or the named agent has no hook), or a tool call
has no receipt, 2 usage or input error.")]
pub(crate) struct Arguments {
    /// Show only this agent; fail if its hook is not installed
    agent: Option<AgentName>,
    /// Show only this session, by its id (repeatable)
    #[arg(long, value_name = "ID")]
    session: Vec<String>,
    /// Show only this session log (repeatable)
    #[arg(long, value_name = "FILE")]
    transcript: Vec<PathBuf>,
    /// Number of newest sessions per agent to compare with the ledger
    #[arg(long, value_name = "COUNT", default_value = "5")]
    sessions: usize,
    #[command(flatten)]
    shown: ShownWhole,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let homes = Homes::from_environment();
    let here = env::current_dir().context("the working directory no longer exists")?;
    let agents: Vec<Agent> = match arguments.agent {
        Some(agent) => vec![agent.into()],
        None => Agent::ALL.to_vec(),
    };
    let record = seen::Record::open(global)?;
    let memories = global.state()?.folder().hooks();
    let wanted = seen::Wanted {
        sessions: &arguments.session,
        files: &arguments.transcript,
        newest: arguments.sessions,
    };
    let mut coverage = record.named(&wanted)?;
    let mut shown = Vec::with_capacity(agents.len());
    for agent in agents {
        let mut installed = installed::installed(&homes, agent, &here)?;
        let looked = if arguments.transcript.is_empty() {
            record.newest(&homes, agent, &wanted, installed::since(&installed))?
        } else {
            coverage.iter().filter(|session| session.agent == agent.name()).cloned().collect()
        };
        installed::note_both(&mut installed, &looked);
        if wanted.sessions.is_empty() && wanted.files.is_empty() {
            installed.iter_mut().for_each(|hook| hook.note_unheard(agent, &looked));
        }
        shown.push(AgentStatus {
            agent: agent.name(),
            by_plugin: installed.is_empty() && seen::newest_is_by_plugin(&memories, &looked),
            installed,
            last_event: looked.iter().filter_map(|s| s.last_event.clone()).max_by_key(|e| e.at),
            last_judgement: looked
                .iter()
                .filter_map(|session| session.last_judgement.clone())
                .max_by_key(|judgement| judgement.at),
        });
        if arguments.transcript.is_empty() {
            coverage.extend(looked);
        }
    }
    let unseen = |id: &&String| coverage.iter().all(|seen| seen.session != **id);
    if let Some(id) = arguments.session.iter().find(unseen) {
        return Err(Complaint::new(format!("no agent has a log of the session `{id}`"))
            .help("`counterfoil hook status` lists the newest sessions")
            .into());
    }
    let state = StateStatus::new(global.state()?);
    let version = env!("CARGO_PKG_VERSION");
    let status = Status { schema_version: 1, version, state, agents: shown, coverage };
    let mut out = io::stdout().lock();
    match arguments.shown.format {
        WholeFormat::Json => writeln!(out, "{}", counterfoil_report::json_pretty(&status))?,
        WholeFormat::Text => {
            write!(out, "{}", shown::text(&status, Paint::for_output(arguments.shown.color)))?;
        }
    }
    Ok(status.exit(arguments.agent.is_some()))
}
