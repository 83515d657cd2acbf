//! The gateway's own `tools/list`, for a client that calls a tool before it lists any: every call
//! is checked against the server's tools, whoever listed them.

use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::gateway::{Gateway, member};
use super::message::{self, Message};
use super::waiting::Waiting;

/// How long a server may take for a page. Afterwards its tools count as unknown.
const LISTING: Duration = Duration::from_secs(5);

/// The maximum number of pages that are requested.
const MOST_PAGES: u32 = 1_000;

/// Receives the cursor of the next page, if there is one.
pub(super) type Listed = oneshot::Sender<Option<Value>>;

impl Gateway {
    /// Lists the server's tools if the client's line calls one and none are known. `send` sends a
    /// request to the server and returns whether that worked; the answer comes through
    /// [`Gateway::from_server`], which keeps it from the client.
    pub(crate) async fn list_first(&self, line: &str, mut send: impl AsyncFnMut(&str) -> bool) {
        let Some(meta) = self.calls_unlisted(line) else { return };
        let mut cursor = None;
        for page in 0..MOST_PAGES {
            let (request, answer) = self.page_request(page, meta.as_deref(), cursor.as_ref());
            let listed = async {
                if send(&request).await { answer.await.ok() } else { None }
            };
            match timeout(LISTING, listed).await {
                Ok(Some(Some(next))) => cursor = Some(next),
                Ok(Some(None)) => return,
                Ok(None) | Err(_) => break,
            }
        }
        self.shared().offered.give_up();
        tracing::warn!("`{}` does not list its tools, so calls are not checked against them", self.server);
    }

    /// The `_meta` of a call of a server whose tools are unknown; `None` if there is no such call.
    #[expect(clippy::option_option, reason = "a call may have no `_meta`")]
    fn calls_unlisted(&self, line: &str) -> Option<Option<String>> {
        if !self.shared().offered.is_unlisted() {
            return None;
        }
        let parts = message::parts(line).ok()?;
        let calls = parts.into_iter().filter_map(|part| Message::read(part).ok());
        let mut calls = calls.filter(|message| {
            message.id.is_some() && message.method.as_deref() == Some("tools/call")
        });
        let call = calls.next()?;
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
        // Nobody waits any more after the time limit.
        listed.send(next).ok();
    }
}

/// The `_meta` of a request, without what is about its progress.
fn meta_of(params: &RawValue) -> Option<String> {
    let mut meta = member(params, "_meta")?;
    meta.as_object_mut()?.remove("progressToken");
    Some(meta.to_string())
}
