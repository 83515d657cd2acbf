//! We as the client of an MCP server: for tools of a guard, and to look at what a server offers.

mod executor;
mod inspect;
mod questions;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::mcp::{Message, REVISION, code, request};
use crate::upstream::{Content, Reply, Server, Speech, Upstream, UpstreamError};

pub use executor::{McpExecutor, McpExecutorError};
pub use inspect::{Offer, inspect};
pub use questions::Elicits;
use questions::Questions;

/// The latest revision with sessions, and the one without.
const SESSIONS: &str = "2025-11-25";
const ALONE: &str = "2026-07-28";

/// The most pages of a list that are read.
const PAGES: usize = 100;

/// How long is waited for a stream on which a server says what it says by itself.
const READY: Duration = Duration::from_millis(500);

/// How often a call may ask for more before it is made.
const ROUNDS: usize = 8;

/// How a server is spoken to.
#[derive(Clone)]
pub struct Manner {
    /// How long each answer may take.
    pub limit: Duration,
    /// Who answers what the server asks of a person; nobody, if nothing is said.
    pub elicits: Option<Arc<dyn Elicits>>,
    /// The revision of the protocol; the server's choice, if nothing is said.
    pub revision: Option<String>,
}

impl Default for Manner {
    fn default() -> Self {
        Self { limit: Duration::from_secs(60), elicits: None, revision: None }
    }
}

/// A request to a server has no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The way there, or the server itself.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// It took too long.
    #[error("the MCP server did not answer `{method}` within {secs} s")]
    TooSlow {
        /// What was asked.
        method: String,
        /// How long it was waited for.
        secs: u64,
    },
    /// It ended, or its answer broke off.
    #[error("the MCP server ended before it answered `{0}`")]
    Ended(String),
    /// It answered with an error.
    #[error("the MCP server answered `{method}` with an error: {message}")]
    Refused {
        /// What was asked.
        method: String,
        /// The code of the error.
        code: i64,
        /// What it says.
        message: String,
        /// What it says beside that.
        data: Box<Value>,
    },
    /// It asks of a person what nobody here can answer.
    #[error("the MCP server asks something of a person, and nobody can be asked")]
    NobodyToAsk,
}

/// A connection to a server, as its only client.
pub(crate) struct Client {
    upstream: Arc<Upstream>,
    manner: Manner,
    /// Without sessions each request says what a session says once.
    alone: bool,
    speech: Speech,
    asked: AtomicU64,
    /// What the server said when it was greeted.
    greeting: Value,
    questions: Questions,
    /// Its list of tools is no longer what it was.
    changed: Arc<AtomicBool>,
    listening: Option<AbortHandle>,
}

/// A request that is under way: dropped, the server is told that nobody waits.
struct Asking<'c> {
    client: &'c Client,
    id: u64,
    answered: bool,
}

impl Client {
    /// Connects, and agrees with the server on how to speak.
    pub(crate) async fn connect(server: &Server, manner: &Manner) -> Result<Self, ClientError> {
        let begins_with_session = match (&manner.revision, server) {
            (Some(revision), _) => revision.as_str() < ALONE,
            // Many a process ends where the first message is none of its own.
            (None, Server::Command(_)) => true,
            (None, Server::Remote(_)) => false,
        };
        let mut client = Self::begin(server, manner, begins_with_session)?;
        let greeted = client.greet().await;
        let other = match &greeted {
            Err(ClientError::Refused { .. } | ClientError::Ended(_)) => manner.revision.is_none(),
            _ => false,
        };
        if other {
            client = Self::begin(server, manner, !begins_with_session)?;
            client.greet().await?;
        } else {
            greeted?;
        }
        client.listen().await;
        Ok(client)
    }

    fn begin(server: &Server, manner: &Manner, session: bool) -> Result<Self, ClientError> {
        let upstream = Arc::new(server.connect(false)?);
        let changed = Arc::new(AtomicBool::new(false));
        let questions = Questions::new(manner.elicits.clone());
        Ok(Self {
            upstream,
            manner: manner.clone(),
            alone: !session,
            speech: Speech::default(),
            asked: AtomicU64::new(0),
            greeting: Value::Null,
            questions,
            changed,
            listening: None,
        })
    }

    async fn greet(&mut self) -> Result<(), ClientError> {
        if self.alone {
            self.greeting = match self.request("server/discover", json!({}), None).await {
                // It may name this very revision.
                Err(ClientError::Refused { data, .. }) if names(&data, ALONE) => {
                    self.request("server/discover", json!({}), None).await?
                }
                answered => answered?,
            };
            return Ok(());
        }
        let revision = self.manner.revision.as_deref().unwrap_or(SESSIONS);
        let params = json!({
            "protocolVersion": revision,
            "capabilities": self.questions.capabilities(),
            "clientInfo": who(),
        });
        self.greeting = self.request("initialize", params, None).await?;
        let revision = self.greeting.get("protocolVersion").and_then(Value::as_str);
        self.speech.revision = revision.map(str::to_owned);
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.upstream.exchange(ready, &self.speech.listening()).await?;
        Ok(())
    }

    /// Hears what the server says by itself, where it does: from now on, so that nothing that a
    /// call makes it say is lost.
    async fn listen(&mut self) {
        if self.alone {
            return;
        }
        let (upstream, headers) = (Arc::clone(&self.upstream), self.speech.listening());
        let (questions, changed) = (self.questions.clone(), Arc::clone(&self.changed));
        let (hears, heard_from) = oneshot::channel();
        let listening = tokio::spawn(async move {
            let reply = upstream.listen_whole(&headers).await;
            // Nobody waits where that took long.
            hears.send(()).ok();
            let Ok(reply) = reply else { return };
            let Content::Flow(mut flow) = reply.content else { return };
            while let Some(Ok(event)) = flow.next().await {
                heard(&upstream, &questions, &changed, &headers, &event.data).await;
            }
        });
        self.listening = Some(listening.abort_handle());
        // A server may not answer at all before it has something to say.
        timeout(READY, heard_from).await.ok();
    }

    /// What the server said when it was greeted.
    pub(crate) fn greeting(&self) -> &Value {
        &self.greeting
    }

    /// The revision that is spoken.
    pub(crate) fn revision(&self) -> Option<&str> {
        if self.alone { Some(ALONE) } else { self.speech.revision.as_deref() }
    }

    /// Whether the server has said that its tools changed.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.upstream.has_ended()
    }

    /// Every tool, as the server lists them.
    pub(crate) async fn tools(&self) -> Result<Vec<Value>, ClientError> {
        let (mut tools, mut params) = (Vec::new(), json!({}));
        for _ in 0..PAGES {
            let page = self.request("tools/list", params, None).await?;
            let listed = page.get("tools").and_then(Value::as_array);
            tools.extend(listed.into_iter().flatten().cloned());
            match page.get("nextCursor").filter(|cursor| cursor.is_string()) {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        Ok(tools)
    }

    /// The result of a call. A server that asks for more first gets it, where somebody can be asked.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: &Value,
        schema: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let plain = json!({ "name": tool, "arguments": arguments });
        let mut params = plain.clone();
        for _ in 0..ROUNDS {
            let result = self.request("tools/call", params, schema).await?;
            if result.get("resultType").is_none_or(|kind| kind != "input_required") {
                return Ok(result);
            }
            params = plain.clone();
            let responses =
                self.questions.answered(&result).await.ok_or(ClientError::NobodyToAsk)?;
            if let Some(members) = params.as_object_mut() {
                members.insert("inputResponses".to_owned(), responses);
                let state = result.get("requestState").cloned();
                members.extend(state.map(|state| ("requestState".to_owned(), state)));
            }
        }
        Err(ClientError::NobodyToAsk)
    }

    /// The result of a request. `schema` is that of the tool that it calls.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        schema: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let id = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let text = request(&id.to_string(), method, &self.with_meta(params));
        let mut asking = Asking { client: self, id, answered: false };
        let answer = timeout(self.manner.limit, self.answer(&text, id, schema)).await;
        let secs = self.manner.limit.as_secs();
        let answer =
            answer.map_err(|_| ClientError::TooSlow { method: method.to_owned(), secs })?;
        asking.answered = true;
        let answer = match answer {
            Err(ClientError::Upstream(UpstreamError::Ended)) => None,
            answer => answer?,
        };
        let mut answer = answer.ok_or_else(|| ClientError::Ended(method.to_owned()))?;
        if let Some(result) = answer.get_mut("result") {
            return Ok(result.take());
        }
        let of = |at: &str| answer.pointer(at).cloned().unwrap_or_default();
        Err(ClientError::Refused {
            method: method.to_owned(),
            code: of("/error/code").as_i64().unwrap_or_default(),
            message: of("/error/message").as_str().unwrap_or_default().to_owned(),
            data: Box::new(of("/error/data")),
        })
    }

    fn with_meta(&self, mut params: Value) -> Value {
        if let (true, Some(members)) = (self.alone, params.as_object_mut()) {
            let meta = json!({
                REVISION: ALONE,
                "io.modelcontextprotocol/clientCapabilities": self.questions.capabilities(),
                "io.modelcontextprotocol/clientInfo": who(),
            });
            members.insert("_meta".to_owned(), meta);
        }
        params
    }

    /// The answer to a request, whole; what the server says meanwhile is heard.
    async fn answer(
        &self,
        text: &str,
        id: u64,
        schema: Option<&Value>,
    ) -> Result<Option<Value>, ClientError> {
        let unreadable = |error: serde_json::Error| UpstreamError::Unreadable(error.to_string());
        let message = Message::read(text).map_err(unreadable)?;
        let headers = self.speech.headers(&message, schema);
        let Reply { status, content, .. } = self.upstream.exchange_whole(text, &headers).await?;
        match content {
            Content::Message(text) => Ok(Some(serde_json::from_str(&text).map_err(unreadable)?)),
            Content::Other(_) if status.is_success() => Ok(None),
            Content::Other(_) => Ok(Some(json!({ "error": {
                "code": status.as_u16(), "message": format!("status {status}") } }))),
            Content::Flow(mut flow) => {
                while let Some(event) = flow.next().await {
                    let event = event?;
                    if let Some(answer) = answer_to(&event.data, id) {
                        return Ok(Some(answer));
                    }
                    let (upstream, questions) = (&self.upstream, &self.questions);
                    heard(upstream, questions, &self.changed, &headers, &event.data).await;
                }
                Ok(None)
            }
        }
    }

    pub(crate) async fn close(&self) {
        // A server that is gone already has no session to end.
        self.upstream.close(&self.speech.listening()).await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let (upstream, headers) =
            (Arc::clone(&self.client.upstream), self.client.speech.listening());
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
            self.id
        );
        upstream.forget(&self.id.to_string());
        // Over HTTP without sessions a dropped answer says it.
        let says = !self.client.alone || matches!(*upstream, Upstream::Process(_));
        if let (true, Ok(runtime)) = (says, tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { upstream.exchange(&text, &headers).await.map(drop) });
        }
    }
}

/// Who we are.
fn who() -> Value {
    json!({ "name": "counterfoil", "version": env!("CARGO_PKG_VERSION") })
}

fn names(data: &Value, revision: &str) -> bool {
    let supported = data.get("supported").and_then(Value::as_array);
    supported.is_some_and(|supported| supported.iter().any(|known| known == revision))
}

fn answer_to(text: &str, id: u64) -> Option<Value> {
    let message = Message::read(text).ok()?;
    let ours = message.method.is_none() && message.id == Some(id.to_string().as_str());
    if ours { serde_json::from_str(text).ok() } else { None }
}

/// Takes note of what a server says by itself, and answers what it asks.
async fn heard(
    upstream: &Arc<Upstream>,
    questions: &Questions,
    changed: &AtomicBool,
    headers: &hyper::HeaderMap,
    text: &str,
) {
    let Ok(message) = Message::read(text) else { return };
    let Some(method) = &message.method else { return };
    let Some(id) = message.id.map(str::to_owned) else {
        if method == "notifications/tools/list_changed" {
            changed.store(true, Ordering::Relaxed);
        }
        return;
    };
    let params = message.params().and_then(|raw| serde_json::from_str(raw.get()).ok());
    let (upstream, questions) = (Arc::clone(upstream), questions.clone());
    let (headers, method) = (headers.clone(), method.clone());
    // A person may take long: the server goes on meanwhile.
    tokio::spawn(async move {
        let answer = match questions.answer(&method, params.unwrap_or(Value::Null)).await {
            Some(result) => crate::mcp::result(&id, &result),
            None => {
                let what = format!("this client does not answer `{method}`");
                crate::mcp::error(Some(&id), code::METHOD_NOT_FOUND, &what)
            }
        };
        upstream.exchange(&answer, &headers).await.map(drop)
    });
}
