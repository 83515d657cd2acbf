use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a command may reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// It reads the system, the toolchains and the workspace, and changes nothing but its own
    /// temporary folder. No network.
    ReadOnly,
    /// The same, and it may change the workspace. No network.
    #[default]
    Workspace,
    /// The same, with the network.
    Network,
    /// Nothing holds it. Needs `allow_unconfined`.
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
