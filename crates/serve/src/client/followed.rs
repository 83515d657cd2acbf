use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use counterfoil_guard::Progress;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::lock;

/// Calls whose progress is reported, by progress token.
#[derive(Clone, Default)]
pub(super) struct Followed(Arc<Mutex<BTreeMap<u64, Progress>>>);

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
            lock(&self.0).insert(token, progress.clone());
            Following { all: self, token }
        })
    }

    /// Reports a progress notification to the follower of its call.
    pub(super) fn told(&self, params: Option<&RawValue>) {
        let step = params.and_then(|raw| serde_json::from_str::<Step>(raw.get()).ok());
        let Some(Step { token, done, total, message }) = step else { return };
        if let Some(progress) = lock(&self.0).get(&token) {
            progress.step(done, total, message.as_deref());
        }
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        lock(&self.all.0).remove(&self.token);
    }
}
