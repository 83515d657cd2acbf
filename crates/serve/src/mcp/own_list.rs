//! The gateway's own `tools/list`, for a client that calls a tool before it lists any: every call
//! is checked against the server's tools, no matter who listed them.

use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{MutexGuard, oneshot};
use tokio::time::timeout;

use super::gateway::Gateway;
use super::members::member;
use super::message::{self, Message};
use super::waiting::{Listed, Waiting};

/// How long a server may take for a page. Afterwards its tools count as unknown.
pub(crate) const LISTING: Duration = Duration::from_secs(5);

/// The maximum number of pages that are requested.
const MOST_PAGES: u32 = 1_000;

/// The requests for the server's tools, page by page. Their answers come through
/// [`Gateway::from_server`], which keeps them from the client.
pub(crate) struct Listing<'g> {
    gateway: &'g Gateway,
    meta: Option<String>,
    /// The number of pages that were requested.
    pages: u32,
    next: Next,
    answer: Option<oneshot::Receiver<Option<Value>>>,
    /// One list is requested at a time.
    _alone: MutexGuard<'g, ()>,
}

/// What is requested next.
enum Next {
    First,
    From(Value),
    Nothing,
}

impl Listing<'_> {
    /// The next request to send; `None` at the end.
    pub(crate) fn request(&mut self) -> Option<String> {
        let cursor = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::First => None,
            Next::From(cursor) if self.pages < MOST_PAGES => Some(cursor),
            Next::From(_) | Next::Nothing => return None,
        };
        let meta = self.meta.as_deref();
        let (request, answer) = self.gateway.page_request(self.pages, meta, cursor.as_ref());
        self.pages += 1;
        self.answer = Some(answer);
        Some(request)
    }

    /// Waits until the answer has been processed. `sent`: whether the request reached the server.
    pub(crate) async fn answered(&mut self, sent: bool) {
        let answer = self.answer.take().filter(|_| sent);
        let listed = match answer {
            Some(answer) => timeout(LISTING, answer).await.ok().and_then(Result::ok),
            None => None,
        };
        match listed {
            Some(Some(next)) => self.next = Next::From(next),
            Some(None) => {}
            None => {
                self.gateway.shared().offered.give_up();
                let server = &self.gateway.server;
                tracing::warn!(
                    "`{server}` does not list its tools, so calls are not checked against them"
                );
            }
        }
    }
}

impl Gateway {
    /// What to request from the server before a line of the client is processed, because it calls
    /// a tool and none are known.
    pub(crate) async fn unlisted(&self, line: &str) -> Option<Listing<'_>> {
        self.calls_unlisted(line)?;
        // Another call may be waiting for the list already.
        let alone = self.listing.lock().await;
        let meta = self.calls_unlisted(line)?;
        let (pages, next) = (0, Next::First);
        Some(Listing { gateway: self, meta, pages, next, answer: None, _alone: alone })
    }

    /// The `_meta` of a call of a server whose tools are unknown; `None` if there is no such call.
    #[expect(clippy::option_option, reason = "a call may have no `_meta`")]
    fn calls_unlisted(&self, line: &str) -> Option<Option<String>> {
        if self.shared().offered.is_settled() {
            return None;
        }
        let parts = message::parts(line).ok()?;
        let calls = parts.into_iter().filter_map(|part| Message::read(part).ok());
        let mut calls = calls.filter(|message| {
            message.id.is_some() && message.method.as_deref() == Some("tools/call")
        });
        let call = calls.find(|call| {
            let name = call.params().and_then(|params| member(params, "name"));
            let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
            self.shared().offered.known(name).is_none()
        })?;
        Some(call.params().and_then(meta_of))
    }

    fn page_request(
        &self,
        page: u32,
        meta: Option<&str>,
        cursor: Option<&Value>,
    ) -> (String, oneshot::Receiver<Option<Value>>) {
        let cursor = cursor.map(|cursor| format!("\"cursor\":{cursor}"));
        let meta = meta.map(|meta| format!("\"_meta\":{meta}"));
        let params: Vec<String> = cursor.into_iter().chain(meta).collect();
        let id = Value::from(format!("counterfoil-tools-{page}")).to_string();
        let (listed, answer) = oneshot::channel();
        self.state().waiting.insert(id.clone(), Waiting::OwnTools { first: page == 0, listed });
        let params = format!("{{{}}}", params.join(","));
        (message::request_raw(&id, "tools/list", &params), answer)
    }

    /// Processes a page that the gateway requested itself.
    pub(super) fn own_page(
        &self,
        message: &Message<'_>,
        text: &str,
        id: &str,
        (first, listed): (bool, Listed),
    ) {
        let Some(result) = message.members.get("result") else { return };
        self.listed(message, text, id, first);
        let next = member(result, "nextCursor").filter(Value::is_string);
        // No one waits any more after the time limit.
        listed.send(next).ok();
    }
}

/// The `_meta` of a request, without what is about its progress.
fn meta_of(params: &RawValue) -> Option<String> {
    let mut meta = member(params, "_meta")?;
    meta.as_object_mut()?.remove("progressToken");
    Some(meta.to_string())
}
