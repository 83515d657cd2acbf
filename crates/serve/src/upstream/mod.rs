//! Servers that are talked to: a process of ours, or one over HTTP.

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

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Server {
    /// It is started, and spoken to over its standard input and output.
    Command(Program),
    /// It runs elsewhere.
    Remote(Remote),
    /// It is several, with their names in front of those of their tools.
    Several(Servers),
    /// It is one, the first of these, and may speak another wire than its client.
    Bridged(Servers),
}

/// What starts a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// What its environment holds beside ours.
    pub env: BTreeMap<String, String>,
    /// Where it runs; where we do, if nothing is said.
    pub folder: Option<PathBuf>,
    /// What it is confined to: its folder is its workspace.
    pub sandbox: Option<Arc<ConfinedServer>>,
}

impl Program {
    /// The command that starts it, and where it is confined, what holds it.
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

/// A server cannot be spoken to.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// Its program.
    #[error("the MCP server `{program}` cannot be started: {reason}")]
    NotStarted {
        /// What was started.
        program: String,
        /// Why it was not.
        reason: io::Error,
    },
    /// It is gone.
    #[error("the MCP server has ended")]
    Ended,
    /// The way there.
    #[error("the MCP server is not reached: {0}")]
    NotReached(String),
    /// What it says.
    #[error("the answer of the MCP server cannot be read: {0}")]
    Unreadable(String),
}

/// What comes back for a message.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    /// One message.
    Message(String),
    /// No message: it passes as it is.
    Other(Bytes),
    /// Messages over time.
    Flow(Flow),
}

/// Messages over time.
pub(crate) enum Flow {
    /// Of a process.
    Queue(mpsc::Receiver<String>),
    /// Of an answer over HTTP.
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
    /// Connects. `shared`: several clients speak over this connection, whose requests may have the
    /// same ids.
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
    /// Sends a message and gives what comes back for it.
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

    /// The same for a client that has no stream of its own: one that breaks off is asked for again
    /// from where it broke off.
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

    /// What the server says without being asked, in the same way.
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

    /// What the server says without being asked.
    pub(crate) async fn listen(&self, headers: &HeaderMap) -> Result<Reply, UpstreamError> {
        match self {
            Self::Process(process) => Ok(process.listen()),
            Self::Remote(remote) => remote.get(headers).await,
            Self::Aggregate(aggregate) => Ok(aggregate.listen()),
        }
    }

    /// Gives up a request that nobody waits for any more.
    pub(crate) async fn give_up(&self, id: &str) {
        match self {
            Self::Process(process) => process.give_up(id).await,
            // Its answer is dropped, which says it.
            Self::Remote(_) => {}
            Self::Aggregate(aggregate) => aggregate.give_up(id),
        }
    }

    /// Whether nobody answers there any more.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            Self::Process(process) => process.has_ended(),
            // Servers that are gone are reached again.
            Self::Remote(_) | Self::Aggregate(_) => false,
        }
    }

    /// Waits no more for a request that the client cancelled; the server is told by the client.
    pub(crate) fn forget(&self, id: &str) {
        match self {
            Self::Process(process) => process.forget(id),
            // The server ends its answer.
            Self::Remote(_) => {}
            Self::Aggregate(aggregate) => aggregate.forget(id),
        }
    }

    /// Ends the connection.
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
