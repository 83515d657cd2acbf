//! `cargo xtask agents`: runs the real coding agents with our hooks against a scripted model on
//! loopback. Needs no network and no account.

#[expect(clippy::disallowed_methods, reason = "agents are started, in folders of their own")]
mod agent;
#[expect(clippy::disallowed_methods, reason = "what was asked is kept")]
mod model;
#[expect(clippy::disallowed_methods, reason = "the page is written")]
mod page;
#[expect(clippy::disallowed_methods, reason = "recordings are written, and what agents wrote read")]
mod record;
mod scenario;
#[expect(clippy::disallowed_methods, reason = "agents are started, in folders of their own")]
mod session;
#[expect(clippy::indexing_slicing, reason = "a member of JSON that is missing is null")]
mod wire;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::Agent;
use anyhow::{Context as _, Result, ensure};
use scenario::Scenario;
use session::Seen;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// The folder with the agents: `node_modules/.bin` after
    /// `npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli`.
    #[arg(long, value_name = "FOLDER")]
    bins: Option<PathBuf>,
    /// Run only these agents.
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// Run only these scenarios.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// The folder for each session's home, workspace and transcripts.
    #[arg(long, default_value = "target/agents")]
    out: PathBuf,
    /// Run `counterfoil proxy` in this mode between agent and model; `observe` changes nothing.
    #[arg(long, value_name = "MODE")]
    proxy: Option<String>,
    /// Delay before each reply of the model, in ms.
    #[arg(long, default_value_t = 300)]
    latency: u64,
    /// Write the table into docs/hooks.md.
    #[arg(long)]
    write: bool,
    /// Keep every event with the log as it was then in this folder, for the tests to replay.
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
}

/// The sessions of one scenario, by agent.
type Table = BTreeMap<String, BTreeMap<&'static str, Seen>>;

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let binary = options.binary.canonicalize().with_context(|| {
        format!("{} is missing: build it with `cargo build --release`", options.binary.display())
    })?;
    let found = Agent::find(options.bins.as_deref())?;
    let agents: Vec<_> = found
        .iter()
        .filter(|a| options.agents.is_empty() || options.agents.iter().any(|n| n == a.name()))
        .collect();
    ensure!(!agents.is_empty(), "none of these agents is installed; see --bins");
    let scenarios = Scenario::all()?;
    let unknown = options.scenarios.iter().find(|n| scenarios.iter().all(|s| s.name != **n));
    ensure!(unknown.is_none(), "there is no scenario `{}`", unknown.map_or("", |n| n));
    let desk = session::Desk {
        root,
        binary: &binary,
        out: std::path::absolute(&options.out)?,
        latency: options.latency,
        record: options.record.as_deref().map(std::path::absolute).transpose()?,
        proxy: options.proxy.clone(),
    };
    let (mut table, mut wrong) = (Table::new(), 0_usize);
    for agent in agents {
        for scenario in &scenarios {
            let chosen = options.scenarios.is_empty() || options.scenarios.contains(&scenario.name);
            if !chosen || !scenario.is_for(agent.name()) {
                continue;
            }
            let seen = desk.play(agent, scenario)?;
            let verdict = seen.verdict(scenario);
            println!("{:12} {:26} {verdict}", agent.name(), scenario.name);
            wrong += usize::from(verdict != page::AS_EXPECTED);
            table.entry(scenario.name.clone()).or_default().insert(agent.name(), seen);
        }
    }
    if options.write {
        page::write(root, &found, &scenarios, &table)?;
    }
    ensure!(wrong == 0, "{wrong} sessions did not end as they should");
    Ok(())
}
