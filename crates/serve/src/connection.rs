//! The path from one client to a server: gates, forwards and answers its messages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use counterfoil_model::Digest;
use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::mcp::{Gateway, LISTING, Message, Step};
use crate::upstream::{Content, Event, Flow, Reply, Upstream, UpstreamError};

/// Capacity of the message queue for a client that reads slowly.
const WAITING: usize = 16;

impl ClientReply {
    /// The error code, if this is an error.
    pub(crate) fn error_code(&self) -> Option<i64> {
        let (Self::Message(text) | Self::Answer(_, text)) = self else { return None };
        let error = Message::read(text).ok()?.members.get("error")?.get();
        serde_json::from_str::<Value>(error).ok()?.get("code")?.as_i64()
    }
}

/// The kind of client on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// A client with a session over HTTP, which can ask again for an interrupted answer.
    Session,
    /// All clients without a session. Each request is independent, and disconnecting cancels it.
    /// Messages of one client never refer to another's requests.
    Alone,
    /// A client over standard streams, which need not know how the server is reached.
    Streams,
}

/// The connection of one client, or of all clients without a session.
pub(crate) struct ClientConnection {
    gateway: Arc<Gateway>,
    pub(crate) upstream: Upstream,
    clients: Clients,
    /// Receivers for calls that are waiting for a person, by the client's call id.
    held: Mutex<BTreeMap<String, mpsc::Sender<Event>>>,
    used: Mutex<Instant>,
}

/// A stream of messages for a client.
pub(crate) struct ReplyEvents {
    /// The head of the server's response, if there is one.
    pub(crate) head: Option<Reply>,
    /// A message that has already arrived.
    pub(crate) first: Option<Event>,
    pub(crate) rest: mpsc::Receiver<Event>,
}

impl ReplyEvents {
    /// The next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        match self.first.take() {
            Some(event) => Some(event),
            None => self.rest.recv().await,
        }
    }
}

/// The reply to a client.
pub(crate) enum ClientReply {
    /// An immediate message.
    Message(String),
    /// The message was accepted and has no answer.
    Taken,
    /// The server's response to a message without an answer, or its refusal.
    Passed(Reply),
    /// The server's answer as a single message.
    Answer(Reply, String),
    /// A stream of messages.
    Events(ReplyEvents),
}

impl ClientConnection {
    pub(crate) fn new(gateway: Gateway, upstream: Upstream, clients: Clients) -> Self {
        let used = Mutex::new(Instant::now());
        let several = matches!(upstream, Upstream::Aggregate(_));
        let gateway = Arc::new(gateway.of_several(several));
        Self { gateway, upstream, clients, held: Mutex::default(), used }
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<String, mpsc::Sender<Event>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of the session in which its calls are recorded.
    pub(crate) fn gateway_session(&self) -> &str {
        self.gateway.session().id()
    }

    /// The schema of the tool that a message calls, if known.
    pub(crate) fn schema_of_call(&self, message: &Message<'_>) -> Option<Value> {
        self.gateway.schema_of_call(message)
    }

    /// When the connection was last used.
    pub(crate) fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes a message from the client and returns the reply.
    pub(crate) async fn take(self: &Arc<Self>, text: &str, headers: &HeaderMap) -> ClientReply {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let gateway = match self.clients {
            Clients::Alone => Arc::new(match headers.get(AUTHORIZATION) {
                Some(client) => {
                    self.gateway.another_for(&Digest::of_bytes(client.as_bytes()).to_string())
                }
                None => self.gateway.another(),
            }),
            Clients::Session | Clients::Streams => Arc::clone(&self.gateway),
        };
        let message = Message::read(text).ok();
        let is_request = message.as_ref().is_some_and(|m| m.method.is_some() && m.id.is_some());
        let is_answer = message.as_ref().is_some_and(|m| m.method.is_none());
        let cancelled = message.as_ref().and_then(Message::cancels);
        let id = message.and_then(|message| message.id).unwrap_or_default();
        if let Some(mut list) = gateway.unlisted(text).await {
            while let Some(request) = list.request() {
                let sent = timeout(LISTING, self.list(&gateway, &request, headers)).await;
                list.answered(sent.unwrap_or(false)).await;
            }
        }
        let step = gateway.from_client(text).await.into_iter().next();
        // Without a session, requests stand alone and ids are not unique to one client.
        if let Some(cancelled) = cancelled.filter(|_| self.clients != Clients::Alone) {
            // The client no longer waits for it, so its stream ends.
            self.held().remove(&cancelled);
            if step.is_some() {
                self.upstream.forget(&cancelled);
            }
        }
        match step {
            None => ClientReply::Taken,
            Some(Step::Answer(answer)) if is_answer => self.end_refused(answer).await,
            Some(Step::Answer(answer)) => self.answer(&id, answer),
            Some(Step::Forward(line)) if is_request => self.ask(gateway, id, &line, headers).await,
            Some(Step::Forward(line)) => self.pass(gateway, &line, headers).await,
        }
    }

    /// Requests a page of tools for the gateway. Returns whether the server was reached.
    async fn list(&self, gateway: &Gateway, request: &str, headers: &HeaderMap) -> bool {
        let headers = own_headers(headers);
        let reply = match self.clients {
            Clients::Streams => self.upstream.exchange_whole(request, &headers).await,
            Clients::Session | Clients::Alone => self.upstream.exchange(request, &headers).await,
        };
        match reply.map(|reply| reply.content) {
            Ok(Content::Message(text)) => drop(gateway.from_server(&text).await),
            Ok(Content::Flow(mut flow)) => {
                let id = Message::read(request).ok().and_then(|message| message.id);
                while let Some(Ok(event)) = flow.next().await {
                    let ends = id.as_deref().is_some_and(|id| is_answer_to(&event.data, id));
                    drop(gateway.from_server(&event.data).await);
                    if ends {
                        break;
                    }
                }
            }
            Ok(Content::Other(_)) | Err(_) => return false,
        }
        true
    }

    /// The reply to a message that was not forwarded: an answer, or our own question.
    fn answer(&self, id: &str, text: String) -> ClientReply {
        let is_question = Message::read(&text).is_ok_and(|message| message.method.is_some());
        if !is_question {
            return ClientReply::Message(text);
        }
        let (to, events) = mpsc::channel(WAITING);
        // The new queue has room.
        to.try_send(Event::new(text)).ok();
        self.held().insert(id.to_owned(), to);
        ClientReply::Events(ReplyEvents { head: None, first: None, rest: events })
    }

    /// Ends a call that a person refused, on the stream of that call.
    async fn end_refused(&self, answer: String) -> ClientReply {
        let id = Message::read(&answer).ok().and_then(|message| message.id);
        let held = id.and_then(|id| self.held().remove(&id));
        match held {
            Some(to) => {
                // Ignore errors: the client may be gone.
                to.send(Event::new(answer)).await.ok();
                ClientReply::Taken
            }
            None => ClientReply::Message(answer),
        }
    }

    /// Forwards a client's request.
    async fn ask(
        self: &Arc<Self>,
        gateway: Arc<Gateway>,
        id: String,
        line: &str,
        headers: &HeaderMap,
    ) -> ClientReply {
        let reply = match self.clients {
            Clients::Streams => self.upstream.exchange_whole(line, headers).await,
            Clients::Session | Clients::Alone => self.upstream.exchange(line, headers).await,
        };
        let mut reply = match reply {
            Ok(reply) => reply,
            Err(error) => return lost(&gateway, &id, &error.to_string()).await,
        };
        match std::mem::replace(&mut reply.content, Content::Message(String::new())) {
            content if !reply.status.is_success() && is_result(&content) => {
                let why = format!(
                    "the MCP server answered with status {} but sent a result",
                    reply.status
                );
                match gateway.lost(&id, false, &why).await {
                    Some(error) => ClientReply::Answer(reply, error),
                    None => ClientReply::Taken,
                }
            }
            Content::Message(text) => self.answered(&gateway, &id, reply, &text).await,
            Content::Other(bytes) => {
                reply.content = Content::Other(bytes);
                self.refused(&gateway, &id, reply).await
            }
            Content::Flow(flow) => {
                // Over HTTP, the response keeps the format in which it arrived.
                let may_be_one = matches!(flow, Flow::Queue(_));
                let (to, mut rest) = mpsc::channel(WAITING);
                tokio::spawn(Arc::clone(self).bring(gateway, id.clone(), flow, to));
                let first = if may_be_one { rest.recv().await } else { None };
                match first {
                    Some(event) if is_answer_to(&event.data, &id) => {
                        ClientReply::Answer(reply, event.data)
                    }
                    first => ClientReply::Events(ReplyEvents { head: Some(reply), first, rest }),
                }
            }
        }
    }

    /// Handles a single message as the server's response.
    async fn answered(&self, gateway: &Gateway, id: &str, reply: Reply, text: &str) -> ClientReply {
        let passed = gateway.from_server(text).await;
        let why =
            format!("the MCP server sent another message instead of the answer ({})", reply.status);
        match (passed, gateway.lost(id, false, &why).await) {
            // This is not the answer, and a client over streams would wait for it in vain.
            (_, Some(error)) if self.clients == Clients::Streams => ClientReply::Message(error),
            (Some(text), _) | (None, Some(text)) => ClientReply::Answer(reply, text),
            (None, None) => ClientReply::Taken,
        }
    }

    /// Handles a response of the server that is not a message. If it reports success, the client
    /// gets an error in its place, because no one has inspected the body.
    async fn refused(&self, gateway: &Gateway, id: &str, reply: Reply) -> ClientReply {
        if reply.status.is_success() {
            let why = "the MCP server sent a body that is neither JSON nor a stream of events, so \
                       it was not read; it is unknown what the server did";
            return match gateway.unread(id, why).await {
                Some(error) => ClientReply::Message(error),
                None => ClientReply::Taken,
            };
        }
        let why = format!("the MCP server answered with status {}", reply.status);
        let error = gateway.lost(id, false, &why).await;
        match error.filter(|_| self.clients == Clients::Streams) {
            Some(error) => ClientReply::Message(error),
            None => ClientReply::Passed(reply),
        }
    }

    /// Forwards a message without an answer, or a call that a person has just approved. The answer
    /// to the latter goes to the stream of that call.
    async fn pass(
        self: &Arc<Self>,
        gateway: Arc<Gateway>,
        line: &str,
        headers: &HeaderMap,
    ) -> ClientReply {
        let released = Message::read(line).ok().filter(|message| message.method.is_some());
        let released = released.and_then(|message| message.id);
        let held = released.and_then(|id| Some((self.held().remove(&id)?, id)));
        let Some((to, id)) = held else {
            return match self.upstream.exchange(line, headers).await {
                Ok(reply) => ClientReply::Passed(unless_read(reply)),
                Err(error) => lost(&gateway, "", &error.to_string()).await,
            };
        };
        let (connection, line, headers) = (Arc::clone(self), line.to_owned(), headers.clone());
        tokio::spawn(async move {
            let last = match connection.ask(gateway, id, &line, &headers).await {
                ClientReply::Message(text) | ClientReply::Answer(_, text) => Some(Event::new(text)),
                ClientReply::Events(mut events) => {
                    while let Some(event) = events.next().await {
                        if to.send(event).await.is_err() {
                            break;
                        }
                    }
                    None
                }
                ClientReply::Taken | ClientReply::Passed(_) => None,
            };
            if let Some(event) = last {
                // Ignore errors: the client may be gone.
                to.send(event).await.ok();
            }
        });
        ClientReply::Taken
    }

    /// Forwards the server's messages for a request to the client, after a decision on each.
    async fn bring(
        self: Arc<Self>,
        gateway: Arc<Gateway>,
        id: String,
        mut flow: Flow,
        to: mpsc::Sender<Event>,
    ) {
        let (mut goes_on, mut why) =
            (false, "the MCP server closed the connection before it answered".to_owned());
        loop {
            let next = tokio::select! {
                next = flow.next() => next,
                () = to.closed(), if self.clients == Clients::Alone => {
                    drop(flow);
                    self.upstream.give_up(&id).await;
                    gateway.lost(&id, true, "the client stopped waiting").await;
                    return;
                }
            };
            let event = match next {
                None => break,
                Some(Ok(event)) => event,
                Some(Err(error)) => {
                    why = error.to_string();
                    break;
                }
            };
            // The client may resume the stream from here.
            goes_on |= event.id.is_some() && self.clients == Clients::Session;
            let Some(event) = decided(&gateway, event).await else { continue };
            let is_last = is_answer_to(&event.data, &id);
            if (to.send(event).await.is_err() && goes_on) || is_last {
                return;
            }
        }
        if goes_on {
            return;
        }
        if let Some(error) = gateway.lost(&id, false, &why).await {
            // Ignore errors: the client may be gone.
            to.send(Event::new(error)).await.ok();
        }
    }

    /// The server's unsolicited messages.
    pub(crate) async fn listen(
        self: &Arc<Self>,
        headers: &HeaderMap,
    ) -> Result<ClientReply, UpstreamError> {
        let mut reply = match self.clients {
            Clients::Streams => self.upstream.listen_whole(headers).await?,
            Clients::Session | Clients::Alone => self.upstream.listen(headers).await?,
        };
        let content = std::mem::replace(&mut reply.content, Content::Message(String::new()));
        let Content::Flow(mut flow) = content else {
            reply.content = content;
            return Ok(ClientReply::Passed(unless_read(reply)));
        };
        let (to, events) = mpsc::channel(WAITING);
        let connection = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                let next = tokio::select! {
                    next = flow.next() => next,
                    () = to.closed() => None,
                };
                let Some(Ok(event)) = next else { return };
                let Some(event) = decided(&connection.gateway, event).await else { continue };
                if to.send(event).await.is_err() {
                    return;
                }
            }
        });
        Ok(ClientReply::Events(ReplyEvents { head: Some(reply), first: None, rest: events }))
    }

    /// Closes the connection and everything still open. Returns the response of a server over HTTP.
    pub(crate) async fn end(&self, headers: &HeaderMap) -> Option<Reply> {
        self.gateway.end(true, "the client disconnected").await;
        self.upstream.close(headers).await.map(unless_read)
    }
}

/// A response to something that has no answer. A body that reports success is dropped, because no
/// gateway has inspected it.
fn unless_read(mut reply: Reply) -> Reply {
    let is_message = matches!(reply.content, Content::Message(_));
    if reply.status.is_success() || is_message && is_result(&reply.content) {
        reply.content = Content::Other(Bytes::new());
    }
    reply
}

/// The client's headers for a request of ours: without those that repeat the client's message.
fn own_headers(headers: &HeaderMap) -> HeaderMap {
    let mut own = headers.clone();
    let repeated = |name: &HeaderName| {
        matches!(name.as_str(), "mcp-name" | "content-length")
            || name.as_str().starts_with("mcp-param-")
    };
    let names: Vec<HeaderName> = own.keys().filter(|name| repeated(name)).cloned().collect();
    for name in names {
        own.remove(name);
    }
    if let Some(method) = own.get_mut("mcp-method") {
        *method = HeaderValue::from_static("tools/list");
    }
    own
}

/// Whether a response is or may contain a result. Errors can have any status.
fn is_result(content: &Content) -> bool {
    match content {
        Content::Message(text) => {
            Message::read(text).is_ok_and(|message| message.members.get("result").is_some())
        }
        Content::Flow(_) => true,
        Content::Other(_) => false,
    }
}

async fn decided(gateway: &Gateway, event: Event) -> Option<Event> {
    if event.data.is_empty() {
        return Some(event);
    }
    match gateway.from_server(&event.data).await {
        Some(data) => Some(Event { data, ..event }),
        // Its position in the stream still counts.
        None => event.id.is_some().then(|| Event { data: String::new(), ..event }),
    }
}

/// The reply to a request that did not reach the server.
async fn lost(gateway: &Gateway, id: &str, why: &str) -> ClientReply {
    match gateway.lost(id, false, why).await {
        Some(error) => ClientReply::Message(error),
        None => ClientReply::Message(crate::mcp::gone(why)),
    }
}

fn is_answer_to(text: &str, id: &str) -> bool {
    Message::read(text)
        .is_ok_and(|message| message.method.is_none() && message.id.as_deref() == Some(id))
}
