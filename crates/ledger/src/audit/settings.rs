use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Durability;

/// The configuration of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditOptions {
    /// What happens to a call that cannot be written to the log: `deny` withholds its result,
    /// `continue` returns it and records the gap in the next line.
    pub on_failure: OnFailure,
    /// When a line counts as written: with `full` and `batch`, after a sync that threads share (the
    /// line survives a power failure); with `os`, after the write (the line survives a crash of the
    /// process, but not a power failure).
    pub durability: Durability,
    /// The size in bytes at which the file is rotated; 0 means never.
    pub rotate_bytes: u64,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            on_failure: OnFailure::default(),
            durability: Durability::Os,
            rotate_bytes: 64 * 1024 * 1024,
        }
    }
}

/// What happens to a call that cannot be written to the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Its result is withheld.
    #[default]
    Deny,
    /// Its result is returned; the next line records how many are missing.
    Continue,
}

/// How an audit log is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSettings {
    /// What happens to a call that cannot be written down.
    pub on_failure: OnFailure,
    /// When a line counts as written.
    pub durability: Durability,
    /// The size in bytes at which a new file is started; `None` means never.
    pub rotate_bytes: Option<u64>,
}

impl AuditOptions {
    /// The checked settings. Every combination is valid.
    #[must_use]
    pub fn resolve(self) -> AuditSettings {
        AuditSettings {
            on_failure: self.on_failure,
            durability: self.durability,
            rotate_bytes: (self.rotate_bytes > 0).then_some(self.rotate_bytes),
        }
    }
}

impl Default for AuditSettings {
    fn default() -> Self {
        AuditOptions::default().resolve()
    }
}
