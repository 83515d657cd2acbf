//! One client's way to a server: what it says is decided upon, sent, and answered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hyper::HeaderMap;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::mcp::{Gateway, Message, Step};
use crate::upstream::{Content, Event, Flow, Reply, Upstream, UpstreamError};

/// Messages that wait for a client that reads slowly.
const WAITING: usize = 16;

impl ClientReply {
    /// The code of the error that this is.
    pub(crate) fn error_code(&self) -> Option<i64> {
        let (Self::Message(text) | Self::Answer(_, text)) = self else { return None };
        let error = Message::read(text).ok()?.members.get("error")?.get();
        serde_json::from_str::<Value>(error).ok()?.get("code")?.as_i64()
    }
}

/// Who speaks over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// One with a session over HTTP: it asks again for an answer that broke off.
    Session,
    /// All that have no session: each request stands alone, and a client that goes away gives it
    /// up. No message of one of them is about a request of another.
    Alone,
    /// One over streams, which does not know how the server is reached.
    Streams,
}

/// One client, or all that have no session.
pub(crate) struct ClientConnection {
    gateway: Arc<Gateway>,
    pub(crate) upstream: Upstream,
    clients: Clients,
    /// Who hears of a call that a person is asked about, by the client's id of it.
    held: Mutex<BTreeMap<String, mpsc::Sender<Event>>>,
    used: Mutex<Instant>,
}

/// What a client is told over time.
pub(crate) struct ReplyEvents {
    /// The head of the server's answer, where there is one.
    pub(crate) head: Option<Reply>,
    /// What came already.
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

/// What a client is answered.
pub(crate) enum ClientReply {
    /// This, at once.
    Message(String),
    /// Its message was taken, and there is no answer to it.
    Taken,
    /// What the server says of a message that has no answer, or the server's own refusal.
    Passed(Reply),
    /// An answer of the server that is one message.
    Answer(Reply, String),
    /// Messages over time.
    Events(ReplyEvents),
}

impl ClientConnection {
    pub(crate) fn new(gateway: Gateway, upstream: Upstream, clients: Clients) -> Self {
        let used = Mutex::new(Instant::now());
        let gateway = Arc::new(gateway);
        Self { gateway, upstream, clients, held: Mutex::default(), used }
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<String, mpsc::Sender<Event>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of the session in which its calls are recorded.
    pub(crate) fn gateway_session(&self) -> &str {
        self.gateway.session().id()
    }

    /// The schema of the tool that a message calls, where it is known.
    pub(crate) fn schema_of_call(&self, message: &Message<'_>) -> Option<Value> {
        self.gateway.schema_of_call(message)
    }

    /// When it was last used.
    pub(crate) fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a message of the client, and gives what it is answered.
    pub(crate) async fn take(self: &Arc<Self>, text: &str, headers: &HeaderMap) -> ClientReply {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let gateway = match self.clients {
            Clients::Alone => Arc::new(self.gateway.another()),
            Clients::Session | Clients::Streams => Arc::clone(&self.gateway),
        };
        let asked = Message::read(text).ok();
        let is_request = asked.as_ref().is_some_and(|m| m.method.is_some() && m.id.is_some());
        let is_answer = asked.as_ref().is_some_and(|m| m.method.is_none());
        let cancelled = asked.as_ref().and_then(Message::cancels);
        let id = asked.and_then(|message| message.id).unwrap_or_default();
        let step = gateway.from_client(text).await.into_iter().next();
        // Without a session each request stands alone, and ids are not its client's own.
        if let Some(cancelled) = cancelled.filter(|_| self.clients != Clients::Alone) {
            // Nobody waits there any more: its stream ends.
            self.held().remove(&cancelled);
            if step.is_some() {
                self.upstream.forget(&cancelled);
            }
        }
        match step {
            None => ClientReply::Taken,
            Some(Step::Answer(answer)) if is_answer => self.told(answer).await,
            Some(Step::Answer(answer)) => self.answer(&id, answer),
            Some(Step::Forward(line)) if is_request => self.ask(gateway, id, &line, headers).await,
            Some(Step::Forward(line)) => self.pass(gateway, &line, headers).await,
        }
    }

    /// What a client is told that was not sent to the server: an answer, or a question of ours.
    fn answer(&self, id: &str, text: String) -> ClientReply {
        let is_question = Message::read(&text).is_ok_and(|message| message.method.is_some());
        if !is_question {
            return ClientReply::Message(text);
        }
        let (to, events) = mpsc::channel(WAITING);
        // There is room: it is empty.
        to.try_send(Event::of(text)).ok();
        self.held().insert(id.to_owned(), to);
        ClientReply::Events(ReplyEvents { head: None, first: None, rest: events })
    }

    /// The end of a call that a person did not agree to: it is said where the call was made.
    async fn told(&self, answer: String) -> ClientReply {
        let id = Message::read(&answer).ok().and_then(|message| message.id);
        let held = id.and_then(|id| self.held().remove(&id));
        match held {
            Some(to) => {
                // A client that is gone is told nothing.
                to.send(Event::of(answer)).await.ok();
                ClientReply::Taken
            }
            None => ClientReply::Message(answer),
        }
    }

    /// A request of the client.
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
                // What comes over HTTP goes on in the form in which it came.
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

    /// One message as the answer of the server.
    async fn answered(&self, gateway: &Gateway, id: &str, reply: Reply, text: &str) -> ClientReply {
        let told = gateway.from_server(text).await;
        let why = format!("the MCP server answered something else ({})", reply.status);
        match (told, gateway.lost(id, false, &why).await) {
            // It answers something else, which a client over streams does not wait for.
            (_, Some(error)) if self.clients == Clients::Streams => ClientReply::Message(error),
            (Some(text), _) | (None, Some(text)) => ClientReply::Answer(reply, text),
            (None, None) => ClientReply::Taken,
        }
    }

    /// What is no message as the answer of the server.
    async fn refused(&self, gateway: &Gateway, id: &str, reply: Reply) -> ClientReply {
        let why = format!("the MCP server answered with status {}", reply.status);
        let error = gateway.lost(id, false, &why).await;
        match error.filter(|_| self.clients == Clients::Streams) {
            Some(error) => ClientReply::Message(error),
            None => ClientReply::Passed(reply),
        }
    }

    /// A message without an answer; or a call that a person agreed to just now, whose answer is said
    /// where the call was made.
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
                Ok(reply) => ClientReply::Passed(reply),
                Err(error) => lost(&gateway, "", &error.to_string()).await,
            };
        };
        let (connection, line, headers) = (Arc::clone(self), line.to_owned(), headers.clone());
        tokio::spawn(async move {
            let told = match connection.ask(gateway, id, &line, &headers).await {
                ClientReply::Message(text) | ClientReply::Answer(_, text) => Some(Event::of(text)),
                ClientReply::Events(mut told) => {
                    while let Some(event) = told.next().await {
                        if to.send(event).await.is_err() {
                            break;
                        }
                    }
                    None
                }
                ClientReply::Taken | ClientReply::Passed(_) => None,
            };
            if let Some(event) = told {
                // A client that is gone is told nothing.
                to.send(event).await.ok();
            }
        });
        ClientReply::Taken
    }

    /// Brings what the server says for a request to the client, each message decided upon.
    async fn bring(
        self: Arc<Self>,
        gateway: Arc<Gateway>,
        id: String,
        mut flow: Flow,
        to: mpsc::Sender<Event>,
    ) {
        let (mut goes_on, mut why) = (false, "the MCP server ended before it answered".to_owned());
        loop {
            let next = tokio::select! {
                next = flow.next() => next,
                () = to.closed(), if self.clients == Clients::Alone => {
                    drop(flow);
                    self.upstream.give_up(&id).await;
                    gateway.lost(&id, true, "the client no longer waits").await;
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
            // The client may ask for what comes later from this place on.
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
            // A client that is gone is told nothing.
            to.send(Event::of(error)).await.ok();
        }
    }

    /// What the server says without being asked.
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
            return Ok(ClientReply::Passed(reply));
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

    /// Ends it: what is still open is closed. Gives what a server over HTTP says to that.
    pub(crate) async fn end(&self, headers: &HeaderMap) -> Option<Reply> {
        self.gateway.end(true, "the client went away").await;
        self.upstream.close(headers).await
    }
}

/// Whether an answer is a result, or may have one in it. An error comes with any status.
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
        // Its place in the stream still counts.
        None => event.id.is_some().then(|| Event { data: String::new(), ..event }),
    }
}

/// What a client is told of a request that did not reach the server.
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
