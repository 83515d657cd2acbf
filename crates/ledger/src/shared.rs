//! Ledgers that several replicas share, as far as this build supports them.

use std::path::Path;
use std::sync::Arc;

use super::open::OpenLedgerError;
use super::read::ReadLedgerError;
use super::settings::LedgerSettings;
use super::store::Ledger;
use super::verify::{Broken, Expected, Verification};
use crate::ports::{Clock, Randomness};

/// Why a ledger was not copied. The destination is unchanged then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// The file or the database could not be opened.
    #[error(transparent)]
    Open(#[from] OpenLedgerError),
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadLedgerError),
    /// The database is not writable.
    #[error("the ledger could not be copied to `{to}`: {message}")]
    Write {
        /// The destination.
        to: String,
        /// The error of the database.
        message: String,
    },
    /// The destination already has a ledger.
    #[error("`{to}` already contains a ledger")]
    NotEmpty {
        /// The destination.
        to: String,
    },
    /// The file was changed, or the copy differs from it.
    #[error("the ledger failed verification: {0}")]
    Broken(Broken),
    /// Another process wrote to the file meanwhile.
    #[error("the file grew from {copied} to {now} events during the copy")]
    Grew {
        /// The number of events copied.
        copied: u64,
        /// The number of events in the file now.
        now: u64,
    },
}

/// The result of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The number of events ever written.
    pub size: u64,
    /// The result of verifying the copy.
    pub verification: Verification,
}

impl Ledger {
    /// The number of events of the ledger at the URL of the settings; `None` if there is none yet.
    /// Creates nothing.
    ///
    /// # Errors
    /// When the server cannot be reached, or something else is there.
    pub fn look(settings: &LedgerSettings) -> Result<Option<u64>, OpenLedgerError> {
        built::look(settings)
    }

    /// Verifies the ledger at the URL of the settings without its signing key; the right to read is
    /// enough.
    ///
    /// # Errors
    /// When it is not a ledger, or cannot be read.
    pub fn verify_shared(
        settings: &LedgerSettings,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, OpenLedgerError> {
        built::verify(settings, expected, progress)
    }

    /// Copies the ledger in a file to the URL of the settings, which must not have one: events,
    /// results, checkpoints and keys unchanged. Verifies the copy before committing it, and keeps
    /// the file.
    ///
    /// # Errors
    /// See [`MigrateError`].
    pub fn migrate(
        from: &Path,
        settings: &LedgerSettings,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Migrated, MigrateError> {
        built::migrate(from, settings, (clock, randomness), progress)
    }

    /// Opens the ledger at the URL of the settings.
    pub(super) fn open_shared(
        path: &Path,
        settings: LedgerSettings,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<(Self, Vec<String>), OpenLedgerError> {
        built::open(path, settings, clock, randomness)
    }
}

#[cfg(feature = "postgres")]
mod built {
    use super::*;
    use crate::open::beside;
    use crate::postgres::{PostgresAddress, PostgresLedger};

    pub(super) fn open(
        path: &Path,
        mut settings: LedgerSettings,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<(Ledger, Vec<String>), OpenLedgerError> {
        let address = PostgresAddress::from_settings(&settings)?;
        settings.key = settings.key.or_else(|| Some(beside(path, ".key")));
        let (ledger, notices) = PostgresLedger::open(&address, settings, clock, randomness)?;
        Ok((ledger.into(), notices))
    }

    pub(super) fn look(settings: &LedgerSettings) -> Result<Option<u64>, OpenLedgerError> {
        PostgresLedger::look(&PostgresAddress::from_settings(settings)?)
    }

    pub(super) fn verify(
        settings: &LedgerSettings,
        expected: &Expected,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, OpenLedgerError> {
        PostgresLedger::verify_at(&PostgresAddress::from_settings(settings)?, expected, progress)
    }

    pub(super) fn migrate(
        from: &Path,
        settings: &LedgerSettings,
        ports: (Arc<dyn Clock>, Arc<dyn Randomness>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<Migrated, MigrateError> {
        let to = PostgresAddress::from_settings(settings)?;
        let key = settings.key.clone();
        let of_file = LedgerSettings { key, ..LedgerSettings::default() };
        PostgresLedger::migrate(from, of_file, &to, ports, progress)
    }
}

#[cfg(not(feature = "postgres"))]
mod built {
    use super::*;

    pub(super) fn open(
        _: &Path,
        settings: LedgerSettings,
        _: Arc<dyn Clock>,
        _: Arc<dyn Randomness>,
    ) -> Result<(Ledger, Vec<String>), OpenLedgerError> {
        Err(missing(&settings))
    }

    pub(super) fn look(settings: &LedgerSettings) -> Result<Option<u64>, OpenLedgerError> {
        Err(missing(settings))
    }

    pub(super) fn verify(
        settings: &LedgerSettings,
        _: &Expected,
        _: &mut dyn FnMut(u64),
    ) -> Result<Verification, OpenLedgerError> {
        Err(missing(settings))
    }

    pub(super) fn migrate(
        _: &Path,
        settings: &LedgerSettings,
        _: (Arc<dyn Clock>, Arc<dyn Randomness>),
        _: &mut dyn FnMut(u64),
    ) -> Result<Migrated, MigrateError> {
        Err(missing(settings).into())
    }

    fn missing(settings: &LedgerSettings) -> OpenLedgerError {
        OpenLedgerError::Address {
            url: settings.url.as_ref().map(ToString::to_string).unwrap_or_default(),
            why: "this program was built without the feature `postgres`".to_owned(),
        }
    }
}
