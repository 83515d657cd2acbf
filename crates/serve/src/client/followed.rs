use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use counterfoil_guard::Progress;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::lock;

/// Calls of which somebody hears how far they are, by their progress tokens.
#[derive(Clone, Default)]
pub(super) struct Followed(Arc<Mutex<BTreeMap<u64, Progress>>>);

/// One of them, as long as this lives.
pub(super) struct Following<'c> {
    all: &'c Followed,
    pub(super) token: u64,
}

/// What a server says of how far a call is.
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
    /// Where nobody listens, the server need not tell.
    pub(super) fn begin(&self, token: u64, progress: &Progress) -> Option<Following<'_>> {
        progress.is_heard().then(|| {
            lock(&self.0).insert(token, progress.clone());
            Following { all: self, token }
        })
    }

    /// Tells whoever follows a call what the server says of it.
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
