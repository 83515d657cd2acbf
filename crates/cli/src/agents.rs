//! Where coding agents keep their settings and their sessions on this machine.

mod sessions;

use std::env;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use counterfoil_hooks::{Agent, SettingsForm, config_has_hooks};

use crate::exit::Complaint;
use crate::files;
pub(crate) use sessions::{latest, logs};

/// An agent, on the command line.
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

/// Whom settings are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every project of this user.
    User,
    /// The project in the working directory.
    Project,
}

impl Scope {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Project];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A file in which hooks can stand. It may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    pub(crate) form: SettingsForm,
}

/// The folders of the agents, as the environment names them.
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

    /// The folder of Claude Code, where the environment names one.
    pub(crate) fn claude(&self) -> Option<&Path> {
        self.claude.as_deref()
    }

    /// The folder that an agent keeps for its user; `None` where the environment names no home.
    pub(crate) fn folder(&self, agent: Agent) -> Option<PathBuf> {
        let named = match agent {
            Agent::ClaudeCode => &self.claude,
            Agent::Codex => &self.codex,
            Agent::Gemini => &None,
        };
        named.clone().or_else(|| Some(self.home.as_ref()?.join(own_folder(agent))))
    }

    /// The files of a scope in which hooks can stand. The first is where they go.
    pub(crate) fn settings(
        &self,
        agent: Agent,
        scope: Scope,
        project: &Path,
    ) -> Result<Vec<SettingsFile>, Complaint> {
        let folder = match scope {
            Scope::Project => project.join(own_folder(agent)),
            Scope::User => self.folder(agent).ok_or_else(|| {
                Complaint::new("there is no home folder: HOME is not set")
                    .help("set HOME, or use `--project` for the settings of the working directory")
            })?,
        };
        let file = |name: &str, form| SettingsFile { path: folder.join(name), form };
        Ok(match agent {
            Agent::ClaudeCode => vec![file("settings.json", SettingsForm::Json)],
            Agent::Gemini => vec![file("settings.json", SettingsForm::JsonWithComments)],
            Agent::Codex => {
                let own = file("hooks.json", SettingsForm::Json);
                let config = file("config.toml", SettingsForm::Toml);
                // Two files with hooks in one folder are one too many: Codex warns about it.
                let text = files::read_text(&config.path).unwrap_or_default();
                let beside = !own.path.exists() && config_has_hooks(&text).unwrap_or(false);
                if beside { vec![config, own] } else { vec![own, config] }
            }
        })
    }
}

/// The name of the folder below the home, and below a project.
fn own_folder(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => ".claude",
        Agent::Codex => ".codex",
        Agent::Gemini => ".gemini",
    }
}
