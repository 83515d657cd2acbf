use std::io;

use counterfoil_providers::Event;
use hyper::body::Bytes;
use hyper::{HeaderMap, StatusCode};
use tokio::sync::mpsc;

use super::remote::Body;
use super::variables::not_set;

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
    /// Environment variables in its settings are not set.
    #[error("{}", not_set(.0))]
    Unset(Vec<String>),
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
            Self::Queue(queue) => queue.recv().await.map(|text| Ok(Event::new(text))),
            Self::Body(body) => body.next().await,
        }
    }
}

impl Reply {
    pub(crate) fn from_flow(flow: Flow) -> Self {
        Self { status: StatusCode::OK, headers: HeaderMap::new(), content: Content::Flow(flow) }
    }

    pub(crate) fn accepted() -> Self {
        let content = Content::Other(Bytes::new());
        Self { status: StatusCode::ACCEPTED, headers: HeaderMap::new(), content }
    }
}
