//! Selects the settings file.

use std::env;

use anyhow::Context as _;
use clap::Args;
use counterfoil_hooks::Agent;

use crate::agents::{AgentName, Homes, Scope, SettingsFile};

/// The agent and scope of the settings.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The agent
    agent: AgentName,
    /// Use the user settings, for every project (the default)
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// Use the project settings in the working directory
    #[arg(long)]
    project: bool,
    /// Show what would change without writing anything
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl Target {
    pub(super) fn agent(&self) -> Agent {
        self.agent.into()
    }

    pub(super) fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::User }
    }

    pub(super) fn files(&self) -> anyhow::Result<Vec<SettingsFile>> {
        let here = env::current_dir().context("the working directory no longer exists")?;
        Ok(Homes::from_environment().settings(self.agent(), self.scope(), &here)?)
    }
}
