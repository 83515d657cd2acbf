use std::sync::Arc;

use counterfoil_guard::Clock;

use crate::store::{CompressionStrategy, Store, StoreError, Summary};

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

    /// What a session goes on with: how many of its messages to the model are compressed already,
    /// and the summaries of them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn load(&self, session: &str) -> Result<(usize, Vec<String>), StoreError> {
        let summaries = self.store.summaries(session)?;
        let compressed = summaries.last().map_or(0, |last| last.until);
        let forgotten = summaries.iter().rposition(|summary| summary.text == FORGOTTEN);
        let since = forgotten.map_or(0, |at| at + 1);
        let texts = summaries.into_iter().skip(since).map(|summary| summary.text);
        Ok((compressed, texts.collect()))
    }

    /// Writes one down. The conversation is only changed once that has happened.
    pub(crate) fn keep(&self, summary: &Summary) -> Result<(), StoreError> {
        self.store.add_summary(summary, self.clock.wall())
    }

    /// Writes down that a session goes on without its first messages to the model, as many as are
    /// given.
    pub(crate) fn forget(&self, session: &str, until: usize) -> Result<(), StoreError> {
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

/// The summary of what the user wanted forgotten.
const FORGOTTEN: &str = "(forgotten: /clear)";
