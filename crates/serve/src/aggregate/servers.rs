use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::upstream::Server;

/// A server and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedServer {
    /// The server's name; its tools are called `{name}__{tool}`.
    pub name: String,
    /// How to connect to it.
    pub server: Server,
    /// The time limit for each of its answers.
    pub limit: Duration,
}

/// A set of servers that may change while clients are connected.
#[derive(Debug, Clone)]
pub struct Servers {
    now: Arc<ArcSwap<Vec<NamedServer>>>,
    changed: Arc<watch::Sender<()>>,
}

impl Servers {
    /// Creates a set of servers.
    #[must_use]
    pub fn new(servers: Vec<NamedServer>) -> Self {
        let now = Arc::new(ArcSwap::from_pointee(servers));
        Self { now, changed: Arc::new(watch::Sender::new(())) }
    }

    /// Replaces the set. Clients are notified that their tools changed; unchanged servers keep
    /// their connections.
    pub fn replace(&self, servers: Vec<NamedServer>) {
        if **self.now.load() != servers {
            self.now.store(Arc::new(servers));
            self.changed.send_replace(());
        }
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.now.load().is_empty()
    }

    pub(super) fn now(&self) -> Arc<Vec<NamedServer>> {
        self.now.load_full()
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

impl PartialEq for Servers {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.now, &other.now)
    }
}
