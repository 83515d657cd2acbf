use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::url::LedgerUrl;

/// When an event counts as written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// After a sync of its own: it survives a power failure.
    Full,
    /// After a sync shared with other events: it survives a power failure.
    #[default]
    Batch,
    /// After the write: it survives a crash of the process, but not a power failure.
    Os,
}

/// How a ledger is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerSettings {
    /// When an event counts as written.
    pub durability: Durability,
    /// The maximum time for which events are gathered into a group before a sync.
    pub group_interval: Duration,
    /// The URL of a ledger shared by several replicas; `None` for a file.
    pub url: Option<LedgerUrl>,
    /// The file with the database password, used if the URL has none.
    pub password_file: Option<PathBuf>,
    /// The file of the signing key; by default the ledger's path with `.key` appended.
    pub key: Option<PathBuf>,
    /// What is dropped, when the ledger is opened and on request.
    pub retention: Retention,
}

impl Default for LedgerSettings {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            group_interval: Duration::from_millis(5),
            url: None,
            password_file: None,
            key: None,
            retention: Retention::default(),
        }
    }
}

/// How long things are kept. `None` means for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retention {
    /// The maximum age of events; older ones are dropped, whole blocks at a time.
    pub events_for: Option<Duration>,
    /// The maximum age of stored results; older ones are dropped if no newer event refers to them.
    pub results_for: Option<Duration>,
    /// The maximum total size of the stored results in bytes, as compressed: the oldest are dropped
    /// first.
    pub results_bytes: Option<u64>,
}
