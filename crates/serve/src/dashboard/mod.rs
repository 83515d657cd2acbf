//! The dashboard and the HTTP API: what the ledger holds, for browsers and programs.
//!
//! [`server`] lets requests in, [`visitor`] knows who asks, [`index`] remembers where things stand
//! in the ledger, and [`follow`] keeps it up to date. Resources in [`crate::api`] read; pages show
//! what resources read. Deliberately not here: decisions about calls, and files.

mod accuracy;
mod answer;
mod answers;
mod approvals;
mod assets;
mod coverage;
mod follow;
pub(crate) mod index;
mod login;
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
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use counterfoil_guard::{Clock as _, Event, Gates, Guard, Ledger, ReadLedgerError, SystemClock};
use tokio::sync::{broadcast, watch};

use crate::http::{Access, Counted};
use follow::News;
use index::LedgerIndex;
pub use server::{ServeError, serve_dashboard};
use visitor::Visitors;
pub use visitor::{AccessToken, Role};

/// News that may wait for a slow reader; beyond, it is told that it missed some.
const NEWS: usize = 1_024;

/// What the dashboard shows, and to whom.
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
    /// Open streams, by who looks on.
    streams: Mutex<BTreeMap<String, usize>>,
    stopping: watch::Sender<bool>,
    clock: SystemClock,
    announce: Box<dyn Fn(&str) + Send + Sync>,
    operator: String,
}

/// Reads a policy: this text, or what is in force.
pub type PolicySource = dyn Fn(Option<&str>) -> Result<PolicyRead, String> + Send + Sync;

/// A policy that was read.
pub struct PolicyRead {
    /// As text.
    pub text: String,
    /// What decides by it.
    pub gates: Gates,
}

/// What a dashboard is made of.
pub struct DashboardParts {
    /// Whose ledger is shown, and who grants approvals.
    pub guard: Guard,
    /// Reads policies.
    pub policy: Box<PolicySource>,
    /// The audit log's file, where there may be one.
    pub audit: Option<PathBuf>,
    /// Of the program.
    pub version: &'static str,
    /// Hosts and origins. Its token is not used.
    pub access: Access,
    /// Where browsers sign in, `name:port`; anywhere, where there is none. Browsers send a cookie to
    /// every port of a host, so a name that nobody else answers to keeps it from other programs of
    /// this machine.
    pub browser_host: Option<String>,
    /// Whoever is let in.
    pub tokens: Vec<AccessToken>,
    /// Nobody may do more.
    pub most: Role,
    /// Is told the token of each link that signs somebody in once; nobody, where no such link is
    /// wanted.
    pub announce: Option<Box<dyn Fn(&str) + Send + Sync>>,
    /// Whom such a link is for, as approvals say.
    pub operator: String,
}

impl Dashboard {
    /// One that has read nothing yet.
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

    /// The event at this place of the ledger; `None` where retention dropped it.
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

    /// A policy: this text, or what is in force.
    pub(crate) fn policy(&self, text: Option<&str>) -> Result<PolicyRead, String> {
        (self.policy)(text)
    }

    /// Milliseconds since the Unix epoch.
    pub(crate) fn now(&self) -> i64 {
        self.clock.wall()
    }

    pub(crate) fn index(&self) -> &RwLock<LedgerIndex> {
        &self.index
    }

    /// What is remembered of the ledger.
    pub(crate) fn known(&self) -> RwLockReadGuard<'_, LedgerIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }
}
