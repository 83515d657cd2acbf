use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::url::LedgerUrl;

/// When an event counts as written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// After a sync of its own: it survives the machine.
    Full,
    /// After a sync that it shares with others: it survives the machine.
    #[default]
    Batch,
    /// After the write: it survives the process, not the machine.
    Os,
}

/// How a ledger is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerSettings {
    /// When an event counts as written.
    pub durability: Durability,
    /// How long a group of events may be gathered before it is synced.
    pub group_interval: Duration,
    /// Where the ledger is that several replicas share; `None` is a file.
    pub url: Option<LedgerUrl>,
    /// The file with the password of the database, where the URL has none.
    pub password_file: Option<PathBuf>,
    /// The file of the signing key; beside the ledger, with `.key` at its end, where not given.
    pub key: Option<PathBuf>,
    /// What is dropped when the ledger is opened, and when somebody asks for it.
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

/// How long things are kept. `None` is for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retention {
    /// Events that are older are dropped, whole segments at a time.
    pub events_for: Option<Duration>,
    /// Stored results that nothing newer refers to are dropped.
    pub results_for: Option<Duration>,
    /// The stored results, as compressed, take at most so many bytes: the oldest go first.
    pub results_bytes: Option<u64>,
}
