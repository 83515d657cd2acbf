use std::path::PathBuf;

use clap::Args;
use counterfoil_guard::RehearsalPlace;

use crate::call_choices::{Trust, When};

/// The circumstances of a call to be judged.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Call context")]
pub(super) struct Surroundings {
    /// Trust level of the turn
    #[arg(long, value_name = "LEVEL", default_value = "provisional")]
    trust: Trust,
    /// Phase of the agent loop in which the call is made
    #[arg(long, value_name = "PHASE", default_value = "executor")]
    phase: When,
    /// The sub-agent that makes the call [default: the main agent]
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// The project's root
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// An environment variable that the host passes to tools (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
}

impl Surroundings {
    pub(super) fn place(&self) -> RehearsalPlace {
        let workspace =
            std::path::absolute(&self.workspace).unwrap_or_else(|_| self.workspace.clone());
        RehearsalPlace {
            trust: self.trust.into(),
            phase: self.phase.into(),
            caller: self.caller.clone(),
            workspace,
            environment: self.env.iter().cloned().collect(),
        }
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() {
        return Err("expected NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}
