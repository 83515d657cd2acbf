//! We as the client of an MCP server: for tools of a guard, and to look at what a server offers.

mod executor;
mod followed;
mod inspect;
mod listening;
mod questions;
mod reconnecting;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_formats::read_lenient;
use counterfoil_guard::Progress;
use counterfoil_model::ExactValue;
use hyper::HeaderMap;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::mcp::{CAPABILITIES, Members, Message, REVISION, error, request_raw};
use crate::upstream::{Content, Reply, RequestHeaders, Server, Upstream, UpstreamError};

pub use executor::{McpExecutor, McpExecutorError};
use followed::Followed;
pub use inspect::{Offer, inspect};
use listening::ServerListener;
pub use questions::Elicits;
pub(crate) use questions::{Questions, Responder};
pub(crate) use reconnecting::{AwayError, Reconnecting};

/// The latest revision with sessions, and the one without.
const SESSIONS: &str = "2025-11-25";
pub(crate) const ALONE: &str = "2026-07-28";

/// The most pages of a list that are read.
const PAGES: usize = 100;

/// How the names begin with which a request says what a session says once.
const OWN: &str = "io.modelcontextprotocol/";

/// How long is waited for a stream on which a server says what it says by itself.
const READY: Duration = Duration::from_millis(500);

/// How often a call may ask for more before it is made.
const ROUNDS: usize = 8;

/// How a server is spoken to.
#[derive(Clone)]
pub struct ClientOptions {
    /// How long each answer may take.
    pub limit: Duration,
    /// The revision of the protocol; the server's choice, if nothing is said.
    pub revision: Option<String>,
    /// Who answers what the server asks.
    pub(crate) questions: Questions,
    /// Who hears what the server says by itself.
    pub(crate) hears: Option<mpsc::Sender<String>>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        let limit = Duration::from_secs(60);
        Self { limit, revision: None, questions: Questions::Nobody, hears: None }
    }
}

impl ClientOptions {
    /// With so long for each answer.
    #[must_use]
    pub fn within(limit: Duration) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The same, with somebody who answers what the server asks of a person.
    #[must_use]
    pub fn eliciting(self, elicits: Arc<dyn Elicits>) -> Self {
        Self { questions: Questions::Person(elicits), ..self }
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
    options: ClientOptions,
    /// Without sessions each request says what a session says once.
    alone: bool,
    headers: RequestHeaders,
    asked: AtomicU64,
    /// What the server said when it was greeted.
    greeting: Value,
    /// Its list of tools is no longer what it was.
    changed: Arc<AtomicBool>,
    listening: Mutex<Option<AbortHandle>>,
    /// Without a session: the resources of whose changes it hears.
    subscribed: Mutex<BTreeSet<String>>,
    /// Without a session: from which level on it hears what is logged.
    level: Mutex<Option<String>>,
    /// Who is asked during a call, by its id.
    asks: Arc<Mutex<BTreeMap<u64, Arc<dyn Responder>>>>,
    /// Who is told how far a call is, by its token.
    followed: Followed,
    /// Of tools that want to see arguments in headers.
    schemas: Mutex<BTreeMap<String, Value>>,
}

/// A request that is under way: dropped, the server is told that nobody waits.
struct Asking<'c> {
    client: &'c Client,
    id: u64,
    answered: bool,
}

/// What `tools/call` says. The arguments keep every number as the model wrote it.
#[derive(Serialize)]
struct CallParams<'c> {
    name: &'c str,
    arguments: &'c ExactValue,
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
    #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
    responses: Option<Value>,
    #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
    state: Option<Value>,
}

impl Client {
    /// Connects, and agrees with the server on how to speak.
    pub(crate) async fn connect(
        server: &Server,
        options: &ClientOptions,
    ) -> Result<Self, ClientError> {
        let begins_with_session = match (&options.revision, server) {
            (Some(revision), _) => revision.as_str() < ALONE,
            // Many a process ends where the first message is none of its own.
            (None, Server::Command(_)) => true,
            (None, Server::Remote(_) | Server::Several(_) | Server::Bridged(_)) => false,
        };
        let mut client = Self::begin(server, options, begins_with_session)?;
        let greeted = client.greet().await;
        let other = match &greeted {
            Err(ClientError::Refused { .. } | ClientError::Ended(_)) => options.revision.is_none(),
            _ => false,
        };
        if other {
            client = Self::begin(server, options, !begins_with_session)?;
            client.greet().await?;
        } else {
            greeted?;
        }
        client.listen().await;
        Ok(client)
    }

    fn begin(server: &Server, options: &ClientOptions, session: bool) -> Result<Self, ClientError> {
        let upstream = Arc::new(server.connect(false)?);
        let changed = Arc::new(AtomicBool::new(false));
        Ok(Self {
            upstream,
            options: options.clone(),
            alone: !session,
            headers: RequestHeaders::default(),
            asked: AtomicU64::new(0),
            greeting: Value::Null,
            changed,
            listening: Mutex::default(),
            subscribed: Mutex::default(),
            level: Mutex::default(),
            asks: Arc::default(),
            followed: Followed::default(),
            schemas: Mutex::default(),
        })
    }

    async fn greet(&mut self) -> Result<(), ClientError> {
        if self.alone {
            self.greeting = match self.request("server/discover", json!({})).await {
                // It may name this very revision.
                Err(ClientError::Refused { data, .. }) if names(&data, ALONE) => {
                    self.request("server/discover", json!({})).await?
                }
                answered => answered?,
            };
            return Ok(());
        }
        let revision = self.options.revision.as_deref().unwrap_or(SESSIONS);
        let params = json!({
            "protocolVersion": revision,
            "capabilities": self.options.questions.capabilities(),
            "clientInfo": who(),
        });
        self.greeting = self.request("initialize", params).await?;
        let revision = self.greeting.get("protocolVersion").and_then(Value::as_str);
        self.headers.revision = revision.map(str::to_owned);
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.upstream.exchange(ready, &self.headers.listening()).await?;
        Ok(())
    }

    fn listening(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        lock(&self.listening)
    }

    fn subscribed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        lock(&self.subscribed)
    }

    fn level(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.level)
    }

    fn next_id(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn listener(&self, headers: HeaderMap, questions: Questions) -> ServerListener {
        ServerListener {
            upstream: Arc::clone(&self.upstream),
            questions,
            asks: Arc::clone(&self.asks),
            followed: self.followed.clone(),
            changed: Arc::clone(&self.changed),
            headers,
        }
    }

    /// What the server said when it was greeted.
    pub(crate) fn greeting(&self) -> &Value {
        &self.greeting
    }

    /// The revision that is spoken.
    pub(crate) fn revision(&self) -> Option<&str> {
        if self.alone { Some(ALONE) } else { self.headers.revision.as_deref() }
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
        let listed = self.listed("tools/list", "tools").await?;
        let tools = listed.iter().map(|text| read_lenient(text.as_bytes()));
        let tools = tools.collect::<Result<_, _>>();
        Ok(tools.map_err(unreadable)?)
    }

    /// Every entry of a list, page by page, as it is written; `member` is where it is in a page.
    pub(crate) async fn listed(
        &self,
        method: &str,
        member: &str,
    ) -> Result<Vec<String>, ClientError> {
        let (mut all, mut params) = (Vec::new(), "{}".to_owned());
        for _ in 0..PAGES {
            let page = self.request_raw(method, &params, None, None).await?;
            let page: Members<'_> = serde_json::from_str(page.get()).map_err(unreadable)?;
            let listed = page.get(member).map_or("[]", RawValue::get);
            let listed: Vec<&RawValue> = serde_json::from_str(listed).map_err(unreadable)?;
            listed.iter().for_each(|raw| self.note(raw.get()));
            all.extend(listed.into_iter().map(|raw| raw.get().to_owned()));
            match page.get("nextCursor").map(RawValue::get).filter(|cursor| *cursor != "null") {
                Some(cursor) => params = format!(r#"{{"cursor":{cursor}}}"#),
                None => return Ok(all),
            }
        }
        tracing::warn!("`{method}` has more than {PAGES} pages: the rest is left out");
        Ok(all)
    }

    /// Keeps the schema of a tool that wants to see arguments in headers.
    fn note(&self, listed: &str) {
        if !listed.contains("x-mcp-header") {
            return;
        }
        let tool: Value = serde_json::from_str(listed).unwrap_or_default();
        if let (Some(name), Some(schema)) =
            (tool.get("name").and_then(Value::as_str), tool.get("inputSchema"))
        {
            self.schemas().insert(name.to_owned(), schema.clone());
        }
    }

    fn schemas(&self) -> MutexGuard<'_, BTreeMap<String, Value>> {
        lock(&self.schemas)
    }

    fn schema_of(&self, message: &Message<'_>) -> Option<Value> {
        let schemas = self.schemas();
        if schemas.is_empty() {
            return None;
        }
        let params: Members<'_> = serde_json::from_str(message.params()?.get()).ok()?;
        let name: String = serde_json::from_str(params.get("name")?.get()).ok()?;
        schemas.get(&name).cloned()
    }

    /// Whether each request stands alone.
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Whether the server said that it has this.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        self.greeting.get("capabilities").is_some_and(|able| able.get(capability).is_some())
    }

    /// The result of a call. A server that asks for more first gets it, where somebody can be asked.
    /// `meta`: what the call says beside it; `progress`: who is told how far it is.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: &ExactValue,
        mut meta: Map<String, Value>,
        progress: &Progress,
    ) -> Result<Value, ClientError> {
        let following = self.followed.begin(self.next_id(), progress);
        if let Some(following) = &following {
            meta.insert("progressToken".to_owned(), following.token.into());
        }
        let mut params = CallParams { name: tool, arguments, meta, responses: None, state: None };
        for _ in 0..ROUNDS {
            let text = serde_json::to_string(&params).map_err(unreadable)?;
            let result = self.request_raw("tools/call", &text, None, None).await?;
            let result: Value = serde_json::from_str(result.get()).map_err(unreadable)?;
            if result.get("resultType").is_none_or(|kind| kind != "input_required") {
                return Ok(result);
            }
            let responses = self.options.questions.answered(&result).await;
            params.responses = Some(responses.ok_or(ClientError::NobodyToAsk)?);
            params.state = result.get("requestState").cloned();
        }
        Err(ClientError::NobodyToAsk)
    }

    /// The result of a request.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, ClientError> {
        let result = self.request_raw(method, &params.to_string(), None, None).await?;
        Ok(read_lenient(result.get().as_bytes()).map_err(unreadable)?)
    }

    /// The same with params and result as they are written. Notifications that come with the answer
    /// go to `hears`, and what the server asks meanwhile to `asks`, if not to whoever is asked else.
    pub(crate) async fn request_raw(
        &self,
        method: &str,
        params: &str,
        hears: Option<&mpsc::Sender<String>>,
        asks: Option<&Arc<dyn Responder>>,
    ) -> Result<Box<RawValue>, ClientError> {
        let id = self.next_id();
        let text = request_raw(&id.to_string(), method, &self.with_meta(params));
        let mut asking = Asking { client: self, id, answered: false };
        if let Some(asks) = asks {
            lock(&self.asks).insert(id, Arc::clone(asks));
        }
        let questions = match asks {
            Some(asks) => Questions::Client(Arc::clone(asks)),
            None => self.options.questions.clone(),
        };
        let answering = self.answer(&text, id, hears, &questions);
        tokio::pin!(answering);
        let answer = loop {
            match timeout(self.options.limit, &mut answering).await {
                Ok(answer) => break answer,
                // It is not the server that takes long.
                Err(_) if questions.are_waiting() => {}
                Err(_) => {
                    let secs = self.options.limit.as_secs();
                    return Err(ClientError::TooSlow { method: method.to_owned(), secs });
                }
            }
        };
        asking.answered = true;
        let answer = match answer {
            Err(ClientError::Upstream(UpstreamError::Ended)) => None,
            answer => answer?,
        };
        let answer = answer.ok_or_else(|| ClientError::Ended(method.to_owned()))?;
        let message = Message::read(&answer).map_err(unreadable)?;
        if let Some(result) = message.members.get("result") {
            return Ok(result.to_owned());
        }
        let error = message.members.get("error").map_or("null", RawValue::get);
        let mut error: Value = read_lenient(error.as_bytes()).map_err(unreadable)?;
        Err(ClientError::Refused {
            method: method.to_owned(),
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
            data: Box::new(error.get_mut("data").map(Value::take).unwrap_or_default()),
        })
    }

    /// Params with what each request says on this wire, and without what it says on the other one.
    fn with_meta(&self, params: &str) -> String {
        let Ok(members) = serde_json::from_str::<Members<'_>>(params) else {
            return params.to_owned();
        };
        let meta = members.get("_meta").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let mut meta: Map<String, Value> = meta.unwrap_or_default();
        if !self.alone && !meta.keys().any(|name| name.starts_with(OWN)) {
            return params.to_owned();
        }
        meta.retain(|name, _| self.alone || !name.starts_with(OWN));
        if self.alone {
            meta.insert(REVISION.to_owned(), ALONE.into());
            // A client of ours on the same wire says this itself.
            let able = || self.options.questions.capabilities();
            meta.entry(CAPABILITIES).or_insert_with(able);
            meta.entry(format!("{OWN}clientInfo")).or_insert_with(who);
            if let Some(level) = self.level().clone() {
                meta.insert(format!("{OWN}logLevel"), level.into());
            }
        }
        members.with("_meta", &Value::Object(meta).to_string())
    }

    /// The answer to a request, whole; what the server says meanwhile is heard.
    async fn answer(
        &self,
        text: &str,
        id: u64,
        hears: Option<&mpsc::Sender<String>>,
        questions: &Questions,
    ) -> Result<Option<String>, ClientError> {
        let message = Message::read(text).map_err(unreadable)?;
        let headers = self.headers.headers(&message, self.schema_of(&message).as_ref());
        let Reply { status, content, .. } = self.upstream.exchange_whole(text, &headers).await?;
        match content {
            Content::Message(text) => Ok(Some(text)),
            Content::Other(_) if status.is_success() => Ok(None),
            Content::Other(_) => {
                let code = i32::from(status.as_u16());
                Ok(Some(error(None, code, &format!("status {status}"))))
            }
            Content::Flow(mut flow) => {
                while let Some(event) = flow.next().await {
                    let event = event?;
                    if is_answer_to(&event.data, id) {
                        return Ok(Some(event.data));
                    }
                    let listener = self.listener(headers.clone(), questions.clone());
                    listener.heard(&event.data, hears).await;
                }
                Ok(None)
            }
        }
    }

    pub(crate) async fn close(&self) {
        // A server that is gone already has no session to end.
        self.upstream.close(&self.headers.listening()).await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(listening) = self.listening().take() {
            listening.abort();
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        lock(&self.client.asks).remove(&self.id);
        if self.answered {
            return;
        }
        let (upstream, headers) =
            (Arc::clone(&self.client.upstream), self.client.headers.listening());
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

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who we are.
fn who() -> Value {
    json!({ "name": "counterfoil", "version": env!("CARGO_PKG_VERSION") })
}

fn names(data: &Value, revision: &str) -> bool {
    let supported = data.get("supported").and_then(Value::as_array);
    supported.is_some_and(|supported| supported.iter().any(|known| known == revision))
}

fn is_answer_to(text: &str, id: u64) -> bool {
    let ours =
        |message: Message<'_>| message.method.is_none() && message.id == Some(id.to_string());
    Message::read(text).is_ok_and(ours)
}

fn unreadable(error: serde_json::Error) -> UpstreamError {
    UpstreamError::Unreadable(error.to_string())
}
