//! An MCP client, for using a server's tools in a guard and for inspecting servers.

mod error;
mod executor;
mod followed;
mod inspect;
mod listening;
mod lock;
mod questions;
mod reconnecting;
mod revision;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use counterfoil_formats::read_lenient;
use counterfoil_guard::Progress;
use counterfoil_model::ExactValue;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::mcp::{CAPABILITIES, Members, Message, REVISION, error, in_the_name_of, request_raw};
use crate::upstream::{Content, Reply, RequestHeaders, Server, Upstream, UpstreamError};

pub(crate) use error::AwayError;
pub use error::ClientError;
pub use executor::{McpExecutor, McpExecutorError};
use followed::Followed;
pub use inspect::{Offer, inspect};
use lock::lock;
pub use questions::Elicits;
pub(crate) use questions::{Questions, Responder};
pub(crate) use reconnecting::Reconnecting;
pub(crate) use revision::ALONE;
use revision::SESSIONS;

/// Maximum number of pages of a list that are read.
const PAGES: usize = 100;

/// Prefix of the metadata that replaces a session in each request.
const OWN: &str = "io.modelcontextprotocol/";

/// How long to wait for the stream of unsolicited messages.
const READY: Duration = Duration::from_millis(500);

/// Maximum number of times a call may ask for input before it is made.
const ROUNDS: usize = 8;

/// Options for connecting to a server.
#[derive(Clone)]
pub struct ClientOptions {
    /// The time limit for each answer.
    pub limit: Duration,
    /// The protocol revision; negotiated with the server if `None`.
    pub revision: Option<String>,
    /// Answers the server's questions.
    pub(crate) questions: Questions,
    /// Receives the server's unsolicited messages.
    pub(crate) hears: Option<mpsc::Sender<String>>,
    /// The server's name, with which its questions to a person begin when they are passed on.
    pub(crate) asks_as: Option<String>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        let limit = Duration::from_secs(60);
        let questions = Questions::NoOne;
        Self { limit, revision: None, questions, hears: None, asks_as: None }
    }
}

impl ClientOptions {
    /// Options with this time limit for each answer.
    #[must_use]
    pub fn within(limit: Duration) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Adds a handler for the server's questions to a person.
    #[must_use]
    pub fn eliciting(self, elicits: Arc<dyn Elicits>) -> Self {
        Self { questions: Questions::Person(elicits), ..self }
    }

    /// A message of the server as it is passed on: if the server's name is known here, each
    /// question to a person begins with it.
    ///
    /// # Errors
    /// When a question cannot be read, so that it is unknown what a person would see.
    fn attributed<'m>(&self, message: &'m str) -> Result<Cow<'m, str>, UpstreamError> {
        let Some(name) = &self.asks_as else { return Ok(Cow::Borrowed(message)) };
        let why = |why| UpstreamError::Unreadable(format!("`{name}`: {why}"));
        let attributed = in_the_name_of(name, message).map_err(why)?;
        Ok(attributed.map_or(Cow::Borrowed(message), Cow::Owned))
    }
}

/// A connection to a server, as its only client.
pub(crate) struct Client {
    upstream: Arc<Upstream>,
    options: ClientOptions,
    /// Whether there are no sessions, so that each request carries the session's metadata.
    alone: bool,
    headers: RequestHeaders,
    requests: AtomicU64,
    /// The server's greeting.
    greeting: Value,
    /// Whether the server's list of tools has changed.
    changed: Arc<AtomicBool>,
    listening: Mutex<Option<AbortHandle>>,
    /// Without a session: the resources whose changes are subscribed to.
    subscribed: Mutex<BTreeSet<String>>,
    /// Without a session: the minimum level of log messages.
    level: Mutex<Option<String>>,
    /// Responders for questions during calls, by call id.
    asks: Arc<Mutex<BTreeMap<u64, Arc<dyn Responder>>>>,
    /// Followers of calls, by progress token.
    followed: Followed,
    /// Schemas of tools that want arguments in headers.
    schemas: Mutex<BTreeMap<String, Value>>,
}

/// A request in progress. If it is dropped, the server is told that it was cancelled.
struct Asking<'c> {
    client: &'c Client,
    id: u64,
    answered: bool,
}

/// The parameters of `tools/call`. The arguments keep every number as the model wrote it.
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
    /// Connects and negotiates the protocol with the server.
    pub(crate) async fn connect(
        server: &Server,
        options: &ClientOptions,
    ) -> Result<Self, ClientError> {
        let begins_with_session = match (&options.revision, server) {
            (Some(revision), _) => revision.as_str() < ALONE,
            // Many processes exit if the first message is not one they know.
            (None, Server::Command(_)) => true,
            (
                None,
                Server::Remote(_) | Server::Unset(_) | Server::Several(_) | Server::Bridged(_),
            ) => false,
        };
        let mut client = Self::begin(server, options, begins_with_session)?;
        let greeted = client.greet().await;
        let other = match &greeted {
            Err(ClientError::Refused { .. } | ClientError::Ended { .. }) => {
                options.revision.is_none()
            }
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
            requests: AtomicU64::new(0),
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
                // It may list this very revision as supported.
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
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The server's greeting.
    pub(crate) fn greeting(&self) -> &Value {
        &self.greeting
    }

    /// The protocol revision in use.
    pub(crate) fn revision(&self) -> Option<&str> {
        if self.alone { Some(ALONE) } else { self.headers.revision.as_deref() }
    }

    /// Whether the server has announced that its tools changed since this was last asked.
    pub(crate) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }

    /// Notes that the server's tools have changed since they were listed.
    pub(crate) fn note_changed(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.upstream.has_ended()
    }

    /// All tools, as the server lists them.
    pub(crate) async fn tools(&self) -> Result<Vec<Value>, ClientError> {
        let listed = self.listed("tools/list", "tools").await?;
        let tools = listed.iter().map(|text| read_lenient(text.as_bytes()));
        let tools = tools.collect::<Result<_, _>>();
        Ok(tools.map_err(unreadable)?)
    }

    /// All entries of a paginated list, verbatim. `member` is the member of each page that contains
    /// them.
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
        tracing::warn!("`{method}` has more than {PAGES} pages: the rest is ignored");
        Ok(all)
    }

    /// Stores the schema of a tool that wants arguments in headers.
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

    /// Whether there are no sessions.
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Whether the server declared this capability.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        self.greeting.get("capabilities").is_some_and(|able| able.get(capability).is_some())
    }

    /// Makes a call and returns its result. If the server asks for input first, it is provided if
    /// possible. `meta` is the metadata of the call; `progress` receives its progress.
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
            params.responses = Some(responses.ok_or(ClientError::NoOneToAsk)?);
            params.state = result.get("requestState").cloned();
        }
        Err(ClientError::NoOneToAsk)
    }

    /// Sends a request and returns its result.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, ClientError> {
        let result = self.request_raw(method, &params.to_string(), None, None).await?;
        Ok(read_lenient(result.get().as_bytes()).map_err(unreadable)?)
    }

    /// Like [`Client::request`], with verbatim parameters and result. Notifications that arrive
    /// with the answer go to `hears`. Questions during the request go to `asks`, or else to the
    /// usual responder.
    pub(crate) async fn request_raw(
        &self,
        method: &str,
        params: &str,
        hears: Option<&mpsc::Sender<String>>,
        asks: Option<&Arc<dyn Responder>>,
    ) -> Result<Box<RawValue>, ClientError> {
        let id = self.next_id();
        let renamed = hears.and_then(|_| self.followed.renamed(id, params));
        let params = renamed.as_ref().map_or(params, |(params, _)| params);
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
                // The delay is not the server's.
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
        let Some(answer) = answer else {
            let code = self.upstream.exit_code().await;
            return Err(ClientError::Ended { method: method.to_owned(), code });
        };
        let answer = self.options.attributed(&answer)?;
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

    /// The parameters with the metadata of this protocol, and without that of the other one.
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
            // If the client already provided it, keep its own.
            let able = || self.options.questions.capabilities();
            meta.entry(CAPABILITIES).or_insert_with(able);
            meta.entry(format!("{OWN}clientInfo")).or_insert_with(who);
            if let Some(level) = self.level().clone() {
                meta.insert(format!("{OWN}logLevel"), level.into());
            }
        }
        members.with("_meta", &Value::Object(meta).to_string())
    }

    /// Sends a request and returns its complete answer; other messages of the server are handled
    /// meanwhile.
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
        // A server that is gone has no session to end.
        self.upstream.close(&self.headers.listening()).await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(task) = self.listening().take() {
            task.abort();
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
        // Over HTTP without sessions, dropping the response is enough.
        let says = !self.client.alone || matches!(*upstream, Upstream::Process(_));
        if let (true, Ok(runtime)) = (says, tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { upstream.exchange(&text, &headers).await.map(drop) });
        }
    }
}

/// Our name and version.
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
