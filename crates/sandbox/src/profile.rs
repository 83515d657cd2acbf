use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a command may reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Reads the system, the toolchains and the workspace, and changes only its own temporary
    /// folder. No network.
    ReadOnly,
    /// Like `read-only`, and may change the workspace. No network.
    #[default]
    Workspace,
    /// Like `workspace`, with the network.
    Network,
    /// Unconfined. Needs `allow_unconfined`.
    Off,
}

impl Profile {
    /// The name in configuration and receipts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
            Self::Network => "network",
            Self::Off => "off",
        }
    }
}
