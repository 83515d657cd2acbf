//! Links an answer to the requests that continue from it.

use std::sync::PoisonError;
use std::time::Duration;

use counterfoil_model::{Message, Role};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::exchange::{Became, Exchange};
use crate::sessions::Kept;
use crate::wire::Wire;

/// How long a request waits until the answer that it continues from is linked.
const LINKING: Duration = Duration::from_secs(10);

/// Waits until the answers that a request continues from are linked.
pub(crate) async fn linked(awaited: Vec<watch::Receiver<()>>) {
    for mut answer in awaited {
        timeout(LINKING, async { while answer.changed().await.is_ok() {} }).await.ok();
    }
}

impl Exchange {
    /// Announces an answer before its client gets the id, because the client may continue from it
    /// before it is linked.
    pub(crate) fn announce(&self, response: &str) {
        // Only this wire continues from what its server keeps.
        if self.wire() != Wire::Responses {
            return;
        }
        let names = self.asked.conversation.as_deref().into_iter().chain([response]);
        let announced = names.map(|name| self.proxy.sessions.announce(&self.owner, name));
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).extend(announced);
    }

    /// Links future requests to this request's session.
    pub(crate) async fn link(&self, became: &Became) {
        if let Ok(prepared) = self.prepared().await {
            let shown = &prepared.shown;
            let mut messages = shown.transcript.messages.clone();
            let calls = became.said.calls.clone();
            messages.push(Message { calls, ..Message::text(Role::Assistant, &became.said.text) });
            let names = match (self.wire(), &became.response) {
                (Wire::Responses, Some(response)) => {
                    self.asked.conversation.iter().chain([response]).cloned().collect()
                }
                _ => Vec::new(),
            };
            let completeness = shown.transcript.completeness.clone();
            let kept = Kept { messages, completeness };
            self.proxy.sessions.link(&prepared.seen, &self.owner, names, kept);
        }
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
