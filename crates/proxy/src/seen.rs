//! What operators can see: the latest exchanges, counters, and a stream of both.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// The number of exchanges that are kept.
const KEPT: usize = 256;

/// A request and the outcome of its answer, without content.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Exchanged {
    /// In milliseconds since the Unix epoch.
    pub(crate) at: u64,
    pub(crate) session: String,
    pub(crate) wire: &'static str,
    pub(crate) model: String,
    /// The proxy key that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) streamed: bool,
    pub(crate) status: u16,
    /// `passed`, `annotated`, `corrected`, `held`, `not judged`, `broken off`.
    pub(crate) became: &'static str,
    /// The rule codes of the findings, with severity.
    pub(crate) findings: Vec<String>,
    /// The tools whose calls were refused, or should have been.
    pub(crate) refused: Vec<String>,
    /// How often the model was asked again.
    pub(crate) corrections: u32,
    /// What was changed about the tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<String>,
    /// Notes for the operator.
    pub(crate) notes: Vec<String>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// The duration of the whole exchange, in milliseconds.
    pub(crate) took: u64,
}

/// Everything since the process began.
#[derive(Debug)]
pub(crate) struct Log {
    since: Instant,
    last: Mutex<VecDeque<Exchanged>>,
    counts: Mutex<BTreeMap<(&'static str, String), u64>>,
    sender: broadcast::Sender<Exchanged>,
    open: Arc<AtomicU64>,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            last: Mutex::default(),
            counts: Mutex::default(),
            sender: broadcast::Sender::new(KEPT),
            open: Arc::default(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    /// Counts a request as open until the result is dropped.
    pub(crate) fn open(&self) -> Open {
        self.open.fetch_add(1, Ordering::Relaxed);
        Open(Arc::clone(&self.open))
    }

    pub(crate) fn add(&self, exchanged: Exchanged) {
        let Exchanged { session, wire, model, became, status, took, .. } = &exchanged;
        let (findings, refused) = (exchanged.findings.len(), exchanged.refused.len());
        tracing::info!(session, wire, model, became, status, took, findings, refused, "exchange");
        for note in &exchanged.notes {
            tracing::warn!(session, "{note}");
        }
        let mut counts = lock(&self.counts);
        let mut count = |name, label: &str, n: u64| {
            *counts.entry((name, label.to_owned())).or_default() += n;
        };
        count("answers", became, 1);
        count("statuses", &status.to_string(), 1);
        for code in &exchanged.findings {
            count("findings", code.split(' ').next().unwrap_or_default(), 1);
        }
        count("refused", "", refused as u64);
        count("corrections", "", u64::from(exchanged.corrections));
        count("tokens", "input", exchanged.input_tokens);
        count("tokens", "output", exchanged.output_tokens);
        count("milliseconds", "", *took);
        drop(counts);
        let mut last = lock(&self.last);
        last.push_back(exchanged.clone());
        while last.len() > KEPT {
            last.pop_front();
        }
        // There may be no subscriber.
        self.sender.send(exchanged).ok();
    }

    /// The latest exchanges, and a subscription to future ones.
    pub(crate) fn follow(&self) -> (Vec<Exchanged>, broadcast::Receiver<Exchanged>) {
        let last = lock(&self.last);
        (last.iter().cloned().collect(), self.sender.subscribe())
    }

    pub(crate) fn status(&self, sessions: usize, mode: &str) -> Value {
        let counts = lock(&self.counts);
        let of = |name: &str| -> BTreeMap<String, u64> {
            let own = counts.iter().filter(|((known, _), _)| *known == name);
            own.map(|((_, label), n)| (label.clone(), *n)).collect()
        };
        let sum = |name: &str| of(name).values().sum::<u64>();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "mode": mode,
            "up_secs": self.since.elapsed().as_secs(),
            "sessions": sessions,
            "open": self.open.load(Ordering::Relaxed),
            "answers": of("answers"),
            "findings": of("findings"),
            "refused_calls": sum("refused"),
            "corrections": sum("corrections"),
            "tokens": of("tokens"),
        })
    }

    /// The counters in the text format of Prometheus.
    pub(crate) fn metrics(&self, sessions: usize) -> String {
        const FAMILIES: [(&str, &str, &str, &str); 7] = [
            ("answers", "counterfoil_proxy_answers_total", "became", "Answers by outcome."),
            (
                "statuses",
                "counterfoil_proxy_responses_total",
                "code",
                "Responses of servers by status.",
            ),
            ("findings", "counterfoil_proxy_findings_total", "rule", "Findings by rule."),
            (
                "refused",
                "counterfoil_proxy_refused_calls_total",
                "",
                "Tool calls that were invalid or denied.",
            ),
            (
                "corrections",
                "counterfoil_proxy_corrections_total",
                "",
                "Requests to a model for a corrected answer.",
            ),
            ("tokens", "counterfoil_proxy_tokens_total", "kind", "Tokens as servers count them."),
            (
                "milliseconds",
                "counterfoil_proxy_exchange_milliseconds_total",
                "",
                "Time of exchanges.",
            ),
        ];
        let counts = lock(&self.counts);
        let mut text = String::new();
        for (key, name, label, help) in FAMILIES {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
            for ((_, value), n) in counts.iter().filter(|((known, _), _)| *known == key) {
                let _ = match label {
                    "" => writeln!(text, "{name} {n}"),
                    label => writeln!(text, "{name}{{{label}=\"{value}\"}} {n}"),
                };
            }
        }
        let open = self.open.load(Ordering::Relaxed);
        for (name, n, help) in [
            ("counterfoil_proxy_sessions", sessions as u64, "Sessions that are remembered."),
            ("counterfoil_proxy_open", open, "Requests that are being answered."),
        ] {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {n}");
        }
        text
    }
}

/// Counts a request as open until it is dropped.
pub(crate) struct Open(Arc<AtomicU64>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Converts to whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
