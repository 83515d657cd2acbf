//! Follows the ledger: reads what any process writes to it, and notifies open pages.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use counterfoil_guard::ReadLedgerError;
use hyper::StatusCode;

use super::Dashboard;
use super::news::News;
use super::problem::HttpProblem;

/// How often the ledger is polled.
const EVERY: Duration = Duration::from_millis(500);

/// Number of events read at once.
const BATCH: u64 = 2_000;

impl Dashboard {
    /// Reads existing and new events until the future is dropped.
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
                    tracing::error!("cannot follow the ledger: {error}");
                    tokio::time::sleep(10 * EVERY).await;
                }
                Err(error) => {
                    let what = format!("the task that reads the ledger failed: {error}");
                    tracing::error!("{what}");
                    self.index().write().unwrap_or_else(PoisonError::into_inner).trouble =
                        Some(what);
                    tokio::time::sleep(10 * EVERY).await;
                }
            }
        }
    }

    /// Reads what has been written meanwhile, for a response that shows the effect of its request.
    pub(crate) fn catch_up(&self) -> Result<(), ReadLedgerError> {
        while self.take_in(true)? {}
        Ok(())
    }

    /// Checks that the ledger was read to its end. While it is being read for the first time, or
    /// cannot be read further, nothing can be called missing and no decision can be made.
    pub(crate) fn has_read_all(&self) -> Result<(), HttpProblem> {
        let index = self.known();
        let read = index.next();
        let what = match &index.trouble {
            Some(trouble) => {
                format!("cannot read the ledger beyond the first {read} events: {trouble}")
            }
            None if index.is_complete => return Ok(()),
            None => {
                format!("the ledger is still being read, {read} events so far: try again shortly")
            }
        };
        Err(HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, what))
    }

    /// Reads the next events, and returns whether there may be more. If `tells` is set, live
    /// readers are notified.
    fn take_in(&self, tells: bool) -> Result<bool, ReadLedgerError> {
        // Only one reader at a time, so that nothing is added twice.
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
                // There may be no live readers.
                self.news.send(News::from_event(event)).ok();
            }
        }
        Ok(more)
    }
}
