//! A proxy between an agent and its model. Tool calls are judged before the agent sees them, the
//! results that it reports become evidence, and what the model finally says is checked against
//! them.
//!
//! `server.rs` accepts requests for the paths in `route.rs`; `exchange.rs` is one request, and
//! `answer.rs` its answer, which is streamed (`relay/`) or not (`piece.rs`). `shape/` reads an
//! answer as clients do and reports what they may read in different ways; `ruling.rs` decides what
//! happens to it, and `wire/` implements the wires.
//!
//! Deliberately not here: what is right or wrong, which the guard and its rules decide, and how
//! connections are accepted and clients authorised, which `counterfoil-serve` does for all its
//! servers.
//!
//! Start with [`Proxy`], then `exchange.rs`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod answer;
mod calls;
mod comments;
mod conclusion;
mod correct;
mod exchange;
mod failure;
mod forward;
mod frames;
mod judge;
mod keys;
mod links;
mod meter;
mod notes;
mod options;
mod outcomes;
mod path_rule;
mod piece;
mod plain;
mod record;
mod relay;
mod request;
mod route;
mod ruling;
mod seen;
mod server;
mod sessions;
mod shape;
mod shown;
#[cfg(feature = "otel")]
pub mod spans;
mod spoken;
mod tools;
mod wire;

use std::future::Future;
use std::sync::Arc;

use arc_swap::ArcSwap;
use counterfoil_guard::{Guard, SystemClock};
use tokio::sync::watch;

use counterfoil_serve::Counted;
use forward::Servers;
use judge::Judges;
use seen::Log;
use sessions::Sessions;
use shown::Lists;

pub use options::{
    KeyProvider, Least, OnTimeout, ProxyMode, ProxyOptions, ProxyOptionsError, ProxySettings,
    VirtualKeyOptions,
};
pub use server::{ProxyError, serve_proxy, tls_of};

/// The proxy between agents and their models.
pub struct Proxy {
    guard: Guard,
    settings: ArcSwap<ProxySettings>,
    servers: Servers,
    sessions: Sessions,
    lists: Lists,
    judges: Judges,
    log: Log,
    counted: Counted,
    clock: SystemClock,
    /// Whether it is shutting down.
    stopping: watch::Sender<bool>,
    /// The number of tasks that no client waits for.
    busy: watch::Sender<usize>,
}

impl Proxy {
    /// Creates a proxy that decides with this guard, which must be built without tools: clients run
    /// theirs.
    #[must_use]
    pub fn new(guard: Guard, settings: ProxySettings) -> Self {
        Self {
            guard,
            settings: ArcSwap::from_pointee(settings),
            servers: Servers::new(),
            sessions: Sessions::default(),
            lists: Lists::default(),
            judges: Judges::new(),
            log: Log::default(),
            counted: Counted::default(),
            clock: SystemClock::default(),
            stopping: watch::Sender::new(false),
            busy: watch::Sender::new(0),
        }
    }

    /// Runs a task that a shutdown waits for.
    fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let busy = Busy::new(self);
        tokio::spawn(async move {
            work.await;
            drop(busy);
        });
    }

    /// Subscribes to all exchanges from now on.
    #[cfg(feature = "otel")]
    fn exchanges(&self) -> tokio::sync::broadcast::Receiver<seen::Exchanged> {
        self.log.follow().1
    }

    /// Replaces the settings for all requests from now on.
    pub fn reload(&self, mut settings: ProxySettings) {
        let before = self.settings.load_full();
        settings.keys.iter_mut().for_each(|key| key.go_on_from(&before.keys));
        self.settings.store(Arc::new(settings));
    }
}

/// Counts a task that a shutdown waits for, until this is dropped.
struct Busy(Arc<Proxy>);

impl Busy {
    fn new(proxy: &Arc<Proxy>) -> Self {
        proxy.busy.send_modify(|count| *count += 1);
        Self(Arc::clone(proxy))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("settings", &self.settings.load()).finish_non_exhaustive()
    }
}
