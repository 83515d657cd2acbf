use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::{Durability, LedgerSettings, Retention};
use super::url::LedgerUrl;

/// `[ledger]`: how the ledger is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerOptions {
    /// When an event counts as written: with `full`, after a sync of its own; with `batch`, after a
    /// shared sync; with `os`, after the write (the event survives a crash of the process, but not
    /// a power failure).
    pub durability: Durability,
    /// The maximum time for which events are gathered for a shared sync, in milliseconds.
    pub group_ms: u64,
    /// The URL of a ledger shared by several replicas: `postgres://USER@HOST/DATABASE`. If not set,
    /// the ledger is a file in the state folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<LedgerUrl>,
    /// The file with the password, used if neither the URL nor `PGPASSWORD` has one. Relative to
    /// the configuration file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// The file of the signing key; by default next to the ledger. Relative to the configuration
    /// file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// The number of days after which events are dropped, whole blocks at a time. If not set,
    /// never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_events_days: Option<u32>,
    /// The number of days after which recorded results are dropped. If not set, never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_results_days: Option<u32>,
    /// The maximum size of recorded results in megabytes, compressed; the oldest are dropped first.
    /// If not set, unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_results_mb: Option<u32>,
}

/// Why the options cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerOptionsError {
    /// The interval would delay a single call too long.
    #[error("`group_ms` is {0}, but must be at most 1000")]
    GroupTooLong(u64),
    /// Retention would delete everything.
    #[error("`{0}` is 0, so nothing would be kept; omit it to keep everything")]
    KeepsNothing(&'static str),
}

impl Default for LedgerOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            group_ms: 5,
            url: None,
            password_file: None,
            key: None,
            keep_events_days: None,
            keep_results_days: None,
            keep_results_mb: None,
        }
    }
}

impl LedgerOptions {
    const DAY_SECS: u64 = 24 * 60 * 60;
    const MB: u64 = 1024 * 1024;

    /// The checked settings.
    ///
    /// # Errors
    /// When the interval is too long, or a retention limit is 0.
    pub fn resolve(self) -> Result<LedgerSettings, LedgerOptionsError> {
        let Self {
            durability,
            group_ms,
            url,
            password_file,
            key,
            keep_events_days,
            keep_results_days,
            keep_results_mb,
        } = self;
        if group_ms > 1_000 {
            return Err(LedgerOptionsError::GroupTooLong(group_ms));
        }
        for (name, kept) in [
            ("keep_events_days", keep_events_days),
            ("keep_results_days", keep_results_days),
            ("keep_results_mb", keep_results_mb),
        ] {
            if kept == Some(0) {
                return Err(LedgerOptionsError::KeepsNothing(name));
            }
        }
        let days = |days: u32| Duration::from_secs(u64::from(days) * Self::DAY_SECS);
        Ok(LedgerSettings {
            durability,
            group_interval: Duration::from_millis(group_ms),
            url,
            password_file,
            key,
            retention: Retention {
                events_for: keep_events_days.map(days),
                results_for: keep_results_days.map(days),
                results_bytes: keep_results_mb.map(|mb| u64::from(mb) * Self::MB),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_ledger() {
        assert_eq!(LedgerOptions::default().resolve(), Ok(LedgerSettings::default()));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (options, expected) in [
            (
                LedgerOptions { group_ms: 1_001, ..LedgerOptions::default() },
                LedgerOptionsError::GroupTooLong(1_001),
            ),
            (
                LedgerOptions { keep_results_mb: Some(0), ..LedgerOptions::default() },
                LedgerOptionsError::KeepsNothing("keep_results_mb"),
            ),
        ] {
            assert_eq!(options.resolve(), Err(expected));
        }
    }
}
