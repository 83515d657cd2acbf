//! The sections that other crates define. The linter alone does not have these crates: it reads the
//! keys it uses, and keeps the rest unparsed.

#[cfg(feature = "guard")]
mod all {
    pub(crate) use counterfoil_agent::AgentOptions;
    pub(crate) use counterfoil_guard::{AuditOptions, LedgerOptions, ToolsOptions};
    pub(crate) use counterfoil_hooks::HooksOptions;
    pub(crate) use counterfoil_providers::LlmOptions;
    pub(crate) use counterfoil_proxy::ProxyOptions;

    pub(crate) use super::super::mcp_options::McpOptions;
}

#[cfg(not(feature = "guard"))]
mod all {
    use std::collections::BTreeMap;

    use counterfoil_admission::{AdmissionOptions, FixationOptions};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    /// `[tools]`: the linter uses only what its rules need.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    pub(crate) struct ToolsOptions {
        /// How strictly a call is checked against its tool.
        pub(crate) admission: AdmissionOptions,
        /// When repetition without progress counts.
        pub(crate) fixation: FixationOptions,
        /// The keys that only a guard uses.
        #[serde(flatten)]
        unread: BTreeMap<String, serde_json::Value>,
    }

    /// A section that only a guard uses.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(transparent)]
    pub(crate) struct UnreadSection(BTreeMap<String, serde_json::Value>);

    pub(crate) type AgentOptions = UnreadSection;
    pub(crate) type AuditOptions = UnreadSection;
    pub(crate) type HooksOptions = UnreadSection;
    pub(crate) type LedgerOptions = UnreadSection;
    pub(crate) type LlmOptions = UnreadSection;
    pub(crate) type McpOptions = UnreadSection;
    pub(crate) type ProxyOptions = UnreadSection;
}

pub(crate) use all::*;
