use std::collections::BTreeMap;
use std::path::PathBuf;

use counterfoil_guard::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[mcp]`: servers that `counterfoil mcp` stands in front of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct McpOptions {
    /// Whether secrets are taken out of results before the client sees them; records never hold
    /// any.
    pub(crate) redact_results: bool,
    /// How clients are let in over HTTP.
    pub(crate) listen: ListenOptions,
    /// Servers that `counterfoil mcp` offers as one, and whose tools `chat`, `run` and `tools` have, by
    /// the prefix of their tools' names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) servers: BTreeMap<String, ServerOptions>,
}

/// `[mcp.servers.NAME]`: one server, by its command or its URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerOptions {
    /// Whether it is offered.
    pub(crate) enabled: bool,
    /// Its program and arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) command: Vec<String>,
    /// What its environment holds beside ours; `${VARIABLE}` is filled in.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<PathBuf>,
    /// Its address, where it is one over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// Headers that each request to it has; `${VARIABLE}` is filled in.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// What the kernel holds its process to: `read-only`, `workspace` or `network`; what else holds
    /// stands in `[tools.sandbox]`. Its folder is its workspace. Not set: it is not confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<Profile>,
    /// How long each of its answers may take, in seconds.
    pub(crate) timeout_secs: u64,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            command: Vec::new(),
            env: BTreeMap::new(),
            folder: None,
            url: None,
            headers: BTreeMap::new(),
            sandbox: None,
            timeout_secs: 60,
        }
    }
}

/// `[mcp.listen]`: how clients are let in with `counterfoil mcp --listen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ListenOptions {
    /// Hosts under which clients may ask, beside this machine's own names: `name` or `name:port`.
    pub(crate) hosts: Vec<String>,
    /// Origins of pages that may ask, beside those of this machine: `https://name`.
    pub(crate) origins: Vec<String>,
    /// The variable of the environment that holds the bearer token which clients have to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_env: Option<String>,
    /// Whether others than this machine may ask without a token.
    pub(crate) allow_anyone: bool,
    /// How many requests one address may make in a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requests_per_minute: Option<u32>,
    /// The longest message of a client, in bytes.
    pub(crate) max_body_bytes: usize,
    /// How many clients with a session there may be at once.
    pub(crate) max_sessions: usize,
    /// After how many seconds without a request a session ends.
    pub(crate) idle_secs: u64,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            token_env: None,
            allow_anyone: false,
            requests_per_minute: None,
            max_body_bytes: 16 * 1024 * 1024,
            max_sessions: 256,
            idle_secs: 3600,
        }
    }
}
