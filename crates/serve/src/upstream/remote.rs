use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_providers::{Connector, Event, Events, causes};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::time::timeout;

use super::reply::{Content, Flow, Reply, UpstreamError};
use crate::mcp::{LONGEST, Message, on_one_line};

/// The header with the session id.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The header with the id of the last received event.
const LAST: HeaderName = HeaderName::from_static("last-event-id");

/// Headers that belong to one connection, or that we set ourselves.
const OWN: [HeaderName; 11] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    SESSION,
];

/// A server over HTTP.
#[derive(Clone)]
pub struct Remote(Arc<Parts>);

struct Parts {
    url: Uri,
    /// Headers added to each request.
    headers: HeaderMap,
    /// Time limit for the head of a response.
    limit: Duration,
    client: Client<Connector, Full<Bytes>>,
}

/// Why a server cannot be used over HTTP.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The URL is invalid.
    #[error(
        "`{0}` is not a server URL: it must begin with `https://` or `http://`, followed by a host"
    )]
    Url(String),
    /// A header is invalid.
    #[error("`{0}` is not a valid header")]
    Header(String),
}

/// One client's connection to the server.
pub(crate) struct RemoteSession {
    remote: Remote,
    /// The session id assigned by the server.
    id: Mutex<Option<HeaderValue>>,
    /// Whether it is shared by clients without a session.
    shared: bool,
    /// The message and headers that began the session.
    greeting: Mutex<Option<(String, HeaderMap)>>,
    /// Held while the session is being renewed.
    renewing: AsyncMutex<()>,
    renewed: watch::Sender<()>,
}

/// A streamed response.
pub(crate) struct Body {
    body: Incoming,
    events: Events,
    again: Option<Again>,
}

/// How to resume an interrupted response.
struct Again {
    session: Arc<RemoteSession>,
    headers: HeaderMap,
    listens: bool,
    /// The id of the last received event.
    last: Option<String>,
    /// The pause before the next attempt.
    after: Duration,
    /// Number of attempts without any data.
    tries: u32,
}

/// Maximum number of attempts to resume a response without receiving any data.
const TRIES: u32 = 5;

impl Remote {
    /// A server at this URL; the headers are added to each request.
    ///
    /// # Errors
    /// When the URL or a header is invalid.
    pub fn new<'h>(
        url: &str,
        headers: impl IntoIterator<Item = (&'h str, &'h str)>,
        limit: Duration,
    ) -> Result<Self, RemoteError> {
        let uri: Uri = url.parse().map_err(|_| RemoteError::Url(url.to_owned()))?;
        let known = matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if !known {
            return Err(RemoteError::Url(url.to_owned()));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let wrong = || RemoteError::Header(name.to_owned());
            let name: HeaderName = name.parse().map_err(|_| wrong())?;
            let mut value: HeaderValue = value.parse().map_err(|_| wrong())?;
            value.set_sensitive(true);
            map.insert(name, value);
        }
        let client = Client::builder(TokioExecutor::new()).build(Connector::default());
        Ok(Self(Arc::new(Parts { url: uri, headers: map, limit, client })))
    }

    pub(crate) fn url(&self) -> String {
        self.0.url.to_string()
    }

    pub(crate) fn session(&self, shared: bool) -> RemoteSession {
        RemoteSession {
            remote: self.clone(),
            id: Mutex::default(),
            shared,
            greeting: Mutex::default(),
            renewing: AsyncMutex::default(),
            renewed: watch::Sender::new(()),
        }
    }

    /// Requests another path on the server's host, which has the authorization metadata for
    /// clients. Such requests are not authenticated, so our own headers are not sent.
    pub(crate) async fn beside(
        &self,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Reply, UpstreamError> {
        let mut parts = self.0.url.clone().into_parts();
        parts.path_and_query = path.parse().ok();
        let url = Uri::from_parts(parts).map_err(|e| UpstreamError::NotReached(e.to_string()))?;
        let response = self.send(Method::GET, url, None, passing(headers)).await?;
        read(response).await
    }

    /// Sends a request with our own headers.
    async fn ask(
        &self,
        method: Method,
        text: Option<&str>,
        mut headers: HeaderMap,
    ) -> Result<Response<Incoming>, UpstreamError> {
        for (name, value) in &self.0.headers {
            headers.insert(name.clone(), value.clone());
        }
        self.send(method, self.0.url.clone(), text, headers).await
    }

    async fn send(
        &self,
        method: Method,
        url: Uri,
        text: Option<&str>,
        headers: HeaderMap,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let body = on_one_line(text.unwrap_or_default()).into_owned();
        let body = Full::new(Bytes::from(body));
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = url;
        *request.headers_mut() = headers;
        let not_reached = |why: String| UpstreamError::NotReached(why);
        let response = timeout(self.0.limit, self.0.client.request(request)).await;
        let response = response.map_err(|_| {
            not_reached(format!("it did not answer within {} s", self.0.limit.as_secs()))
        })?;
        response.map_err(|error| not_reached(causes(&error)))
    }
}

impl PartialEq for Remote {
    fn eq(&self, other: &Self) -> bool {
        let (own, other) = (&self.0, &other.0);
        own.url == other.url && own.headers == other.headers && own.limit == other.limit
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("url", &self.0.url).finish_non_exhaustive()
    }
}

impl fmt::Debug for RemoteSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSession").field("remote", &self.remote).finish_non_exhaustive()
    }
}

/// The headers that are passed on between client and server.
pub(crate) fn passing(headers: &HeaderMap) -> HeaderMap {
    let own = |name: &HeaderName| OWN.contains(name) || name.as_str() == "keep-alive";
    let passing = headers.iter().filter(|(name, _)| !own(name));
    passing.map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl RemoteSession {
    fn id(&self) -> MutexGuard<'_, Option<HeaderValue>> {
        self.id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn greeting(&self) -> MutexGuard<'_, Option<(String, HeaderMap)>> {
        self.greeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session id assigned by the server, if any.
    pub(crate) fn named(&self) -> Option<HeaderValue> {
        self.id().clone()
    }

    fn with_session(&self, headers: &HeaderMap) -> HeaderMap {
        let mut headers = passing(headers);
        if let Some(id) = self.named() {
            headers.insert(SESSION, id);
        }
        headers
    }

    async fn ask(
        &self,
        method: Method,
        text: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<Reply, UpstreamError> {
        let mut headers = self.with_session(headers);
        if text.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let response = self.remote.ask(method, text, headers).await?;
        if let Some(id) = response.headers().get(SESSION).filter(|_| !self.shared) {
            *self.id() = Some(id.clone());
        }
        read(response).await
    }

    pub(crate) async fn post(
        &self,
        text: &str,
        headers: &HeaderMap,
    ) -> Result<Reply, UpstreamError> {
        let begins = |message: Message<'_>| message.method.as_deref() == Some("initialize");
        if text.contains("initialize") && Message::read(text).is_ok_and(begins) {
            *self.greeting() = Some((text.to_owned(), headers.clone()));
        }
        self.ask(Method::POST, Some(text), headers).await
    }

    /// Like [`RemoteSession::post`], for a client that does not know about the session. If the
    /// server no longer knows the session, it has not executed anything, so a new session is begun
    /// and the message is sent again.
    pub(crate) async fn post_whole(
        &self,
        text: &str,
        headers: &HeaderMap,
    ) -> Result<Reply, UpstreamError> {
        let before = self.named().filter(|_| !self.shared);
        let reply = self.post(text, headers).await?;
        match before.filter(|_| reply.status == StatusCode::NOT_FOUND) {
            Some(before) if self.renew(&before).await? => self.post(text, headers).await,
            _ => Ok(reply),
        }
    }

    /// Replaces a session that the server no longer knows. Returns whether there is a session now.
    async fn renew(&self, before: &HeaderValue) -> Result<bool, UpstreamError> {
        let _one = self.renewing.lock().await;
        if self.named().as_ref() != Some(before) {
            // Another request has already renewed it.
            return Ok(true);
        }
        let Some((text, headers)) = self.greeting().clone() else { return Ok(false) };
        let own = Message::read(&text).ok().and_then(|message| message.id).unwrap_or_default();
        *self.id() = None;
        let began = match self.ask(Method::POST, Some(&text), &headers).await {
            Ok(reply) => match timeout(self.remote.0.limit, greeted(reply, &own)).await {
                Ok(greeted) => greeted,
                Err(_) => Ok(None),
            },
            Err(error) => Err(error),
        };
        let revision = match began {
            Ok(Some(revision)) if self.named().is_some() => revision,
            began => {
                // The next request will try again.
                *self.id() = Some(before.clone());
                return began.map(|_| false);
            }
        };
        let mut headers = headers;
        headers.insert(HeaderName::from_static("mcp-protocol-version"), revision);
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.ask(Method::POST, Some(ready), &headers).await?;
        tracing::warn!("the MCP server has forgotten the session; a new one was started");
        self.renewed.send_replace(());
        Ok(true)
    }

    pub(crate) async fn get(&self, headers: &HeaderMap) -> Result<Reply, UpstreamError> {
        self.ask(Method::GET, None, headers).await
    }

    pub(crate) async fn delete(&self, headers: &HeaderMap) -> Result<Reply, UpstreamError> {
        self.ask(Method::DELETE, None, headers).await
    }
}

/// The revision in the answer to the greeting with this id; `None` if it is not a result.
async fn greeted(reply: Reply, id: &str) -> Result<Option<HeaderValue>, UpstreamError> {
    let revision = |text: &str| {
        let message =
            Message::read(text).ok().filter(|message| message.id.as_deref() == Some(id))?;
        let result: Value = serde_json::from_str(message.members.get("result")?.get()).ok()?;
        result.get("protocolVersion")?.as_str()?.parse().ok()
    };
    if !reply.status.is_success() {
        return Ok(None);
    }
    match reply.content {
        Content::Message(text) => Ok(revision(&text)),
        Content::Other(_) => Ok(None),
        Content::Flow(mut flow) => {
            while let Some(event) = flow.next().await {
                if let Some(revision) = revision(&event?.data) {
                    return Ok(Some(revision));
                }
            }
            Ok(None)
        }
    }
}

/// Classifies a response by its content type.
async fn read(response: Response<Incoming>) -> Result<Reply, UpstreamError> {
    let (head, body) = response.into_parts();
    // Types are compared without case, as clients compare them.
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split([';', ',']).next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    let content = match kind.as_str() {
        "text/event-stream" => Content::Flow(Flow::Body(Box::new(Body {
            body,
            events: Events::default(),
            again: None,
        }))),
        _ => {
            let bytes = whole(body).await?;
            match kind == "application/json" {
                true => match String::from_utf8(bytes) {
                    Ok(text) => Content::Message(text),
                    Err(error) => Content::Other(Bytes::from(error.into_bytes())),
                },
                false => Content::Other(Bytes::from(bytes)),
            }
        }
    };
    Ok(Reply { status: head.status, headers: passing(&head.headers), content })
}

async fn whole(mut body: Incoming) -> Result<Vec<u8>, UpstreamError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| UpstreamError::Unreadable(causes(&error)))?;
        let Some(piece) = frame.data_ref() else { continue };
        if bytes.len() + piece.len() > LONGEST {
            return Err(UpstreamError::Unreadable("it is longer than 64 MiB".to_owned()));
        }
        bytes.extend_from_slice(piece);
    }
    Ok(bytes)
}

impl Body {
    /// Makes the stream resume when interrupted. `listens` is whether it belongs to no request, so
    /// that a new session has a new one.
    pub(super) fn goes_on(
        &mut self,
        session: Arc<RemoteSession>,
        headers: HeaderMap,
        listens: bool,
    ) {
        let after = Duration::from_secs(1);
        self.again = Some(Again { session, headers, listens, last: None, after, tries: 0 });
    }

    pub(super) async fn next(&mut self) -> Option<Result<Event, UpstreamError>> {
        loop {
            if let Some(mut event) = self.events.next() {
                if let Some(again) = &mut self.again {
                    again.note(&event);
                }
                // Events of another kind, such as `ping`, are no messages of the protocol.
                if event.name.take().is_some() {
                    event.data.clear();
                    if event == Event::default() {
                        continue;
                    }
                }
                return Some(Ok(event));
            }
            let broke = match self.body.frame().await {
                Some(Ok(frame)) => {
                    let Some(piece) = frame.data_ref() else { continue };
                    match self.events.push(piece) {
                        Ok(()) => continue,
                        Err(error) => {
                            return Some(Err(UpstreamError::Unreadable(error.to_string())));
                        }
                    }
                }
                Some(Err(error)) => Some(UpstreamError::Unreadable(causes(&error))),
                None => None,
            };
            let again = match &mut self.again {
                Some(again) => again.ask().await,
                None => None,
            };
            match again {
                Some(body) => (self.body, self.events) = (body, Events::default()),
                None => return broke.map(Err),
            }
        }
    }
}

impl Again {
    fn note(&mut self, event: &Event) {
        self.tries = 0;
        if event.id.is_some() {
            self.last.clone_from(&event.id);
        }
        if let Some(retry) = event.retry {
            self.after = Duration::from_millis(retry.min(60_000));
        }
    }

    /// Requests the rest of the response, if possible.
    async fn ask(&mut self) -> Option<Incoming> {
        loop {
            let mut renewed = self.session.renewed.subscribe();
            while self.tries < TRIES {
                self.tries += 1;
                tokio::time::sleep(self.after).await;
                let mut headers = self.session.with_session(&self.headers);
                match &self.last {
                    Some(last) => drop(headers.insert(LAST, last.parse().ok()?)),
                    None if self.listens => {}
                    None => return None,
                }
                match self.session.remote.ask(Method::GET, None, headers).await {
                    Ok(response) if response.status().is_success() => {
                        return Some(response.into_body());
                    }
                    Ok(response) => {
                        let status = response.status();
                        tracing::warn!(
                            "an answer was cut off, and the server did not resume it: {status}"
                        );
                        break;
                    }
                    Err(error) => tracing::warn!("an answer was cut off: {error}"),
                }
            }
            if !self.listens {
                return None;
            }
            renewed.changed().await.ok()?;
            (self.last, self.tries) = (None, 0);
        }
    }
}
