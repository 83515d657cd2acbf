//! Connections to servers: to our own process, or over HTTP.

mod headers;
mod process;
mod remote;
mod reply;
mod servers;
mod variables;

use std::sync::Arc;

use hyper::HeaderMap;

use crate::aggregate::Aggregate;

#[cfg(feature = "otel")]
pub(crate) use counterfoil_providers::Connector;
pub(crate) use counterfoil_providers::Event;
pub(crate) use headers::{RequestHeaders, differs, wrong_headers};
pub(crate) use process::Process;
use remote::RemoteSession;
pub(crate) use remote::SESSION;
pub use remote::{Remote, RemoteError};
pub use reply::UpstreamError;
pub(crate) use reply::{Content, Flow, Reply};
pub use servers::{NamedServer, Program, Server, Servers};
pub use variables::{VariableError, not_set, with_variables};

/// A connection to a server.
#[derive(Debug)]
pub(crate) enum Upstream {
    Process(Box<Process>),
    Remote(Arc<RemoteSession>),
    Aggregate(Arc<Aggregate>),
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
            Self::Unset(names) => return Err(UpstreamError::Unset(names.clone())),
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

    /// The exit code of a process that has ended by itself, if it has one.
    pub(crate) async fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Process(process) => process.exit_code().await,
            Self::Remote(_) | Self::Aggregate(_) => None,
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
