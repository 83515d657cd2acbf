use std::path::{Path, PathBuf};

/// Where everything that outlives the process is kept: one folder. Only names; whoever makes the
/// folder sees to it that nobody else may write there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// This folder.
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

    /// The folder of what is remembered of coding agents' sessions between two of their hooks.
    #[must_use]
    pub fn hooks(&self) -> PathBuf {
        self.0.join("hooks")
    }

    /// What judges said of answers (JSON Lines).
    #[must_use]
    pub fn opinions(&self) -> PathBuf {
        self.0.join("opinions.jsonl")
    }

    /// What the agent of `counterfoil chat` remembers.
    #[must_use]
    pub fn agent(&self) -> PathBuf {
        self.0.join("agent.sqlite")
    }

    /// The folder of what MCP servers' tools were when they were first seen.
    #[must_use]
    pub fn pins(&self) -> PathBuf {
        self.0.join("pins")
    }

    /// The folder of the key of a witness, and of what it saw.
    #[must_use]
    pub fn witness(&self) -> PathBuf {
        self.0.join("witness")
    }

    /// The folder of snapshots, with which commands can be undone.
    #[must_use]
    pub fn snapshots(&self) -> PathBuf {
        self.0.join("snapshots")
    }

    /// The folder of the signing key and of every public key there ever was.
    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }
}
