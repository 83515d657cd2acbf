use std::sync::Arc;

use counterfoil_guard::Clock;

use crate::compress::{Compression, Summary};
use crate::store::{CompressionStrategy, NewSummary, Store, StoreError, StoredSummary};

/// Summaries in a store.
pub struct KeptSummaries {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
}

impl KeptSummaries {
    /// In this store.
    #[must_use]
    pub fn new(store: Arc<Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// What a session is gone on with: how many of its messages to the model are compressed
    /// already, and the summaries of them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(&self, session: &str) -> Result<(usize, Vec<String>), StoreError> {
        let summaries = self.store.summaries(session)?;
        let compressed = summaries.last().map_or(0, |last| next(last.to_message));
        let forgotten = summaries.iter().rposition(|summary| summary.text == FORGOTTEN);
        let since = forgotten.map_or(0, |at| at + 1);
        let texts = summaries.into_iter().skip(since).map(|summary: StoredSummary| summary.text);
        Ok((usize::try_from(compressed).unwrap_or(usize::MAX), texts.collect()))
    }
}

/// What stands in the place of what the user wanted forgotten.
const FORGOTTEN: &str = "(forgotten: /clear)";

fn next(message: u64) -> u64 {
    message.saturating_add(1)
}

impl Compression for KeptSummaries {
    fn keep(&self, summary: &Summary) -> Result<(), String> {
        let before = self.store.summaries(&summary.session).map_err(|error| error.to_string())?;
        let from_message = before.last().map_or(0, |last| next(last.to_message));
        let until = u64::try_from(summary.until).unwrap_or(u64::MAX);
        let new = NewSummary {
            session: summary.session.clone(),
            compaction_method: summary.strategy,
            text: summary.text.clone(),
            from_message,
            to_message: until.saturating_sub(1).max(from_message),
            at: self.clock.wall(),
        };
        self.store.add_summary(&new).map(drop).map_err(|error| error.to_string())
    }

    fn forget(&self, session: &str, until: usize) -> Result<(), String> {
        if until == 0 {
            return Ok(());
        }
        self.keep(&Summary {
            session: session.to_owned(),
            strategy: CompressionStrategy::Manual,
            text: FORGOTTEN.to_owned(),
            until,
        })
    }
}
