use std::collections::BTreeMap;
use std::path::PathBuf;

use counterfoil_guard::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[mcp]`: the servers that `counterfoil mcp` offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct McpOptions {
    /// Whether secrets are removed from results before the client sees them; records never contain
    /// secrets.
    pub(crate) redact_results: bool,
    /// Whether tools, instructions, prompts and resources that have changed since their server was
    /// first seen are blocked until the change is accepted, as with `--hold-changes`.
    pub(crate) hold_changes: bool,
    /// How clients may connect over HTTP.
    pub(crate) listen: ListenOptions,
    /// Servers that `counterfoil mcp` offers as one server, and whose tools `chat`, `run` and
    /// `tools` also offer. The key is the prefix of the tools' names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) servers: BTreeMap<String, ServerOptions>,
}

/// `[mcp.servers.NAME]`: one server, by its command or its URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerOptions {
    /// Whether the server is offered.
    pub(crate) enabled: bool,
    /// The server's program and arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) command: Vec<String>,
    /// Additional environment variables for the server's process; `${VARIABLE}` inserts one of
    /// Counterfoil's own variables. If that variable is not set, the server is not used.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
    /// The folder in which the server runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<PathBuf>,
    /// The server's URL, if it is reached over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// Headers to send with each HTTP request; `${VARIABLE}` inserts an environment variable. If
    /// that variable is not set, the server is not used.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// How the kernel confines the server's process: `read-only`, `workspace` or `network`;
    /// `[tools.sandbox]` has the other settings. The server's folder is its workspace. If not set,
    /// the server is not confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<Profile>,
    /// Maximum time to wait for each response, in seconds.
    pub(crate) timeout_secs: u64,
}

impl ServerOptions {
    /// A key that is only for the other kind of server, and what is wrong with it.
    pub(crate) fn misplaced(&self) -> Option<(&'static str, &'static str)> {
        let (remote, local) = (self.url.is_some(), !self.command.is_empty());
        let confined = self.sandbox.is_some_and(|profile| profile != Profile::Off);
        let of_processes = "is only for servers with `command`; one with `url` runs elsewhere";
        let keys = [
            ("sandbox", remote && confined, of_processes),
            ("env", remote && !self.env.is_empty(), of_processes),
            ("folder", remote && self.folder.is_some(), of_processes),
            ("headers", local && !self.headers.is_empty(), "is only for servers with `url`"),
        ];
        keys.into_iter().find_map(|(key, misplaced, why)| misplaced.then_some((key, why)))
    }
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

/// `[mcp.listen]`: how clients may connect to `counterfoil mcp --listen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ListenOptions {
    /// Host names that clients may use, in addition to this machine's own: `name` or `name:port`.
    pub(crate) hosts: Vec<String>,
    /// Origins of web pages that may send requests, in addition to this machine's: `https://name`.
    pub(crate) origins: Vec<String>,
    /// The environment variable with the bearer token that clients must send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_env: Option<String>,
    /// Whether other machines may connect without a token.
    pub(crate) allow_anyone: bool,
    /// Maximum number of requests per minute from one address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requests_per_minute: Option<u32>,
    /// Maximum size of a client's message, in bytes.
    pub(crate) max_body_bytes: usize,
    /// Maximum number of clients with a session at the same time.
    pub(crate) max_sessions: usize,
    /// Number of seconds without a request after which a session ends.
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
