//! The ledger on PostgreSQL, if a server can be started.

mod address;
mod kept;
mod replicas;
pub(crate) mod server;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use counterfoil_ledger::{PostgresAddress, PostgresLedger};
use server::Server;

use super::*;

/// A separate schema on the shared server.
pub(crate) struct Schema {
    pub(crate) server: Arc<Server>,
    pub(crate) name: String,
    pub(crate) url: String,
    folder: tempfile::TempDir,
}

/// The server stops when no test needs it any more.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
static SCHEMAS: AtomicU32 = AtomicU32::new(0);

/// A new schema; `None`, with a message, if PostgreSQL is not installed.
pub(crate) fn schema() -> Option<Schema> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let server = match shared.upgrade() {
        Some(server) => server,
        None => {
            let server = Arc::new(start(&["fsync=off"])?);
            *shared = Arc::downgrade(&server);
            server
        }
    };
    drop(shared);
    let name = format!("ledger_{}", SCHEMAS.fetch_add(1, Ordering::SeqCst));
    let url = server.schema(&name);
    Some(Schema { server, name, url, folder: tempfile::tempdir().unwrap() })
}

/// A server for a single test.
#[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
pub(crate) fn start(options: &[&str]) -> Option<Server> {
    match Server::start(options) {
        Ok(server) => Some(server),
        Err(why) => {
            eprintln!("SKIPPED: the ledger was not tried on PostgreSQL: {why}");
            None
        }
    }
}

pub(crate) fn open_at(url: &str, key: &Path, durability: Durability) -> PostgresLedger {
    let address = PostgresAddress::parse(url).unwrap();
    let settings = LedgerSettings { key: Some(key.to_owned()), ..settings(durability) };
    let randomness = Arc::new(Counted::default());
    PostgresLedger::open(&address, settings, SetClock::at(NOW), randomness).unwrap().0
}

impl Schema {
    pub(crate) fn key(&self) -> std::path::PathBuf {
        self.folder.path().join("key")
    }

    /// Opens another replica.
    pub(crate) fn open(&self, durability: Durability) -> Ledger {
        open_at(&self.url, &self.key(), durability).into()
    }

    pub(crate) fn address(&self) -> PostgresAddress {
        PostgresAddress::parse(&self.url).unwrap()
    }

    /// Runs statements in the schema.
    pub(crate) fn sql(&self, statements: &str) -> String {
        self.server.sql(&format!("SET search_path = {}; {statements}", self.name))
    }
}
