//! Links an answer to the requests that continue from it.

use std::sync::PoisonError;

use counterfoil_model::{Message, Role};

use crate::conclusion::Became;
use crate::exchange::Exchange;
use crate::sessions::Kept;
use crate::wire::Wire;

impl Exchange {
    /// Announces an answer before its client gets the id, because the client may continue from it
    /// before it is linked.
    pub(crate) fn announce(&self, response: &str) {
        // Only this wire continues from what its server keeps.
        if self.wire() != Wire::Responses {
            return;
        }
        let names = self.request.conversation.as_deref().into_iter().chain([response]);
        let announced = names.map(|name| self.proxy.sessions.announce(&self.owner, name));
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).extend(announced);
    }

    /// Links future requests to this request's session.
    pub(crate) async fn link(&self, became: &Became) {
        if let Ok(prepared) = self.prepared().await {
            let shown = &prepared.shown;
            let mut messages = shown.transcript.messages.clone();
            let calls = became.message.calls.clone();
            messages
                .push(Message { calls, ..Message::text(Role::Assistant, &became.message.text) });
            let names = match (self.wire(), &became.response) {
                (Wire::Responses, Some(response)) => {
                    self.request.conversation.iter().chain([response]).cloned().collect()
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
