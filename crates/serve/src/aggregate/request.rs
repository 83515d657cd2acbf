//! A client's request, and why it has no result.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::merge::List;
use crate::client::{ALONE, AwayError, ClientError};
use crate::mcp::{CAPABILITIES, Members, REVISION, code};

/// Requests that do not exist in the protocol without sessions.
const ONLY_SESSIONS: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// A parsed request.
pub(super) struct ParsedRequest {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) params: String,
    /// Whether it uses the protocol without sessions.
    pub(super) alone: bool,
    pub(super) to: mpsc::Sender<String>,
}

impl ParsedRequest {
    /// Whether this request exists in the protocol without sessions, in the revision it names.
    pub(super) fn fits_its_wire(&self) -> Result<(), Wrong> {
        let requested = self.meta(REVISION);
        if requested.as_ref().is_some_and(|revision| revision != ALONE) {
            return Err(Wrong::Client(ClientError::Refused {
                method: self.method.clone(),
                code: code::UNSUPPORTED_REVISION.into(),
                message: "unsupported protocol revision".to_owned(),
                data: Box::new(json!({ "supported": [ALONE], "requested": requested })),
            }));
        }
        match ONLY_SESSIONS.contains(&self.method.as_str()) {
            false => Ok(()),
            true => {
                let what = format!("the method `{}` needs a session", self.method);
                Err(Wrong::ClientReply(code::METHOD_NOT_FOUND, what))
            }
        }
    }

    /// A member of the metadata of a request without a session.
    fn meta(&self, name: &str) -> Option<Value> {
        let params: Members<'_> = serde_json::from_str(&self.params).ok()?;
        let meta: Members<'_> = serde_json::from_str(params.get("_meta")?.get()).ok()?;
        serde_json::from_str(meta.get(name)?.get()).ok()
    }

    /// The capabilities of the client that sent a request without a session.
    pub(super) fn able(&self) -> Value {
        self.meta(CAPABILITIES).unwrap_or_default()
    }
}

/// Why a request has no result.
pub(super) enum Wrong {
    Away(AwayError),
    Client(ClientError),
    ClientReply(i32, String),
}

impl Wrong {
    /// Logs that a server has no list.
    pub(super) fn log(&self, server: &str, list: List) {
        match self {
            Self::Away(error) => tracing::warn!("{error}"),
            Self::Client(error) => tracing::warn!("`{server}`, {}: {error}", list.member()),
            Self::ClientReply(_, what) => tracing::warn!("`{server}`: {what}"),
        }
    }
}

impl From<AwayError> for Wrong {
    fn from(error: AwayError) -> Self {
        Self::Away(error)
    }
}

impl From<ClientError> for Wrong {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}
