//! Tests of the proxy, from the client's and the server's side.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod calls;
mod desk;
mod faults;
mod hostile;
mod judged;
mod kept;
mod native;
mod operators;
mod paths;
mod shapes;
#[cfg(feature = "otel")]
mod spans;
mod verdicts;
mod wires;

use counterfoil_proxy::ProxyMode;

const MODES: [ProxyMode; 4] =
    [ProxyMode::Observe, ProxyMode::Annotate, ProxyMode::Correct, ProxyMode::Block];

/// A call that only looked the order up.
const LOOKED_UP: (&str, &str, &str, &str) =
    ("call_a", "get_order", "{\"id\": 7}", "{\"id\": 7, \"status\": \"shipped\"}");

const CANCELLED: (&str, &str, &str, &str) =
    ("call_b", "cancel_order", "{\"id\": 7}", "{\"id\": 7, \"status\": \"cancelled\"}");

/// Runs a test on several threads, with a time limit.
pub(crate) fn test(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let limit = std::time::Duration::from_secs(60);
    runtime.block_on(async { tokio::time::timeout(limit, test).await.unwrap() });
}

pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}
