//! Presents several servers as one. We are the server of one client, with or without a session, and
//! the client of each server.

mod downstream;
mod late_lists;
mod merge;
mod owners;
mod paused_calls;
mod request;
mod resources;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::client::{Client, ClientError, ClientOptions, Questions, Reconnecting, Responder};
use crate::mcp::{Members as Object, Message, UNREACHABLE, code, error, error_with, result_raw};
use crate::upstream::{Flow, NamedServer, Reply, Servers, UpstreamError};
use downstream::Downstream;
use late_lists::LateLists;
use merge::{List, finished, greeting};
use owners::Owners;
use paused_calls::{PausedCall, PausedCalls, PausingResponder};
use request::{ParsedRequest, Wrong};

/// Capacity of the message queue for a client that reads slowly.
const WAITING: usize = 64;

/// The separator between the name of a server and that of its tool.
const BETWEEN: &str = "__";

/// How long the combined greeting waits for each server, which may have to be downloaded first.
const TO_BEGIN: Duration = Duration::from_secs(10);

/// How long a combined list waits for each server: shorter than the gateway waits for the list.
const TO_LIST: Duration = Duration::from_secs(4);

/// Maximum number of times a call may ask for input before it is made.
const ROUNDS: usize = 8;

/// Several servers, for one client or for all clients without a session.
pub(crate) struct Aggregate {
    servers: Servers,
    members: Mutex<Members>,
    /// Whether names are prefixed with the server's; with only one server they may be its own.
    prefixed: bool,
    /// Whether there are several clients without a session, so that whom to ask depends on the
    /// call.
    shared: bool,
    /// Whether the only client has no session either.
    alone: AtomicBool,
    hears: mpsc::Sender<String>,
    late: LateLists,
    downstream: Arc<Downstream>,
    running: Mutex<BTreeMap<u64, Running>>,
    /// The server of each resource.
    owners: Mutex<Owners>,
    /// Calls whose servers are waiting for an answer from a client without a session.
    waiting: PausedCalls,
    /// The task that forwards unsolicited messages of servers to the client.
    pump: AbortHandle,
}

/// The servers in use, and the list they were created from.
struct Members {
    of: Arc<Vec<NamedServer>>,
    kept: Vec<Arc<Reconnecting>>,
}

/// A client's request in progress.
struct Running {
    id: String,
    to: mpsc::Sender<String>,
    task: AbortHandle,
}

impl Aggregate {
    pub(crate) fn new(servers: &Servers, prefixed: bool, shared: bool) -> Self {
        let downstream = Arc::new(Downstream::new(shared));
        let (hears, mut heard) = mpsc::channel(WAITING);
        let (telling, mut changes) = (Arc::clone(&downstream), servers.changes());
        let pump = tokio::spawn(async move {
            loop {
                let text = tokio::select! {
                    text = heard.recv() => text,
                    changed = changes.changed() => changed.ok().map(|()| List::Tools.changed()),
                };
                let Some(text) = text else { return };
                telling.say(text).await;
            }
        });
        Self {
            servers: servers.clone(),
            members: Mutex::new(Members { of: Arc::default(), kept: Vec::new() }),
            prefixed,
            late: LateLists::new(hears.clone()),
            hears,
            downstream,
            running: Mutex::default(),
            owners: Mutex::default(),
            waiting: PausedCalls::default(),
            shared,
            alone: AtomicBool::new(false),
            pump: pump.abort_handle(),
        }
    }

    /// The current servers; unchanged servers keep their connections.
    fn members(&self) -> Vec<Arc<Reconnecting>> {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.servers.now();
        if !Arc::ptr_eq(&members.of, &now) {
            let kept = now.iter().map(|named| {
                let before = members.of.iter().position(|before| before == named);
                let before = before.and_then(|at| members.kept.get(at)).cloned();
                before.unwrap_or_else(|| Arc::new(self.keep(named)))
            });
            *members = Members { kept: kept.collect(), of: now };
            *self.owners() = Owners::default();
            self.late.clear();
        }
        members.kept.clone()
    }

    fn keep(&self, named: &NamedServer) -> Reconnecting {
        let options = ClientOptions {
            questions: match self.shared || self.alone.load(Ordering::Relaxed) {
                true => Questions::Declared,
                false => Questions::Client(self.downstream.clone()),
            },
            hears: Some(self.hears.clone()),
            asks_as: Some(named.name.clone()),
            ..ClientOptions::within(named.limit)
        };
        Reconnecting::new(named.name.clone(), named.server.clone(), options)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<u64, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes a message from the client.
    pub(crate) fn exchange(self: &Arc<Self>, text: &str) -> Result<Reply, UpstreamError> {
        let unreadable = |error: serde_json::Error| UpstreamError::Unreadable(error.to_string());
        let message = Message::read(text).map_err(unreadable)?;
        let (Some(method), Some(id)) = (message.method.clone(), message.id.clone()) else {
            if message.method.is_none() {
                self.downstream.answered(&message);
            } else if let Some(id) = message.cancels() {
                self.forget(&id);
            }
            return Ok(Reply::accepted());
        };
        let (to, queue) = mpsc::channel(WAITING);
        let (number, aggregate) = (self.downstream.number(), Arc::clone(self));
        self.downstream.open(number, to.clone());
        let request = ParsedRequest {
            id: id.clone(),
            method,
            params: message.params().map_or("{}", RawValue::get).to_owned(),
            alone: message.is_alone(),
            to: to.clone(),
        };
        self.alone.fetch_or(request.alone, Ordering::Relaxed);
        // Hold the lock until the task is registered, so that it cannot unregister itself before
        // that.
        let mut running = self.running();
        let task = tokio::spawn(async move {
            let answer = aggregate.answer(&request).await;
            // Ignore errors: the client may be gone.
            request.to.send(answer).await.ok();
            aggregate.downstream.close(number);
            aggregate.running().remove(&number);
        });
        running.insert(number, Running { id, to, task: task.abort_handle() });
        Ok(Reply::from_flow(Flow::Queue(queue)))
    }

    /// The unsolicited messages of servers.
    pub(crate) fn listen(&self) -> Reply {
        let (to, queue) = mpsc::channel(WAITING);
        self.downstream.hear(to);
        Reply::from_flow(Flow::Queue(queue))
    }

    /// Cancels a request.
    pub(crate) fn forget(&self, id: &str) {
        self.end_where(|running| running.id == id);
    }

    /// Cancels a request if its client is gone.
    pub(crate) fn give_up(&self, id: &str) {
        self.end_where(|running| running.id == id && running.to.is_closed());
    }

    fn end_where(&self, which: impl Fn(&Running) -> bool) {
        let mut running = self.running();
        let found = running.iter().find(|(_, running)| which(running)).map(|(number, _)| *number);
        if let Some((number, running)) = found.and_then(|number| running.remove_entry(&number)) {
            // Aborting the task also abandons its request to the server.
            running.task.abort();
            self.downstream.close(number);
        }
    }

    pub(crate) async fn close(&self) {
        self.late.clear();
        join_all(self.members().iter().map(|member| member.close())).await;
    }

    /// The response to a request.
    async fn answer(&self, request: &ParsedRequest) -> String {
        match self.result(request).await {
            Ok(result) => result_raw(&request.id, &finished(request, &result)),
            Err(Wrong::Away(away)) => {
                error(Some(&request.id), code::SERVER_GONE, &away.to_string())
            }
            Err(Wrong::Client(ClientError::Refused { code, message, data, .. })) => {
                // The code for a missing resource differs between the two protocols.
                let gone = request.alone && code == i64::from(code::NO_RESOURCE);
                let code = if gone { code::INVALID_PARAMS.into() } else { code };
                error_with(&request.id, code, &message, &data)
            }
            Err(Wrong::Client(wrong)) => {
                error(Some(&request.id), code::SERVER_GONE, &wrong.to_string())
            }
            Err(Wrong::ClientReply(code, what)) => error(Some(&request.id), code, &what),
        }
    }

    async fn result(&self, request: &ParsedRequest) -> Result<String, Wrong> {
        let params: Object<'_> = serde_json::from_str(&request.params).map_err(|error| {
            Wrong::ClientReply(code::INVALID_PARAMS, format!("`params`: {error}"))
        })?;
        if request.alone {
            request.fits_its_wire()?;
        }
        match request.method.as_str() {
            "ping" => Ok("{}".to_owned()),
            "initialize" => {
                let value_of = |name: &str| {
                    params.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok())
                };
                self.downstream.can(value_of("capabilities").unwrap_or_default());
                let wanted = value_of("protocolVersion");
                let (greeted, away) = self.greetings().await;
                let wanted = wanted.as_ref().and_then(Value::as_str);
                Ok(greeting(wanted, &greeted, &away, self.prefixed))
            }
            "server/discover" => {
                let (greeted, away) = self.greetings().await;
                Ok(greeting(None, &greeted, &away, self.prefixed))
            }
            "tools/list" => Ok(self.list(List::Tools).await),
            "prompts/list" => Ok(self.list(List::Prompts).await),
            "resources/list" => Ok(self.list(List::Resources).await),
            "resources/templates/list" => Ok(self.list(List::Templates).await),
            "subscriptions/listen" => {
                let wanted = params.get("notifications").map_or("{}", RawValue::get);
                let wanted = serde_json::from_str(wanted).unwrap_or_default();
                self.downstream.subscribe(&request.id, wanted, &request.to).await;
                request.to.closed().await;
                Ok("{}".to_owned())
            }
            "tools/call" | "prompts/get" => self.named(request, &params).await,
            "completion/complete" => self.completed(request, &params).await,
            "logging/setLevel" => {
                let members = self.members();
                let all = members.iter().map(|member| self.pass(member, request, &request.params));
                // A server without log levels is unaffected.
                join_all(all).await;
                Ok("{}".to_owned())
            }
            method if method.starts_with("resources/") => {
                let uri = params.get("uri").and_then(text_of).unwrap_or_default();
                self.resource(request, &uri).await
            }
            other => Err(Wrong::ClientReply(
                code::METHOD_NOT_FOUND,
                format!("there is no method `{other}`"),
            )),
        }
    }

    /// The greeting of each reachable server, and the names of the others.
    async fn greetings(&self) -> (Vec<(String, Value)>, Vec<String>) {
        let members = self.members();
        let patience = self.servers.patience().unwrap_or(TO_BEGIN);
        let greetings = members.iter().map(|member| async move {
            let own = Arc::clone(member);
            let connected = async move { own.client().await };
            match self.late.connection(&member.name, patience, connected).await {
                Ok(client) => (member.name.clone(), Some(client.greeting().clone())),
                Err(error) => {
                    tracing::warn!("{error}");
                    (member.name.clone(), None)
                }
            }
        });
        let (mut greeted, mut away) = (Vec::new(), Vec::new());
        for (name, greeting) in join_all(greetings).await {
            match greeting {
                Some(greeting) => greeted.push((name, greeting)),
                None => away.push(name),
            }
        }
        (greeted, away)
    }

    /// The combined list of all servers. Servers without a list are left out, logged and named.
    async fn list(&self, list: List) -> String {
        let members = self.members();
        let patience = self.servers.patience().unwrap_or(TO_LIST);
        let pages = members.iter().map(|member| {
            let listed = listed(list, Arc::clone(member));
            self.late.list(list, &member.name, patience, listed)
        });
        let (mut all, mut away) = (Vec::new(), Vec::new());
        for (member, listed) in members.iter().zip(join_all(pages).await) {
            match listed {
                Ok(listed) => {
                    all.extend(listed.iter().filter_map(|text| self.shown(list, member, text)));
                }
                Err(wrong) => {
                    wrong.log(&member.name, list);
                    away.push(member.name.as_str());
                }
            }
        }
        let meta = match away.is_empty() {
            true => String::new(),
            false => format!(r#","_meta":{{"{UNREACHABLE}":{}}}"#, json!(away)),
        };
        format!("{{\"{}\":[{}]{meta}}}", list.member(), all.join(","))
    }

    /// The server that a name refers to, and its own name for the item.
    fn owner<'n>(&self, name: &'n str) -> Option<(Arc<Reconnecting>, &'n str)> {
        let mut members = self.members().into_iter();
        if !self.prefixed {
            return Some((members.next()?, name));
        }
        members.find_map(|member| {
            let own = name.strip_prefix(&member.name)?.strip_prefix(BETWEEN)?;
            Some((member, own))
        })
    }

    /// Processes a request that names a tool or a prompt.
    async fn named(&self, request: &ParsedRequest, params: &Object<'_>) -> Result<String, Wrong> {
        let name = params.get("name").and_then(text_of).unwrap_or_default();
        let Some((member, own)) = self.owner(&name) else {
            return Err(Wrong::ClientReply(
                code::INVALID_PARAMS,
                format!("no server has `{name}`"),
            ));
        };
        let called = format!("{name} {}", params.get("arguments").map_or("", RawValue::get));
        let (state, responses) = (params.get("requestState"), params.get("inputResponses"));
        let state = state.and_then(text_of);
        let responses = responses.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let params = params.with("name", &Value::from(own).to_string());
        if request.alone {
            let again =
                self.waiting.again(state.as_deref(), &called, &responses.unwrap_or_default());
            return match again {
                Some(pending) => self.waiting.next(pending?).await,
                None if member.client().await?.is_alone() => {
                    self.pass(&member, request, &params).await
                }
                None => self.waiting.next(self.begun(member, request, &params, called)).await,
            };
        }
        // If the server asks for input first, ask the client, which only understands separate
        // requests.
        let mut again = params.clone();
        for _ in 0..ROUNDS {
            let result = self.pass(&member, request, &again).await?;
            let Some(more) = asks_for_more(&result) else { return Ok(result) };
            let questions = Questions::Client(Arc::clone(&self.downstream) as _);
            let Some(answers) = questions.answered(&more).await else {
                return Err(ClientError::NoOneToAsk.into());
            };
            again = with(&params, "inputResponses", &answers.to_string());
            if let Some(state) = more.get("requestState") {
                again = with(&again, "requestState", &state.to_string());
            }
        }
        Err(ClientError::NoOneToAsk.into())
    }

    /// Begins a call to a server that may ask for input during the call, for a client that is asked
    /// through results.
    fn begun(
        &self,
        member: Arc<Reconnecting>,
        request: &ParsedRequest,
        params: &str,
        called: String,
    ) -> PausedCall {
        let (asker, questions) = PausingResponder::new(request.able());
        let (method, to) = (request.method.clone(), request.to.clone());
        let params = params.to_owned();
        let asks: Arc<dyn Responder> = Arc::new(asker);
        let outcome = tokio::spawn(async move {
            let client = member.client().await?;
            let result = client.request_raw(&method, &params, Some(&to), Some(&asks)).await;
            if matches!(result, Err(ClientError::Ended { .. })) {
                member.broke().await;
            }
            Ok(result?.get().to_owned())
        });
        PausedCall::new(called, outcome, questions)
    }

    async fn completed(
        &self,
        request: &ParsedRequest,
        params: &Object<'_>,
    ) -> Result<String, Wrong> {
        let refers = params.get("ref").map_or("{}", RawValue::get);
        let refers: Object<'_> = serde_json::from_str(refers)
            .map_err(|error| Wrong::ClientReply(code::INVALID_PARAMS, format!("`ref`: {error}")))?;
        let Some(name) = refers.get("name").and_then(text_of) else {
            let uri = refers.get("uri").and_then(text_of).unwrap_or_default();
            return self.resource(request, &uri).await;
        };
        let Some((member, own)) = self.owner(&name) else {
            return Err(Wrong::ClientReply(
                code::INVALID_PARAMS,
                format!("no server has `{name}`"),
            ));
        };
        let refers = refers.with("name", &Value::from(own).to_string());
        self.pass(&member, request, &params.with("ref", &refers)).await
    }

    /// Passes a request to one server, and returns its result verbatim.
    async fn pass(
        &self,
        member: &Reconnecting,
        request: &ParsedRequest,
        params: &str,
    ) -> Result<String, Wrong> {
        let client: Arc<Client> = member.client().await?;
        if client.instead(&request.method, params).await {
            return Ok("{}".to_owned());
        }
        let result = client.request_raw(&request.method, params, Some(&request.to), None).await;
        if matches!(result, Err(ClientError::Ended { .. })) {
            member.broke().await;
        }
        Ok(result?.get().to_owned())
    }
}

impl Drop for Aggregate {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

impl std::fmt::Debug for Aggregate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aggregate").field("servers", &self.servers).finish_non_exhaustive()
    }
}

/// One server's list.
async fn listed(list: List, member: Arc<Reconnecting>) -> Result<Vec<String>, Wrong> {
    let client = member.client().await?;
    match client.offers(list.capability()) {
        true => Ok(client.listed(list.method(), list.member()).await?),
        false => Ok(Vec::new()),
    }
}

fn text_of(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn with(params: &str, name: &str, value: &str) -> String {
    match serde_json::from_str::<Object<'_>>(params) {
        Ok(members) => members.with(name, value),
        Err(_) => params.to_owned(),
    }
}

/// The result, if it asks for input instead of being final.
fn asks_for_more(result: &str) -> Option<Value> {
    let members: Object<'_> = serde_json::from_str(result).ok()?;
    let kind = members.get("resultType").and_then(text_of)?;
    if kind == "input_required" { serde_json::from_str(result).ok() } else { None }
}
