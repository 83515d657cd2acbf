use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::{FilterConfidence, FilterId};

/// After so many commands the counts are logged.
const LOGGED_EVERY: u64 = 50;

/// What filters did since the start of this process, by filter.
#[derive(Debug, Default)]
pub struct FilterMetrics {
    counts: Mutex<(u64, BTreeMap<FilterId, FilterCounts>)>,
}

/// What one filter did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FilterCounts {
    /// Outputs that it got.
    pub runs: u64,
    /// Outputs that had the form that they should have.
    pub full: u64,
    /// Outputs of which only the command was known.
    pub partial: u64,
    /// Times that it failed, so that the text passed on as it was.
    pub failed: u64,
    /// Bytes that it got.
    pub bytes_in: u64,
    /// Bytes that it gave.
    pub bytes_out: u64,
    /// Lines that it left out.
    pub lines_left_out: u64,
}

impl FilterMetrics {
    /// What each filter did.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<FilterId, FilterCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Takes note of one output; `made` is `None` when the filter failed.
    pub(super) fn record(
        &self,
        id: FilterId,
        got: usize,
        made: Option<(usize, usize, FilterConfidence)>,
    ) {
        let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let one = counts.1.entry(id).or_default();
        one.runs += 1;
        one.bytes_in += wide(got);
        match made {
            None => {
                one.failed += 1;
                one.bytes_out += wide(got);
            }
            Some((gave, left_out, confidence)) => {
                one.bytes_out += wide(gave);
                one.lines_left_out += wide(left_out);
                match confidence {
                    FilterConfidence::Full => one.full += 1,
                    FilterConfidence::Partial => one.partial += 1,
                    FilterConfidence::Fallback => one.failed += 1,
                }
            }
        }
    }

    /// Takes note of one command, and logs the counts from time to time.
    pub(super) fn command(&self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.0 += 1;
        if counts.0.is_multiple_of(LOGGED_EVERY) {
            for (id, one) in &counts.1 {
                tracing::debug!(
                    filter = %id,
                    runs = one.runs,
                    full = one.full,
                    partial = one.partial,
                    failed = one.failed,
                    bytes_in = one.bytes_in,
                    bytes_out = one.bytes_out,
                    "filters after {} commands", counts.0
                );
            }
        }
    }
}
