use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use counterfoil_guard::Progress;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::lock::lock;
use crate::mcp::{Members, Message};

/// Calls whose progress is reported, by progress token.
#[derive(Clone, Default)]
pub(super) struct Followed {
    steps: Arc<Mutex<BTreeMap<u64, Progress>>>,
    /// The tokens of a client, by those that the server got in their place.
    tokens: Arc<Mutex<BTreeMap<u64, String>>>,
}

/// The token of a client that the server does not know, until dropped. Each server has tokens of its
/// own, so that none reports progress for a call of another.
pub(super) struct Renamed {
    all: Followed,
    token: u64,
}

/// The registration of one such call, until dropped.
pub(super) struct Following<'c> {
    all: &'c Followed,
    pub(super) token: u64,
}

/// A progress notification from a server.
#[derive(Deserialize)]
struct Step {
    #[serde(rename = "progressToken")]
    token: u64,
    #[serde(rename = "progress")]
    done: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    message: Option<String>,
}

impl Followed {
    /// Registers a call, unless nothing listens to its progress; the server then need not report
    /// any.
    pub(super) fn begin(&self, token: u64, progress: &Progress) -> Option<Following<'_>> {
        progress.is_heard().then(|| {
            lock(&self.steps).insert(token, progress.clone());
            Following { all: self, token }
        })
    }

    /// Reports a progress notification to the follower of its call.
    pub(super) fn report(&self, params: Option<&RawValue>) {
        let step = params.and_then(|raw| serde_json::from_str::<Step>(raw.get()).ok());
        let Some(Step { token, done, total, message }) = step else { return };
        if let Some(progress) = lock(&self.steps).get(&token) {
            progress.step(done, total, message.as_deref());
        }
    }
}

impl Followed {
    /// The parameters of a request with this progress token in place of the client's; `None` if it
    /// has none.
    pub(super) fn renamed(&self, token: u64, params: &str) -> Option<(String, Renamed)> {
        let params: Members<'_> = serde_json::from_str(params).ok()?;
        let meta: Members<'_> = serde_json::from_str(params.get("_meta")?.get()).ok()?;
        let own = meta.get(TOKEN)?.get().to_owned();
        lock(&self.tokens).insert(token, own);
        let params = params.with("_meta", &meta.with(TOKEN, &token.to_string()));
        Some((params, Renamed { all: self.clone(), token }))
    }

    /// A progress notification with the client's own token; `None` if no call has this token.
    pub(super) fn named_back(&self, message: &Message<'_>) -> Option<String> {
        let params: Members<'_> = serde_json::from_str(message.params()?.get()).ok()?;
        let token: u64 = serde_json::from_str(params.get(TOKEN)?.get()).ok()?;
        let own = lock(&self.tokens).get(&token).cloned()?;
        Some(message.members.with("params", &params.with(TOKEN, &own)))
    }
}

/// The member with the token of a request's progress.
const TOKEN: &str = "progressToken";

impl Drop for Renamed {
    fn drop(&mut self) {
        lock(&self.all.tokens).remove(&self.token);
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        lock(&self.all.steps).remove(&self.token);
    }
}
