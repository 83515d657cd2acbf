use anyhow::{Context as _, Result};
use serde::Deserialize;

/// A session played by a scripted model, and the expected reaction of the hooks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) what: String,
    pub(super) prompts: Vec<String>,
    pub(super) steps: Vec<Vec<Action>>,
    #[serde(default)]
    pub(super) helper: Vec<Vec<Action>>,
    #[serde(default)]
    agents: Vec<String>,
    /// Whether the agent asks before it runs a command; otherwise it runs everything.
    #[serde(default)]
    pub(super) asks: bool,
    /// Whether the agent has an MCP server, `files`, that `mcp install` puts behind the gateway.
    #[serde(default)]
    pub(super) gateway: bool,
    #[serde(default)]
    pub(super) installed_by: Installed,
    pub(super) expect: Counts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Installed {
    #[default]
    Settings,
    Plugin,
    /// In the settings, without the user's consent that the agent requires.
    Untrusted,
}

/// An action of the model.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Action {
    Say(String),
    Run(String),
    RunInBackground(String),
    Read(String),
    Edit {
        path: String,
        old: String,
        new: String,
    },
    Write {
        path: String,
        text: String,
    },
    /// A tool of the MCP server.
    Call {
        tool: String,
        arguments: serde_json::Map<String, serde_json::Value>,
    },
    Delegate(String),
    DelegateInBackground(String),
    /// Waits for a sub-agent, in agents where that takes a separate call.
    #[serde(skip)]
    Wait,
}

/// The number of reactions of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Counts {
    pub(super) sent_back: usize,
    pub(super) helper_sent_back: usize,
    pub(super) denied: usize,
    pub(super) reminded: usize,
    /// Tool calls recorded by the gateway.
    pub(super) recorded: usize,
    pub(super) status: i32,
}

/// The text that marks the task of the only sub-agent.
pub(super) const HELPER: &str = "TASK-ONE";

#[derive(Deserialize)]
struct File {
    scenario: Vec<Scenario>,
}

impl Scenario {
    pub(super) fn all() -> Result<Vec<Self>> {
        let file: File = toml::from_str(include_str!("../../agents/scenarios.toml"))
            .context("xtask/agents/scenarios.toml")?;
        Ok(file.scenario)
    }

    pub(super) fn is_for(&self, agent: &str) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|a| a == agent)
    }
}
