//! Follows the ledger: whatever any process writes there is taken in, and whoever looks on is told.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use counterfoil_guard::{Event, ReadLedgerError};
use hyper::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::Dashboard;
use super::problem::HttpProblem;

/// How often the ledger is asked for more.
const EVERY: Duration = Duration::from_millis(500);

/// Events that are read at once.
const BATCH: u64 = 2_000;

/// One thing that happened, for whoever looks on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct News {
    /// Its place in the ledger, from 0: the id of the event in the stream.
    pub(crate) seq: u64,
    /// The session.
    pub(crate) session: String,
    /// Its place in the session, from 1.
    pub(crate) session_seq: u64,
    /// When: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// What happened: `opened`, `closed`, `rejected`, `said`, `judged`, `approved`, …
    pub(crate) kind: &'static str,
}

impl News {
    pub(crate) fn of(event: &Event) -> Self {
        Self {
            seq: event.seq,
            session: event.session.clone(),
            session_seq: event.session_seq,
            at: event.at,
            kind: event.draft.name(),
        }
    }
}

impl Dashboard {
    /// Takes in what is there and what comes, until this is dropped.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut known = false;
        loop {
            let reading = Arc::clone(&self);
            let read = tokio::task::spawn_blocking(move || reading.take_in(known)).await;
            match read {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => {
                    known = true;
                    tokio::time::sleep(EVERY).await;
                }
                Ok(Err(error)) => {
                    self.index().write().unwrap_or_else(PoisonError::into_inner).trouble =
                        Some(error.to_string());
                    tracing::error!("the ledger cannot be followed: {error}");
                    tokio::time::sleep(10 * EVERY).await;
                }
                Err(error) => {
                    let what = format!("reading the ledger was broken off: {error}");
                    tracing::error!("{what}");
                    self.index().write().unwrap_or_else(PoisonError::into_inner).trouble =
                        Some(what);
                    tokio::time::sleep(10 * EVERY).await;
                }
            }
        }
    }

    /// Takes in what was written meanwhile, for an answer that shows what its request did.
    pub(crate) fn catch_up(&self) -> Result<(), ReadLedgerError> {
        while self.take_in(true)? {}
        Ok(())
    }

    /// Nothing is missing, and nothing is decided, while the ledger is read for the first time.
    pub(crate) fn has_read_all(&self) -> Result<(), HttpProblem> {
        let index = self.known();
        if index.is_complete {
            return Ok(());
        }
        let read = index.next();
        let what = format!("the ledger is still being read, {read} events so far: try again soon");
        Err(HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, what))
    }

    /// The next events; whether there may be more. `tells`: whoever looks on is told.
    fn take_in(&self, tells: bool) -> Result<bool, ReadLedgerError> {
        // One reader at a time, so that nothing is taken in twice.
        let _one = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.index().read().unwrap_or_else(PoisonError::into_inner).next();
        let events = self.ledger().events_from(next, BATCH)?;
        let mut index = self.index().write().unwrap_or_else(PoisonError::into_inner);
        index.trouble = None;
        events.iter().for_each(|event| index.add(event));
        let more = u64::try_from(events.len()).unwrap_or(u64::MAX) >= BATCH;
        index.is_complete |= !more;
        drop(index);
        if tells {
            for event in &events {
                // Nobody may look on.
                self.news.send(News::of(event)).ok();
            }
        }
        Ok(more)
    }
}
