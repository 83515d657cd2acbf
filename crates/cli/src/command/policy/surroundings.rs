use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use counterfoil_guard::{Requested, Scene};

use crate::choices::{Trust, When};

/// The surroundings in which a call would be judged.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Surroundings")]
pub(super) struct Surroundings {
    /// How far the turn is trusted
    #[arg(long, value_name = "LEVEL", default_value = "provisional")]
    trust: Trust,
    /// When in the agent's cycle the call is made
    #[arg(long, value_name = "PHASE", default_value = "executor")]
    phase: When,
    /// The sub-agent that calls; the main agent without it
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// The project's root
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// A variable of the environment that the host passes on
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
}

/// What a session has done so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Past {
    pub(super) calls_made: u64,
    pub(super) completed: BTreeSet<String>,
    pub(super) tools: BTreeSet<String>,
    pub(super) mentioned: BTreeSet<String>,
}

/// Surroundings that a scene can borrow from.
pub(super) struct Place {
    given: Surroundings,
    workspace: PathBuf,
    environment: BTreeMap<String, String>,
}

impl Surroundings {
    pub(super) fn place(&self) -> Place {
        let workspace =
            std::path::absolute(&self.workspace).unwrap_or_else(|_| self.workspace.clone());
        let environment = self.env.iter().cloned().collect();
        Place { given: self.clone(), workspace, environment }
    }
}

impl Place {
    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The scene of one call. `caller` is the one that is recorded, if any.
    pub(super) fn scene<'s>(&'s self, past: &'s Past, caller: Option<&'s str>) -> Scene<'s> {
        Scene {
            session: "rehearsal",
            phase: self.given.phase.into(),
            trust: self.given.trust.into(),
            caller: self.given.caller.as_deref().or(caller),
            model: None,
            requested: Requested::ByModel,
            workspace: Path::new(&self.workspace),
            environment: &self.environment,
            calls_made: past.calls_made,
            completed: &past.completed,
            tools: &past.tools,
            mentioned: &past.mentioned,
            recent: &[],
            claim_source: None,
            trace: None,
            tainted_by: None,
            now: 0,
        }
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() {
        return Err("a variable is NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}
