//! Tests of the gateway, as seen by clients and servers.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test may fail"
)]

#[cfg(unix)]
mod aggregate;
#[cfg(feature = "otel")]
mod collector;
#[cfg(unix)]
mod dashboard;
#[cfg(unix)]
mod executor;
mod gateway;
#[cfg(unix)]
mod http;
mod ids;
#[cfg(unix)]
mod media_types;
#[cfg(unix)]
mod paths;
mod pins;
mod redaction;
mod results;
mod server;
#[cfg(unix)]
mod session_anew;
#[cfg(unix)]
mod smuggling;
#[cfg(feature = "otel")]
mod spans;
mod stateless;
mod tasks;
mod unlisted;

use counterfoil_guard::{Guard, GuardSettings, SessionStart};
use counterfoil_serve::{Gateway, Step};
use serde_json::Value;

/// A server's list of two tools.
pub(crate) const TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"get_order","title":"Order","description":"Looks an order up.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]},"icons":[{"src":"x"}]},{"name":"cancel_order","description":"Cancels an order.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}],"extra":1.50}}"#;

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// Runs a test with a time limit, on several threads.
#[cfg(unix)]
pub(crate) fn test(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let limit = std::time::Duration::from_secs(60);
    runtime.block_on(async { tokio::time::timeout(limit, test).await.unwrap() });
}

pub(crate) fn gateway(settings: GuardSettings) -> Gateway {
    let guard = Guard::builder().settings(settings).build().unwrap();
    let start = SessionStart { id: Some("s".to_owned()), ..SessionStart::default() };
    Gateway::new(guard, start, "shop").unwrap()
}

/// A gateway whose client has listed the tools.
pub(crate) fn listed(settings: GuardSettings) -> Gateway {
    let gateway = gateway(settings);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(wait(gateway.from_client(list)), [Step::Forward(list.to_owned())]);
    assert!(wait(gateway.from_server(TOOLS)).is_some());
    gateway
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
