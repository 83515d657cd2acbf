//! The dashboard and the HTTP API: the ledger for browsers and programs.
//!
//! [`server`] accepts requests, [`visitor`] authenticates them, [`index`] remembers positions in
//! the ledger, and [`follow`] keeps the index up to date. Resources in [`crate::api`] read the
//! ledger; pages show what resources return. Deliberately not here: decisions about calls, and
//! files.

mod accuracy;
mod answer;
mod answers;
mod approvals;
mod assets;
mod coverage;
mod follow;
pub(crate) mod index;
mod login;
mod news;
mod overview;
mod page;
mod pieces;
mod policy;
pub(crate) mod problem;
mod receipt;
mod rejections;
pub(crate) mod request;
mod server;
mod session;
mod sessions;
mod stream;
pub(crate) mod visitor;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use counterfoil_guard::{Clock as _, Event, Gates, Guard, Ledger, ReadLedgerError, SystemClock};
use tokio::sync::{broadcast, watch};

use crate::http::{Access, Counted};
use index::LedgerIndex;
use news::News;
pub use server::serve_dashboard;
use visitor::Visitors;
pub use visitor::{AccessToken, Role};

/// Capacity of the queue for a slow live reader; beyond it, the reader learns that it missed
/// events.
const NEWS: usize = 1_024;

/// The dashboard and its access control.
pub struct Dashboard {
    guard: Guard,
    policy: Box<PolicySource>,
    audit: Option<PathBuf>,
    version: &'static str,
    access: Access,
    browser_host: Option<String>,
    counted: Counted,
    signing_in: Counted,
    visitors: Visitors,
    index: RwLock<LedgerIndex>,
    reading: Mutex<()>,
    news: broadcast::Sender<News>,
    /// Number of open streams by visitor.
    streams: Mutex<BTreeMap<String, usize>>,
    stopping: watch::Sender<bool>,
    clock: SystemClock,
    announce: Box<dyn Fn(&str) + Send + Sync>,
    operator: String,
}

/// Reads a policy: the given text, or the policy in force.
pub type PolicySource = dyn Fn(Option<&str>) -> Result<PolicyRead, String> + Send + Sync;

/// A parsed policy.
pub struct PolicyRead {
    /// Its text.
    pub text: String,
    /// The gates configured by it.
    pub gates: Gates,
}

/// The parts of a dashboard.
pub struct DashboardParts {
    /// The guard whose ledger is shown, and which records approvals.
    pub guard: Guard,
    /// Reads policies.
    pub policy: Box<PolicySource>,
    /// The audit log's file, if there may be one.
    pub audit: Option<PathBuf>,
    /// The version of the program.
    pub version: &'static str,
    /// Allowed hosts and origins. Its token is not used.
    pub access: Access,
    /// The `name:port` at which browsers sign in; any if `None`. Browsers send a cookie to every
    /// port of a host, so a name used by nothing else keeps it from other programs on this machine.
    pub browser_host: Option<String>,
    /// The access tokens.
    pub tokens: Vec<AccessToken>,
    /// The maximum role of any visitor.
    pub most: Role,
    /// Receives the token of each one-time sign-in link; `None` if no such link is wanted.
    pub announce: Option<Box<dyn Fn(&str) + Send + Sync>>,
    /// The name recorded for visitors who use such a link.
    pub operator: String,
}

/// Why the dashboard stopped or could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// No more connections can be accepted.
    #[error("cannot accept connections: {0}")]
    Accept(#[from] io::Error),
    /// The system has no randomness for a token.
    #[error("cannot create a token: the system provides no randomness")]
    NoRandomness,
}

impl Dashboard {
    /// Creates a dashboard that has not read anything yet.
    ///
    /// # Errors
    /// When a link is wanted and there is no randomness for its token.
    pub fn new(parts: DashboardParts) -> Result<Self, ServeError> {
        let visitors = Visitors::new(parts.tokens, parts.most);
        let announce = match parts.announce {
            None => Box::new(|_: &str| {}) as Box<dyn Fn(&str) + Send + Sync>,
            Some(announce) => {
                announce(&visitors.once(&parts.operator).ok_or(ServeError::NoRandomness)?);
                announce
            }
        };
        Ok(Self {
            guard: parts.guard,
            policy: parts.policy,
            audit: parts.audit,
            version: parts.version,
            access: parts.access,
            browser_host: parts.browser_host,
            counted: Counted::default(),
            signing_in: Counted::default(),
            visitors,
            index: RwLock::default(),
            reading: Mutex::default(),
            news: broadcast::Sender::new(NEWS),
            streams: Mutex::default(),
            stopping: watch::Sender::new(false),
            clock: SystemClock::default(),
            announce,
            operator: parts.operator,
        })
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        self.guard.ledger()
    }

    /// The event at this position in the ledger; `None` if retention deleted it.
    pub(crate) fn event_at(&self, seq: u64) -> Result<Option<Event>, ReadLedgerError> {
        let events = self.ledger().events_from(seq, 1)?;
        Ok(events.into_iter().next().filter(|event| event.seq == seq))
    }

    pub(crate) fn audit(&self) -> Option<&PathBuf> {
        self.audit.as_ref()
    }

    pub(crate) fn version(&self) -> &'static str {
        self.version
    }

    /// Reads a policy: the given text, or the policy in force.
    pub(crate) fn policy(&self, text: Option<&str>) -> Result<PolicyRead, String> {
        (self.policy)(text)
    }

    /// The current time in milliseconds since the Unix epoch.
    pub(crate) fn now(&self) -> i64 {
        self.clock.wall()
    }

    pub(crate) fn index(&self) -> &RwLock<LedgerIndex> {
        &self.index
    }

    /// The index, locked for reading.
    pub(crate) fn known(&self) -> RwLockReadGuard<'_, LedgerIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }
}
