use std::path::PathBuf;

use clap::Args;
#[cfg(feature = "guard")]
use counterfoil_guard::LedgerUrl;

use crate::config::{Files, Place};
#[cfg(feature = "guard")]
use crate::exit::Complaint;
use crate::log::LogLevel;
#[cfg(feature = "guard")]
use crate::state::State;

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Configuration and state")]
pub(crate) struct Global {
    /// Use only this configuration file
    #[arg(long, global = true, value_name = "FILE", env = "COUNTERFOIL_CONFIG")]
    config: Option<PathBuf>,
    /// Use no configuration file
    #[arg(long, global = true, conflicts_with = "config")]
    no_config: bool,
    /// Log level for standard error [default: warn; off in hooks]
    #[arg(long, global = true, value_name = "LEVEL", env = "COUNTERFOIL_LOG")]
    pub(crate) log: Option<LogLevel>,
    /// The folder with the ledger, audit log and keys
    #[arg(long, global = true, value_name = "DIR", env = "COUNTERFOIL_STATE")]
    #[cfg(feature = "guard")]
    state: Option<PathBuf>,
    /// URL of a ledger shared by several replicas: `postgres://USER@HOST/DATABASE`
    #[arg(long, global = true, value_name = "URL", env = "COUNTERFOIL_LEDGER", hide_env_values = true, value_parser = ledger_url)]
    #[cfg(feature = "guard")]
    ledger: Option<LedgerUrl>,
}

/// The URL is checked when it is used, so that errors never show its password.
#[cfg(feature = "guard")]
#[expect(clippy::unnecessary_wraps, reason = "clap wants it so")]
fn ledger_url(text: &str) -> Result<LedgerUrl, std::convert::Infallible> {
    Ok(LedgerUrl::new(text))
}

impl Global {
    pub(crate) fn place(&self) -> Place {
        let files = match (&self.config, self.no_config) {
            (_, true) => Files::Nowhere,
            (Some(path), false) => Files::Named(path.clone()),
            (None, false) => Files::Found,
        };
        Place {
            files,
            #[cfg(feature = "guard")]
            ledger: self.ledger.clone(),
        }
    }

    /// Returns the selected state folder. Nothing is created or opened yet.
    #[cfg(feature = "guard")]
    pub(crate) fn state(&self) -> Result<State, Complaint> {
        State::resolve(self.state.as_deref())
    }
}
