//! How to reach servers: one, or several that may change.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use counterfoil_sandbox::{ConfinedServer, HeldServer};
use tokio::process::Command;
use tokio::sync::watch;

use super::remote::Remote;
use super::reply::UpstreamError;

/// How to reach a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Server {
    /// A program that is started, and used through its standard input and output.
    Command(Program),
    /// A server over HTTP.
    Remote(Remote),
    /// A server that is not used, because these environment variables in its settings are not set.
    Unset(Vec<String>),
    /// Several servers, whose names prefix those of their tools.
    Several(Servers),
    /// The first of these servers, which may use another protocol revision than its client.
    Bridged(Servers),
}

/// How to start a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Environment variables to set in addition to ours.
    pub env: BTreeMap<String, String>,
    /// The working directory; ours if `None`.
    pub folder: Option<PathBuf>,
    /// The sandbox; the server's folder is its workspace.
    pub sandbox: Option<Arc<ConfinedServer>>,
}

impl Program {
    /// The command that starts it, and the sandbox if it is confined.
    pub(super) fn command(&self) -> Result<(Command, Option<HeldServer>), UpstreamError> {
        let program = self.words.first().cloned().unwrap_or_default();
        let not_started = |reason| UpstreamError::NotStarted { program, reason };
        let held = self.held().map_err(not_started)?;
        let words = held.as_ref().map_or(&self.words, |held| &held.words);
        let (program, words) = words.split_first().map_or(("", &[][..]), |(p, w)| (p.as_str(), w));
        let mut command = Command::new(program);
        command.args(words).envs(&self.env);
        if let Some(held) = &held {
            command.envs(&held.environment);
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        Ok((command, held))
    }

    fn held(&self) -> io::Result<Option<HeldServer>> {
        let Some(sandbox) = &self.sandbox else { return Ok(None) };
        let mut environment: BTreeMap<String, String> = std::env::vars().collect();
        environment.extend(self.env.clone());
        let here = || std::env::current_dir();
        let folder = self.folder.clone().map_or_else(here, Ok)?;
        let held = sandbox.hold(&self.words, &folder, &environment)?;
        for gap in &held.gaps {
            tracing::info!("`{}`: {}", self.words.join(" "), gap.text);
        }
        Ok(Some(held))
    }
}

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

impl NamedServer {
    /// What identifies it besides its name: its command, or its URL.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        match &self.server {
            Server::Command(program) => program.words.clone(),
            Server::Remote(remote) => vec![remote.url()],
            Server::Unset(_) | Server::Several(_) | Server::Bridged(_) => Vec::new(),
        }
    }
}

/// A set of servers that may change while clients are connected.
#[derive(Debug, Clone)]
pub struct Servers {
    now: Arc<ArcSwap<Vec<NamedServer>>>,
    changed: Arc<watch::Sender<()>>,
    /// How long what they say together waits for each of them; the usual times if `None`.
    patience: Option<Duration>,
}

impl Servers {
    /// Creates a set of servers.
    #[must_use]
    pub fn new(servers: Vec<NamedServer>) -> Self {
        let now = Arc::new(ArcSwap::from_pointee(servers));
        Self { now, changed: Arc::new(watch::Sender::new(())), patience: None }
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

    /// The same servers, for a client that waits this long for each of them.
    pub(crate) fn waiting(&self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self.clone() }
    }

    pub(crate) fn patience(&self) -> Option<Duration> {
        self.patience
    }

    pub(crate) fn now(&self) -> Arc<Vec<NamedServer>> {
        self.now.load_full()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

impl PartialEq for Servers {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.now, &other.now)
    }
}
