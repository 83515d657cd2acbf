//! Serves a client over standard streams, in front of a server that is reached in another way.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::HeaderMap;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::connection::{ClientConnection, ClientReply, Clients};
use crate::mcp::{Gateway, Line, Lines, Message, code, error, parts, write_message};
use crate::upstream::{Event, RequestHeaders, Server, UpstreamError};

/// Capacity of the message queue for a client that reads slowly.
const WAITING: usize = 64;

/// How long open requests may continue after the client has closed its input.
const GRACE: Duration = Duration::from_secs(5);

/// Relays between a client over streams and a server until the client disconnects or `stop`
/// completes.
///
/// # Errors
/// When the server cannot be reached.
pub async fn relay_to(
    server: &Server,
    gateway: Gateway,
    (input, mut output): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    stop: impl Future<Output = ()>,
) -> Result<(), UpstreamError> {
    let connection =
        Arc::new(ClientConnection::new(gateway, server.connect(false)?, Clients::Streams));
    let (to, mut outgoing) = mpsc::channel(WAITING);
    let client = Client { connection, headers: Mutex::default(), to };
    let client = Arc::new(client);
    let reading = read(Arc::clone(&client), input);
    let writing = async {
        while let Some(text) = outgoing.recv().await {
            if write_message(&mut output, &text).await.is_err() {
                return;
            }
        }
    };
    tokio::pin!(reading);
    tokio::select! {
        () = &mut reading => {}
        () = writing => {}
        () = stop => {}
    }
    let headers = client.headers().listening();
    client.connection.end(&headers).await;
    // Messages that arrived meanwhile, as long as the client reads them.
    while let Ok(text) = outgoing.try_recv() {
        if write_message(&mut output, &text).await.is_err() {
            break;
        }
    }
    Ok(())
}

struct Client {
    connection: Arc<ClientConnection>,
    headers: Mutex<RequestHeaders>,
    /// Messages for the client.
    to: mpsc::Sender<String>,
}

/// Reads the client's messages. Requests run concurrently; messages without an answer keep their
/// order.
async fn read(client: Arc<Client>, input: impl AsyncRead + Unpin) {
    let mut lines = Lines::new(input);
    let mut running = JoinSet::new();
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            Some(_) = running.join_next(), if !running.is_empty() => continue,
        };
        let text = match line {
            Ok(Some(Line::Text(text))) => text,
            Ok(Some(Line::Unreadable(why, found))) => {
                client.tell(found.refusal(why)).await;
                continue;
            }
            Ok(None) | Err(_) => break,
        };
        let Ok(parts) = parts(&text) else {
            client.tell(error(None, code::PARSE_ERROR, "the batch is not JSON")).await;
            continue;
        };
        for part in parts {
            let kind = Message::read(part).map(|m| (m.method.clone(), m.id.is_some()));
            match kind {
                Ok((Some(method), true)) if method != "initialize" => {
                    let (client, part) = (Arc::clone(&client), part.to_owned());
                    running.spawn(async move { client.take(&part).await });
                }
                Ok((Some(method), false)) if method == "notifications/initialized" => {
                    client.take(part).await;
                    tokio::spawn(Arc::clone(&client).listen());
                }
                _ => client.take(part).await,
            }
        }
    }
    let rest = async { while running.join_next().await.is_some() {} };
    // Requests that are still open are then closed as abandoned.
    timeout(GRACE, rest).await.ok();
}

impl Client {
    fn headers(&self) -> RequestHeaders {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends the client a message, unless it no longer reads.
    async fn tell(&self, text: String) {
        self.to.send(text).await.ok();
    }

    async fn take(&self, text: &str) {
        let headers = match Message::read(text) {
            Ok(message) => {
                let schema = self.connection.schema_of_call(&message);
                self.headers().headers(&message, schema.as_ref())
            }
            Err(_) => HeaderMap::new(),
        };
        let begins = Message::read(text)
            .is_ok_and(|message| message.method.as_deref() == Some("initialize"));
        match self.connection.take(text, &headers).await {
            ClientReply::Taken => {}
            ClientReply::Passed(reply) if reply.status.is_success() => {}
            ClientReply::Passed(reply) => {
                tracing::warn!("the MCP server rejected a message: {}", reply.status);
            }
            ClientReply::Message(text) | ClientReply::Answer(_, text) => {
                if begins {
                    self.agreed(&text);
                }
                self.tell(text).await;
            }
            ClientReply::Events(mut events) => {
                while let Some(event) = events.next().await {
                    if begins {
                        self.agreed(&event.data);
                    }
                    self.forward(event).await;
                }
            }
        }
    }

    /// Records the revision in the server's answer.
    fn agreed(&self, text: &str) {
        let answer: Option<Value> = serde_json::from_str(text).ok();
        let revision = answer.as_ref().and_then(|answer| answer.pointer("/result/protocolVersion"));
        let Some(revision) = revision.and_then(Value::as_str).map(str::to_owned) else { return };
        self.headers.lock().unwrap_or_else(PoisonError::into_inner).revision = Some(revision);
    }

    /// Forwards the server's unsolicited messages, if there are any.
    async fn listen(self: Arc<Self>) {
        let headers = self.headers().listening();
        let Ok(ClientReply::Events(mut events)) = self.connection.listen(&headers).await else {
            return;
        };
        while let Some(event) = events.next().await {
            self.forward(event).await;
        }
    }

    /// Forwards an event; one without data only marks a position in its stream.
    async fn forward(&self, event: Event) {
        if !event.data.is_empty() {
            self.tell(event.data).await;
        }
    }
}
