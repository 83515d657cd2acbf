//! Connections to servers: to our own process, or over HTTP.

mod headers;
mod process;
mod remote;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use counterfoil_sandbox::{ConfinedServer, HeldServer};
use hyper::body::Bytes;
use hyper::{HeaderMap, StatusCode};
use tokio::process::Command;
use tokio::sync::mpsc;

use crate::aggregate::{Aggregate, Servers};

#[cfg(feature = "otel")]
pub(crate) use counterfoil_providers::Connector;
pub(crate) use counterfoil_providers::Event;
pub(crate) use headers::{RequestHeaders, differs, wrong_headers};
pub(crate) use process::Process;
pub(crate) use remote::SESSION;
use remote::{Body, RemoteSession};
pub use remote::{Remote, RemoteError};

/// How to reach a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Server {
    /// A program that is started, and used through its standard input and output.
    Command(Program),
    /// A server over HTTP.
    Remote(Remote),
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
    fn command(&self) -> Result<(Command, Option<HeldServer>), UpstreamError> {
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

/// A connection to a server.
#[derive(Debug)]
pub(crate) enum Upstream {
    Process(Box<Process>),
    Remote(Arc<RemoteSession>),
    Aggregate(Arc<Aggregate>),
}

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// The program cannot be started.
    #[error("the MCP server `{program}` cannot be started: {reason}")]
    NotStarted {
        /// The program.
        program: String,
        /// The reason.
        reason: io::Error,
    },
    /// The server has ended.
    #[error("the MCP server has ended")]
    Ended,
    /// The server cannot be reached.
    #[error("cannot reach the MCP server: {0}")]
    NotReached(String),
    /// Its answer cannot be read.
    #[error("the MCP server's answer cannot be read: {0}")]
    Unreadable(String),
}

/// The response to a message.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    /// A single message.
    Message(String),
    /// Content that is not a message, to be passed on unchanged.
    Other(Bytes),
    /// A stream of messages.
    Flow(Flow),
}

/// A stream of messages.
pub(crate) enum Flow {
    /// From a process.
    Queue(mpsc::Receiver<String>),
    /// From an HTTP response.
    Body(Box<Body>),
}

impl Flow {
    /// The next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Event, UpstreamError>> {
        match self {
            Self::Queue(queue) => queue.recv().await.map(|text| Ok(Event::of(text))),
            Self::Body(body) => body.next().await,
        }
    }
}

impl Reply {
    pub(crate) fn of(flow: Flow) -> Self {
        Self { status: StatusCode::OK, headers: HeaderMap::new(), content: Content::Flow(flow) }
    }

    pub(crate) fn accepted() -> Self {
        let content = Content::Other(Bytes::new());
        Self { status: StatusCode::ACCEPTED, headers: HeaderMap::new(), content }
    }
}

impl Server {
    /// Connects to the server. `shared` is whether several clients use the connection, whose
    /// requests may have the same ids.
    pub(crate) fn connect(&self, shared: bool) -> Result<Upstream, UpstreamError> {
        Ok(match self {
            Self::Command(program) => {
                let (command, held) = program.command()?;
                Upstream::Process(Box::new(Process::start(command, held, shared)?))
            }
            Self::Remote(remote) => Upstream::Remote(Arc::new(remote.session(shared))),
            Self::Several(servers) => {
                Upstream::Aggregate(Arc::new(Aggregate::new(servers, true, shared)))
            }
            Self::Bridged(server) => {
                Upstream::Aggregate(Arc::new(Aggregate::new(server, false, shared)))
            }
        })
    }
}

impl Upstream {
    /// Sends a message and returns the response.
    pub(crate) async fn exchange(
        &self,
        text: &str,
        headers: &HeaderMap,
    ) -> Result<Reply, UpstreamError> {
        match self {
            Self::Process(process) => process.exchange(text).await,
            Self::Remote(remote) => remote.post(text, headers).await,
            Self::Aggregate(aggregate) => aggregate.exchange(text),
        }
    }

    /// Like [`Upstream::exchange`], for a client that has no stream of its own: an interrupted
    /// response is resumed from where it broke off.
    pub(crate) async fn exchange_whole(
        &self,
        text: &str,
        headers: &HeaderMap,
    ) -> Result<Reply, UpstreamError> {
        let reply = match self {
            Self::Remote(remote) => remote.post_whole(text, headers).await?,
            Self::Process(_) | Self::Aggregate(_) => self.exchange(text, headers).await?,
        };
        Ok(self.whole(reply, headers, false))
    }

    /// Like [`Upstream::listen`]; an interrupted stream is resumed.
    pub(crate) async fn listen_whole(&self, headers: &HeaderMap) -> Result<Reply, UpstreamError> {
        let reply = self.listen(headers).await?;
        Ok(self.whole(reply, headers, true))
    }

    fn whole(&self, mut reply: Reply, headers: &HeaderMap, listens: bool) -> Reply {
        if let (Self::Remote(session), Content::Flow(Flow::Body(body))) = (self, &mut reply.content)
        {
            body.goes_on(Arc::clone(session), headers.clone(), listens);
        }
        reply
    }

    /// The server's unsolicited messages.
    pub(crate) async fn listen(&self, headers: &HeaderMap) -> Result<Reply, UpstreamError> {
        match self {
            Self::Process(process) => Ok(process.listen()),
            Self::Remote(remote) => remote.get(headers).await,
            Self::Aggregate(aggregate) => Ok(aggregate.listen()),
        }
    }

    /// Gives up a request that nothing is waiting for any more.
    pub(crate) async fn give_up(&self, id: &str) {
        match self {
            Self::Process(process) => process.give_up(id).await,
            // Its response is dropped, which cancels it.
            Self::Remote(_) => {}
            Self::Aggregate(aggregate) => aggregate.give_up(id),
        }
    }

    /// Whether the server has ended for good.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            Self::Process(process) => process.has_ended(),
            // These reconnect to servers that are gone.
            Self::Remote(_) | Self::Aggregate(_) => false,
        }
    }

    /// Stops waiting for a request that the client cancelled; the client tells the server itself.
    pub(crate) fn forget(&self, id: &str) {
        match self {
            Self::Process(process) => process.forget(id),
            // The server ends its response.
            Self::Remote(_) => {}
            Self::Aggregate(aggregate) => aggregate.forget(id),
        }
    }

    /// Closes the connection.
    pub(crate) async fn close(&self, headers: &HeaderMap) -> Option<Reply> {
        match self {
            Self::Process(process) => {
                process.close().await;
                None
            }
            Self::Remote(remote) => remote.delete(headers).await.ok(),
            Self::Aggregate(aggregate) => {
                aggregate.close().await;
                None
            }
        }
    }
}
