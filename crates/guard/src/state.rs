use std::path::{Path, PathBuf};

/// The folder that holds everything that outlives the process. This type only names the paths; the
/// creator of the folder must make sure that only its owner can write to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// Uses this folder.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The ledger: events, receipts, results.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.0.join("ledger.db")
    }

    /// The audit log.
    #[must_use]
    pub fn audit(&self) -> PathBuf {
        self.0.join("audit.jsonl")
    }

    /// The folder of what is kept about coding agents' sessions between hook events.
    #[must_use]
    pub fn hooks(&self) -> PathBuf {
        self.0.join("hooks")
    }

    /// The judges' opinions about answers (JSON Lines).
    #[must_use]
    pub fn opinions(&self) -> PathBuf {
        self.0.join("opinions.jsonl")
    }

    /// The memory of the agent of `counterfoil chat`.
    #[must_use]
    pub fn agent(&self) -> PathBuf {
        self.0.join("agent.sqlite")
    }

    /// The folder with the definitions of MCP servers' tools when they were first seen.
    #[must_use]
    pub fn pins(&self) -> PathBuf {
        self.0.join("pins")
    }

    /// The folder with the key of a witness and its records.
    #[must_use]
    pub fn witness(&self) -> PathBuf {
        self.0.join("witness")
    }

    /// The folder of snapshots, which are used to undo commands.
    #[must_use]
    pub fn snapshots(&self) -> PathBuf {
        self.0.join("snapshots")
    }

    /// The folder of the signing key and of all public keys so far.
    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }
}
