use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_guard::CallEvent;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Method, Request, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;

use super::access::{Access, Counted};
use super::listen::{Listening, listen};
use super::metrics::Metrics;
use super::response::{Answer, answer, answer_from_reply, json};
use crate::connection::{ClientConnection, ClientReply, Clients};
use crate::mcp::{Gateway, GatewayError, Message, TopLevel, code, error};
use crate::upstream::{SESSION, Server, Upstream, differs};

/// The path of the MCP endpoint.
const PATH: &str = "/mcp";

/// How long open requests have to end when the process stops.
const GRACE: Duration = Duration::from_secs(5);

/// The time limit for receiving a message.
const BODY: Duration = Duration::from_secs(60);

/// How often idle sessions are looked for.
const SWEEP: Duration = Duration::from_secs(60);

/// An MCP gateway over HTTP, in front of a server.
pub struct HttpGateway {
    server: Server,
    /// Creates the gateway of a new session.
    begin: Box<Begin>,
    access: Access,
    limits: Limits,
    sessions: Mutex<BTreeMap<String, Arc<ClientConnection>>>,
    /// The connection for clients without a session.
    alone: Mutex<Option<Arc<ClientConnection>>>,
    metrics: Metrics,
    counted: Counted,
}

type Begin = dyn Fn() -> Result<Gateway, GatewayError> + Send + Sync;

/// Limits of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a client's message in bytes.
    pub max_body_bytes: usize,
    /// Maximum number of simultaneous sessions.
    pub max_sessions: usize,
    /// How long a session may be idle before it ends.
    pub idle: Duration,
}

/// Why the gateway stopped.
#[derive(Debug, thiserror::Error)]
pub enum HttpGatewayError {
    /// No more connections can be accepted.
    #[error("cannot accept connections: {0}")]
    Accept(#[from] io::Error),
}

impl HttpGateway {
    /// Creates a gateway in front of this server; `begin` creates the gateway of each session.
    pub fn new(
        server: Server,
        access: Access,
        limits: Limits,
        begin: impl Fn() -> Result<Gateway, GatewayError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            server,
            begin: Box::new(begin),
            access,
            limits,
            sessions: Mutex::default(),
            alone: Mutex::default(),
            metrics: Metrics::default(),
            counted: Counted::default(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ClientConnection>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts connections until `stop` completes, then waits for open requests and ends all sessions.
/// `events` are the guard's events, for `/metrics`.
///
/// # Errors
/// When connections can no longer be accepted.
pub async fn serve_http(
    gateway: Arc<HttpGateway>,
    listener: TcpListener,
    events: Receiver<CallEvent>,
    stop: impl Future<Output = ()>,
) -> Result<(), HttpGatewayError> {
    let counting = Arc::clone(&gateway);
    let counting = tokio::spawn(async move { counting.metrics.follow(events).await });
    let sweeping = Arc::clone(&gateway);
    let sweeping = tokio::spawn(async move {
        let mut sweep = tokio::time::interval(SWEEP);
        loop {
            sweep.tick().await;
            sweeping.sweep().await;
        }
    });
    let answering = Arc::clone(&gateway);
    let answering = move |request, from| {
        let gateway = Arc::clone(&answering);
        async move {
            let answer = gateway.answer(request, from).await;
            gateway.metrics.request(answer.status().as_u16());
            answer
        }
    };
    let listening = Listening { listener, tls: None, grace: GRACE };
    let ended = listen(listening, stop, answering).await;
    sweeping.abort();
    let sessions = std::mem::take(&mut *gateway.sessions());
    let alone = gateway.alone.lock().unwrap_or_else(PoisonError::into_inner).take();
    for client in sessions.into_values().chain(alone) {
        client.end(&HeaderMap::new()).await;
    }
    counting.abort();
    Ok(ended?)
}

impl HttpGateway {
    async fn answer(&self, request: Request<Incoming>, from: IpAddr) -> Answer {
        let path = request.uri().path();
        if path == "/healthz" {
            return answer(StatusCode::OK, "text/plain", "ok\n");
        }
        if let Err(error) = self.access.check(request.headers(), from, &self.counted) {
            let mut response = json(error.status(), wrong(&error.to_string()));
            if error.status() == StatusCode::UNAUTHORIZED {
                let bearer = HeaderValue::from_static("Bearer");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
            }
            if error.status() == StatusCode::TOO_MANY_REQUESTS {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
            }
            return response;
        }
        if path == "/metrics" {
            let text = self.metrics.text(self.sessions().len());
            return answer(StatusCode::OK, "text/plain; version=0.0.4", text);
        }
        if path.starts_with("/.well-known/") {
            return self.beside(&request).await;
        }
        if path != PATH {
            let what = format!("there is nothing at `{path}`: the MCP server is at `{PATH}`");
            return json(StatusCode::NOT_FOUND, wrong(&what));
        }
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.listen(&request).await,
            Method::DELETE => self.delete(&request).await,
            _ => {
                let what = "use POST to send messages, GET to listen and DELETE to end the session";
                json(StatusCode::METHOD_NOT_ALLOWED, wrong(what))
            }
        }
    }

    /// Passes on requests for the authorization metadata on the server's host.
    async fn beside(&self, request: &Request<Incoming>) -> Answer {
        let Server::Remote(remote) = &self.server else {
            return json(StatusCode::NOT_FOUND, wrong("there is nothing here"));
        };
        if !is_plain(request.uri().path()) {
            let what = "a path below `/.well-known/` must have only plain segments";
            return json(StatusCode::NOT_FOUND, wrong(what));
        }
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        match remote.beside(path, request.headers()).await {
            Ok(reply) => answer_from_reply(ClientReply::Passed(reply)),
            Err(error) => json(StatusCode::BAD_GATEWAY, wrong(&error.to_string())),
        }
    }

    /// The headers to pass on; our own access token is removed.
    fn onward(&self, headers: &HeaderMap) -> HeaderMap {
        let mut headers = headers.clone();
        if self.access.token.is_some() {
            headers.remove(header::AUTHORIZATION);
        }
        headers.remove(header::ORIGIN);
        headers
    }

    /// The body of a request, if it arrives in time and within the size limit.
    async fn whole(&self, body: Incoming) -> Result<Bytes, Answer> {
        let reading = Limited::new(body, self.limits.max_body_bytes).collect();
        match timeout(BODY, reading).await {
            Err(_) => {
                let what = format!("the message did not arrive within {} s", BODY.as_secs());
                Err(json(StatusCode::REQUEST_TIMEOUT, wrong(&what)))
            }
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) => {
                let what = format!(
                    "the message cannot be read, or is longer than {} bytes: {error}",
                    self.limits.max_body_bytes
                );
                Err(json(StatusCode::PAYLOAD_TOO_LARGE, wrong(&what)))
            }
        }
    }

    async fn post(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let body = match self.whole(body).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        let Ok(text) = std::str::from_utf8(&body) else {
            return bad(code::PARSE_ERROR, "the message is not UTF-8");
        };
        let message = match Message::read(text) {
            Ok(message) => message,
            Err(_) if text.trim_start().starts_with('[') => {
                return bad(
                    code::INVALID_REQUEST,
                    "batches are not supported: send messages one by one",
                );
            }
            Err(error) => {
                let refusal = TopLevel::parse(text.as_bytes()).refusal(&error.to_string());
                return json(StatusCode::BAD_REQUEST, refusal);
            }
        };
        let mut headers = self.onward(&head.headers);
        let alone = message.is_alone();
        let begins = message.method.as_deref() == Some("initialize") && !alone;
        let known = session_of(&head.headers).map(|id| (id, self.sessions().get(id).cloned()));
        if let Some((id, client)) = known.filter(|(_, client)| client.is_some() || !begins) {
            let Some(client) = client else { return no_session() };
            let client_reply = client.take(text, &headers).await;
            if let ClientReply::Passed(reply) | ClientReply::Answer(reply, _) = &client_reply
                && reply.status == StatusCode::NOT_FOUND
            {
                self.ended(id, &headers).await;
            }
            return answer_from_reply(client_reply);
        }
        if begins {
            // A client may still name a session that has ended.
            headers.remove(SESSION);
            return self.begin(message.id.as_deref(), text, &headers).await;
        }
        let client = match self.alone() {
            Ok(client) => client,
            Err(why) => return away(message.id.as_deref(), &why),
        };
        // A server over HTTP checks the headers itself and answers with a status.
        let by_status = !matches!(self.server, Server::Remote(_));
        if by_status && let Some(wrong) = wrong_alone(&client, &message, &headers, alone) {
            return wrong;
        }
        let client_reply = client.take(text, &headers).await;
        let status = client_reply.error_code().filter(|_| by_status).and_then(status_of);
        let mut answer = answer_from_reply(client_reply);
        if let Some(status) = status {
            *answer.status_mut() = status;
        }
        answer
    }

    /// Begins a session.
    async fn begin(&self, id: Option<&str>, text: &str, headers: &HeaderMap) -> Answer {
        let most = self.limits.max_sessions;
        if self.sessions().len() >= most {
            let what = format!("all {most} sessions are in use (`mcp.listen.max_sessions`)");
            return away(id, &what);
        }
        let client = match self.connect(Clients::Session) {
            Ok(client) => client,
            Err(why) => return away(id, &why),
        };
        let client_reply = client.take(text, headers).await;
        let taken = match &client_reply {
            ClientReply::Answer(reply, _) | ClientReply::Passed(reply) => reply.status.is_success(),
            ClientReply::Events(_) => true,
            ClientReply::Message(_) | ClientReply::Taken => false,
        };
        let mut answer = answer_from_reply(client_reply);
        if !taken {
            client.end(headers).await;
            return answer;
        }
        // Use the session id of a server over HTTP, or else an unguessable one.
        let named = match &client.upstream {
            Upstream::Remote(remote) => remote.named(),
            Upstream::Process(_) | Upstream::Aggregate(_) => None,
        };
        let named = named.or_else(|| client.gateway_session().parse().ok());
        if let Some(name) = named {
            if let Ok(id) = name.to_str() {
                self.sessions().insert(id.to_owned(), client);
            }
            answer.headers_mut().insert(SESSION, name);
        }
        answer
    }

    /// Connects to the server.
    fn connect(&self, clients: Clients) -> Result<Arc<ClientConnection>, String> {
        let gateway = (self.begin)().map_err(|error| error.to_string())?;
        let upstream =
            self.server.connect(clients == Clients::Alone).map_err(|error| error.to_string())?;
        Ok(Arc::new(ClientConnection::new(gateway, upstream, clients)))
    }

    /// The connection for clients without a session; reconnects if the server has ended.
    fn alone(&self) -> Result<Arc<ClientConnection>, String> {
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = alone.as_ref().filter(|client| !client.upstream.has_ended()) {
            return Ok(Arc::clone(client));
        }
        let client = self.connect(Clients::Alone)?;
        *alone = Some(Arc::clone(&client));
        Ok(client)
    }

    async fn listen(&self, request: &Request<Incoming>) -> Answer {
        let client = match session_of(request.headers()) {
            Some(id) => match self.sessions().get(id).cloned() {
                Some(client) => client,
                None => return no_session(),
            },
            None => {
                let what = "without a session, use `subscriptions/listen` to listen";
                return json(StatusCode::METHOD_NOT_ALLOWED, wrong(what));
            }
        };
        match client.listen(&self.onward(request.headers())).await {
            Ok(client_reply) => answer_from_reply(client_reply),
            Err(error) => json(StatusCode::BAD_GATEWAY, wrong(&error.to_string())),
        }
    }

    async fn delete(&self, request: &Request<Incoming>) -> Answer {
        let Some(id) = session_of(request.headers()) else { return no_session() };
        match self.ended(id, &self.onward(request.headers())).await {
            Some(response) => response,
            None => no_session(),
        }
    }

    /// Ends a session; `None` if there is no session with this id.
    async fn ended(&self, id: &str, headers: &HeaderMap) -> Option<Answer> {
        let client = self.sessions().remove(id)?;
        Some(match client.end(headers).await {
            Some(reply) => answer_from_reply(ClientReply::Passed(reply)),
            None => answer(StatusCode::OK, "text/plain", ""),
        })
    }

    /// Ends idle sessions.
    async fn sweep(&self) {
        let idle = self.limits.idle;
        let sessions: Vec<Arc<ClientConnection>> = {
            let mut sessions = self.sessions();
            let old = sessions.extract_if(.., |_, client| client.used().elapsed() > idle);
            old.map(|(_, client)| client).collect()
        };
        for client in sessions {
            client.end(&HeaderMap::new()).await;
        }
    }
}

/// Whether every server interprets a path in the same way, and as staying below its root: no
/// segment is empty, `.` or `..`, or contains escapes, parameters or backslashes.
fn is_plain(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    let mut segments = path.trim_start_matches('/').split('/');
    !path.starts_with("//")
        && segments.all(|segment| !matches!(segment, "" | "." | "..") && segment.chars().all(plain))
}

/// The error for a request without a session whose headers do not match its message.
fn wrong_alone(
    client: &ClientConnection,
    message: &Message<'_>,
    headers: &HeaderMap,
    alone: bool,
) -> Option<Answer> {
    let id = message.id.as_deref()?;
    let (code, what) = match alone {
        false => {
            let what = "a request needs a session (`Mcp-Session-Id`, after `initialize`), or the \
                        protocol version and the client's capabilities in `_meta`";
            (code::INVALID_PARAMS, what.to_owned())
        }
        true => {
            let schema = client.schema_of_call(message);
            (code::HEADER_MISMATCH, differs(message, schema.as_ref(), headers)?)
        }
    };
    Some(json(StatusCode::BAD_REQUEST, error(Some(id), code, &what)))
}

/// The HTTP status for certain errors in the protocol without sessions.
fn status_of(code: i64) -> Option<StatusCode> {
    match i32::try_from(code).ok()? {
        code::METHOD_NOT_FOUND => Some(StatusCode::NOT_FOUND),
        code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_REVISION => {
            Some(StatusCode::BAD_REQUEST)
        }
        _ => None,
    }
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// The response if there is no server for a request.
fn away(id: Option<&str>, why: &str) -> Answer {
    json(StatusCode::SERVICE_UNAVAILABLE, error(id, code::SERVER_GONE, why))
}

fn no_session() -> Answer {
    let what = "this session does not exist or has ended: begin a new one with `initialize`";
    json(StatusCode::NOT_FOUND, wrong(what))
}

fn bad(code: i32, what: &str) -> Answer {
    json(StatusCode::BAD_REQUEST, error(None, code, what))
}

fn wrong(what: &str) -> String {
    error(None, code::INVALID_REQUEST, what)
}
