//! Metrics for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use counterfoil_guard::{CallEvent, ToolEvent};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// Counts since the process started.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Number of requests by status.
    requests: Mutex<BTreeMap<u16, u64>>,
    /// Number of calls by how they ended.
    calls: Mutex<BTreeMap<&'static str, u64>>,
}

fn lock<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Metrics {
    pub(crate) fn request(&self, status: u16) {
        *lock(&self.requests).entry(status).or_default() += 1;
    }

    /// Counts calls for as long as the future is polled.
    pub(crate) async fn follow(&self, mut events: Receiver<CallEvent>) {
        loop {
            let what = match events.recv().await {
                Ok(event) => event.what,
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            };
            let (ToolEvent::Closed { status, .. } | ToolEvent::Rejected { status, .. }) = what
            else {
                continue;
            };
            *lock(&self.calls).entry(status.name()).or_default() += 1;
        }
    }

    /// The metrics in Prometheus text format.
    pub(crate) fn text(&self, sessions: usize) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, rows: Vec<(String, u64)>| {
            // Writing to a string does not fail.
            writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").ok();
            for (labels, count) in rows {
                writeln!(text, "{name}{labels} {count}").ok();
            }
        };
        let requests = lock(&self.requests);
        let requests = requests.iter().map(|(code, n)| (format!("{{code=\"{code}\"}}"), *n));
        family(
            "counterfoil_http_requests_total",
            "counter",
            "Requests over HTTP.",
            requests.collect(),
        );
        let calls = lock(&self.calls);
        let calls = calls.iter().map(|(status, n)| (format!("{{status=\"{status}\"}}"), *n));
        family("counterfoil_tool_calls_total", "counter", "Tool calls.", calls.collect());
        let sessions = vec![(String::new(), sessions as u64)];
        family("counterfoil_sessions", "gauge", "Sessions that are open.", sessions);
        text
    }
}
