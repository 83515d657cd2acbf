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

/// How long a client may take to answer a server's question.
const PATIENCE: Duration = Duration::from_secs(600);

/// The client side: delivers messages and questions to the client.
#[derive(Default)]
pub(super) struct Downstream {
    /// Whether there are several clients without a session, each of which only hears what it
    /// requested.
    shared: bool,
    /// Subscriptions of clients without a session, with what each wants to hear.
    listeners: Mutex<Vec<Listener>>,
    /// Receives messages that belong to no request.
    general: Mutex<Option<mpsc::Sender<String>>>,
    /// Open requests by number, latest last.
    open: Mutex<BTreeMap<u64, mpsc::Sender<String>>>,
    /// Pending questions to the client, by id.
    questions: Mutex<BTreeMap<String, oneshot::Sender<Value>>>,
    count: AtomicU64,
    /// The client's declared capabilities.
    capabilities: Mutex<Value>,
}

/// A client without a session that subscribed to changes.
struct Listener {
    /// The id of its request.
    id: String,
    /// The kinds of changes it subscribed to.
    wanted: Value,
    to: mpsc::Sender<String>,
}

impl Listener {
    /// The message as this client receives it; `None` if it did not subscribe to it.
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

/// The member with which a notification names the request it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Downstream {
    pub(super) fn new(shared: bool) -> Self {
        Self { shared, ..Self::default() }
    }

    /// Acknowledges the subscription of a client without a session, and adds it to the listeners.
    pub(super) async fn subscribe(&self, id: &str, wanted: Value, to: &mpsc::Sender<String>) {
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{wanted},"_meta":{{"{SUBSCRIPTION}":{id}}}}}}}"#
        );
        // Ignore errors: the client may be gone.
        to.send(text).await.ok();
        let mut listeners = lock(&self.listeners);
        listeners.retain(|listener| !listener.to.is_closed());
        listeners.push(Listener { id: id.to_owned(), wanted, to: to.clone() });
    }

    /// Returns a number that was not used before.
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

    /// Sends a message that belongs to no request: to every subscribed client without a session,
    /// or else on the client's stream or with its latest request. Returns whether the client with a
    /// session received it.
    pub(super) async fn say(&self, text: String) -> bool {
        if self.shared {
            let hearing = |listener: &Listener| Some((listener.hears(&text)?, listener.to.clone()));
            let hearing: Vec<_> = lock(&self.listeners).iter().filter_map(hearing).collect();
            for (text, to) in hearing {
                // Ignore errors: the client may be gone.
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

    /// Takes a client's answer to a question. Returns whether there was such a question.
    pub(super) fn answered(&self, message: &Message<'_>) -> bool {
        let sender = message.id.as_ref().and_then(|id| lock(&self.questions).remove(id));
        let Some(sender) = sender else { return false };
        // An unreadable answer is dropped.
        let result = message.members.get("result").map(|raw| read_lenient(raw.get().as_bytes()));
        if let Some(Ok(result)) = result {
            // After a timeout there is no receiver any more.
            sender.send(result).ok();
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
        !lock(&self.questions).is_empty()
    }

    fn ask<'a>(&'a self, method: &'a str, params: &'a Value) -> BoxFuture<'a, Option<Value>> {
        Box::pin(async move {
            // Do not ask for anything outside the declared capabilities.
            let kind = method.split('/').next().unwrap_or_default();
            lock(&self.capabilities).get(kind)?;
            let id = Value::from(format!("ask-{}", self.number())).to_string();
            let (answered, answer) = oneshot::channel();
            lock(&self.questions).insert(id.clone(), answered);
            if !self.say(request(&id, method, params)).await {
                lock(&self.questions).remove(&id);
                return None;
            }
            // If the client answers with an error, there is no answer.
            let given = timeout(PATIENCE, answer).await.ok().and_then(Result::ok);
            lock(&self.questions).remove(&id);
            given
        })
    }
}
