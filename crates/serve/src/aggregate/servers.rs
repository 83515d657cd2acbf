use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::upstream::Server;

/// A server by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedServer {
    /// What it is called: its tools are `{name}__{tool}`.
    pub name: String,
    /// How it is reached.
    pub server: Server,
    /// How long each of its answers may take.
    pub limit: Duration,
}

/// Several servers, which may change while clients speak to them.
#[derive(Debug, Clone)]
pub struct Servers {
    now: Arc<ArcSwap<Vec<NamedServer>>>,
    changed: Arc<watch::Sender<()>>,
}

impl Servers {
    /// These.
    #[must_use]
    pub fn new(servers: Vec<NamedServer>) -> Self {
        let now = Arc::new(ArcSwap::from_pointee(servers));
        Self { now, changed: Arc::new(watch::Sender::new(())) }
    }

    /// From now on, these. Clients are told that their tools changed; a server that stays as it was
    /// keeps its connections.
    pub fn replace(&self, servers: Vec<NamedServer>) {
        if **self.now.load() != servers {
            self.now.store(Arc::new(servers));
            self.changed.send_replace(());
        }
    }

    /// Whether there is none.
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
