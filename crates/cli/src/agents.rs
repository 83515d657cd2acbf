//! The settings and session logs of coding agents on this machine.

mod sessions;
#[cfg(feature = "guard")]
mod settings;

use std::env;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use counterfoil_model::Agent;

pub(crate) use sessions::latest;
#[cfg(feature = "guard")]
pub(crate) use sessions::logs;
#[cfg(feature = "guard")]
pub(crate) use settings::{Scope, SettingsFile};

/// An agent's name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentName {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
}

impl From<AgentName> for Agent {
    fn from(name: AgentName) -> Self {
        match name {
            AgentName::ClaudeCode => Self::ClaudeCode,
            AgentName::Codex => Self::Codex,
            AgentName::Gemini => Self::Gemini,
        }
    }
}

/// The agents' folders, from the environment.
#[derive(Debug, Clone)]
pub(crate) struct Homes {
    home: Option<PathBuf>,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
}

impl Homes {
    pub(crate) fn from_environment() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            home: set("HOME").or_else(|| set("USERPROFILE")),
            claude: set("CLAUDE_CONFIG_DIR"),
            codex: set("CODEX_HOME"),
        }
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The folder of Claude Code, if the environment names one.
    pub(crate) fn claude(&self) -> Option<&Path> {
        self.claude.as_deref()
    }

    /// The folder in which an agent keeps its user's data; `None` if the environment names no home.
    pub(crate) fn folder(&self, agent: Agent) -> Option<PathBuf> {
        let named = match agent {
            Agent::ClaudeCode => &self.claude,
            Agent::Codex => &self.codex,
            Agent::Gemini => &None,
        };
        named.clone().or_else(|| Some(self.home.as_ref()?.join(own_folder(agent))))
    }
}

/// The name of the agent's folder in the home folder and in a project.
fn own_folder(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => ".claude",
        Agent::Codex => ".codex",
        Agent::Gemini => ".gemini",
    }
}
