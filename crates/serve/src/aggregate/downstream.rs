use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_formats::read_lenient;
use counterfoil_guard::BoxFuture;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::client::Responder;
use crate::mcp::{Members, Message, request};

/// How long a client may take for an answer to what a server asks of it.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where the client is: what it is told, and what it is asked.
#[derive(Default)]
pub(super) struct Downstream {
    /// Several clients without a session: each hears only what it asked for.
    shared: bool,
    /// What a client without a session wants to hear, by the number of its request.
    listeners: Mutex<Vec<Listener>>,
    /// Who hears what belongs to no request.
    general: Mutex<Option<mpsc::Sender<String>>>,
    /// Its open requests, the latest last.
    open: Mutex<BTreeMap<u64, mpsc::Sender<String>>>,
    /// What it was asked, by id.
    asked: Mutex<BTreeMap<String, oneshot::Sender<Value>>>,
    count: AtomicU64,
    /// What it said that it can.
    capabilities: Mutex<Value>,
}

/// A client without a session that listens.
struct Listener {
    /// The id of its request.
    id: String,
    /// The kinds of change that it wants to hear of.
    wanted: Value,
    to: mpsc::Sender<String>,
}

impl Listener {
    /// The message as it hears it; `None` where it does not want it.
    fn hears(&self, text: &str) -> Option<String> {
        let message = Message::read(text).ok()?;
        let params = message.params().map_or("{}", RawValue::get);
        let params: Members<'_> = serde_json::from_str(params).ok()?;
        let wants = match message.method.as_deref()? {
            "notifications/resources/updated" => {
                let uri: Value = serde_json::from_str(params.get("uri")?.get()).ok()?;
                let wanted = self.wanted.get("resourceSubscriptions").and_then(Value::as_array);
                wanted.is_some_and(|wanted| wanted.contains(&uri))
            }
            method => {
                let (of, what) = method.strip_prefix("notifications/")?.split_once('/')?;
                what == "list_changed"
                    && self.wanted.get(format!("{of}ListChanged")) == Some(&Value::Bool(true))
            }
        };
        let meta = format!(r#"{{"{SUBSCRIPTION}":{}}}"#, self.id);
        wants.then(|| message.members.with("params", &params.with("_meta", &meta)))
    }
}

/// The name under which a notification says to which request it belongs.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Downstream {
    pub(super) fn new(shared: bool) -> Self {
        Self { shared, ..Self::default() }
    }

    /// Tells a client without a session that it listens, and what else it wanted to hear from now on.
    pub(super) async fn subscribe(&self, id: &str, wanted: Value, to: &mpsc::Sender<String>) {
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{wanted},"_meta":{{"{SUBSCRIPTION}":{id}}}}}}}"#
        );
        // A client that is gone is told nothing.
        to.send(text).await.ok();
        let mut listeners = lock(&self.listeners);
        listeners.retain(|listener| !listener.to.is_closed());
        listeners.push(Listener { id: id.to_owned(), wanted, to: to.clone() });
    }

    /// A number that was not there before.
    pub(super) fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn open(&self, number: u64, to: mpsc::Sender<String>) {
        lock(&self.open).insert(number, to);
    }

    pub(super) fn close(&self, number: u64) {
        lock(&self.open).remove(&number);
    }

    pub(super) fn hear(&self, to: mpsc::Sender<String>) {
        *lock(&self.general) = Some(to);
    }

    pub(super) fn can(&self, capabilities: Value) {
        *lock(&self.capabilities) = capabilities;
    }

    /// Tells the client something that belongs to no request: where it listens, else with what it
    /// asked last. Nobody hears it where it does neither.
    pub(super) async fn say(&self, text: String) -> bool {
        if self.shared {
            let hearing = |listener: &Listener| Some((listener.hears(&text)?, listener.to.clone()));
            let hearing: Vec<_> = lock(&self.listeners).iter().filter_map(hearing).collect();
            for (text, to) in hearing {
                // A client that is gone is told nothing.
                to.send(text).await.ok();
            }
            return false;
        }
        let general = lock(&self.general).clone().filter(|to| !to.is_closed());
        let latest = || lock(&self.open).values().next_back().cloned();
        match general.or_else(latest) {
            Some(to) => to.send(text).await.is_ok(),
            None => false,
        }
    }

    /// Takes an answer of the client to what it was asked; whether it was.
    pub(super) fn answered(&self, message: &Message<'_>) -> bool {
        let asked = message.id.as_ref().and_then(|id| lock(&self.asked).remove(id));
        let Some(asked) = asked else { return false };
        // What cannot be read is no answer.
        let result = message.members.get("result").map(|raw| read_lenient(raw.get().as_bytes()));
        if let Some(Ok(result)) = result {
            // Nobody waits any more where it took too long.
            asked.send(result).ok();
        }
        true
    }
}

impl Responder for Downstream {
    fn capabilities(&self) -> Value {
        let known = lock(&self.capabilities).clone();
        if known.is_object() { known } else { json!({}) }
    }

    fn is_waiting(&self) -> bool {
        !lock(&self.asked).is_empty()
    }

    fn ask<'a>(&'a self, method: &'a str, params: &'a Value) -> BoxFuture<'a, Option<Value>> {
        Box::pin(async move {
            // What it did not say that it can, it is not asked.
            let kind = method.split('/').next().unwrap_or_default();
            lock(&self.capabilities).get(kind)?;
            let id = Value::from(format!("ask-{}", self.number())).to_string();
            let (answered, answer) = oneshot::channel();
            lock(&self.asked).insert(id.clone(), answered);
            if !self.say(request(&id, method, params)).await {
                lock(&self.asked).remove(&id);
                return None;
            }
            // What it answers with an error is no answer.
            let given = timeout(PATIENCE, answer).await.ok().and_then(Result::ok);
            lock(&self.asked).remove(&id);
            given
        })
    }
}
