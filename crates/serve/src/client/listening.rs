//! Unsolicited messages of servers, with and without sessions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use counterfoil_formats::read_lenient;
use hyper::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::followed::Followed;
use super::lock::lock;
use super::questions::{Questions, Responder};
use super::{Client, ClientOptions, READY};
use crate::mcp::{Message, code, error, request_raw, result};
use crate::upstream::{Content, Reply, Upstream, UpstreamError};

impl Client {
    pub(super) fn listener(&self, headers: HeaderMap, questions: Questions) -> ServerListener {
        ServerListener {
            upstream: Arc::clone(&self.upstream),
            options: ClientOptions { questions, ..self.options.clone() },
            asks: Arc::clone(&self.asks),
            followed: self.followed.clone(),
            changed: Arc::clone(&self.changed),
            headers,
        }
    }

    /// Starts listening to the server's unsolicited messages, replacing any earlier listener. Waits
    /// briefly for the stream to open, so that no message caused by a later call is lost.
    pub(super) async fn listen(&self) {
        let headers = self.headers.listening();
        let (upstream, listener) = (
            Arc::clone(&self.upstream),
            self.listener(headers.clone(), self.options.questions.clone()),
        );
        let says = self.options.hears.clone();
        let subscription = self.alone.then(|| self.subscription());
        let (hears, heard_from) = oneshot::channel();
        let listening = tokio::spawn(async move {
            let reply: Result<Reply, UpstreamError> = match &subscription {
                None => upstream.listen_whole(&headers).await,
                Some((text, headers)) => upstream.exchange_whole(text, headers).await,
            };
            let mut hears = Some(hears);
            // Over HTTP the response itself confirms the stream; a process confirms it in a
            // message.
            if subscription.is_none() {
                hears.take().map(|hears| hears.send(()));
            }
            let Ok(Reply { content: Content::Flow(mut flow), .. }) = reply else { return };
            while let Some(Ok(event)) = flow.next().await {
                hears.take().map(|hears| hears.send(()));
                let method = Message::read(&event.data).ok().and_then(|message| message.method);
                if method.as_deref() != Some("notifications/subscriptions/acknowledged") {
                    listener.heard(&event.data, says.as_ref()).await;
                }
            }
        });
        let before = self.listening().replace(listening.abort_handle());
        // A server may not respond at all before it has something to send.
        timeout(READY, heard_from).await.ok();
        if let Some(before) = before {
            before.abort();
        }
    }

    /// The request with which a client without a session subscribes: to all lists, and to the
    /// selected resources.
    fn subscription(&self) -> (String, hyper::HeaderMap) {
        let resources: Vec<String> = self.subscribed().iter().cloned().collect();
        let mut wanted = json!({
            "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        });
        if let (false, Some(members)) = (resources.is_empty(), wanted.as_object_mut()) {
            members.insert("resourceSubscriptions".to_owned(), json!(resources));
        }
        let params = self.with_meta(&json!({ "notifications": wanted }).to_string());
        let text = request_raw(&self.next_id().to_string(), "subscriptions/listen", &params);
        let headers = match Message::read(&text) {
            Ok(message) => self.headers.headers(&message, None),
            Err(_) => self.headers.listening(),
        };
        (text, headers)
    }

    /// Handles a request that only exists with sessions when there is no session. Returns whether
    /// it was such a request.
    pub(crate) async fn instead(&self, method: &str, params: &str) -> bool {
        if !self.alone {
            return false;
        }
        let params: serde_json::Value = serde_json::from_str(params).unwrap_or_default();
        let text = |name: &str| params.get(name).and_then(|v| v.as_str()).map(str::to_owned);
        match (method, text("uri")) {
            ("logging/setLevel", _) => *self.level() = text("level"),
            ("resources/subscribe", Some(uri)) => {
                self.subscribed().insert(uri);
                self.listen().await;
            }
            ("resources/unsubscribe", Some(uri)) => {
                self.subscribed().remove(&uri);
                self.listen().await;
            }
            _ => return false,
        }
        true
    }
}

/// Handles a server's unsolicited messages.
pub(super) struct ServerListener {
    pub(super) upstream: Arc<Upstream>,
    /// The client's options, with who answers these questions.
    pub(super) options: ClientOptions,
    pub(super) asks: Arc<Mutex<BTreeMap<u64, Arc<dyn Responder>>>>,
    pub(super) followed: Followed,
    pub(super) changed: Arc<AtomicBool>,
    pub(super) headers: HeaderMap,
}

impl ServerListener {
    /// The caller of the only call in progress, to which messages without a call are assigned.
    /// Calls that are waiting for an answer do not count.
    fn only(&self) -> Option<Arc<dyn Responder>> {
        let asks = lock(&self.asks);
        let mut running = asks.values().filter(|asks| !asks.is_waiting());
        let only = running.next().cloned();
        only.filter(|_| running.next().is_none())
    }

    /// Handles an unsolicited message: notes changes, passes on notifications, answers questions.
    pub(super) async fn heard(&self, text: &str, hears: Option<&mpsc::Sender<String>>) {
        let text = match self.options.attributed(text) {
            Ok(text) => text,
            Err(why) => return tracing::warn!("dropped a message: {why}"),
        };
        let Ok(message) = Message::read(&text) else { return };
        let Some(method) = &message.method else { return };
        let Some(id) = message.id.clone() else {
            if method == "notifications/tools/list_changed" {
                self.changed.store(true, Ordering::Relaxed);
            }
            let mut text = Some(text.clone().into_owned());
            if method == "notifications/progress" {
                self.followed.report(message.params());
                text = self.followed.named_back(&message);
            }
            if let (Some(hears), Some(text)) = (hears, text) {
                // Ignore errors: the receiver may be gone.
                hears.send(text).await.ok();
            }
            return;
        };
        let params = message.params().and_then(|raw| read_lenient(raw.get().as_bytes()).ok());
        let upstream = Arc::clone(&self.upstream);
        let mut questions = self.options.questions.clone();
        if let (Questions::Declared, Some(only)) = (&questions, self.only()) {
            questions = Questions::Client(only);
        }
        let (headers, method) = (self.headers.clone(), method.clone());
        // A person may take a long time, so the server continues meanwhile.
        tokio::spawn(async move {
            let answer = match questions.answer(&method, params.unwrap_or(Value::Null)).await {
                Some(given) => result(&id, &given),
                None => {
                    let what = format!("the client does not support `{method}`");
                    error(Some(&id), code::METHOD_NOT_FOUND, &what)
                }
            };
            upstream.exchange(&answer, &headers).await.map(drop)
        });
    }
}
