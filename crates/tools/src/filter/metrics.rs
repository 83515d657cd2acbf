use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::{FilterConfidence, FilterId};

/// The number of commands between two log entries.
const LOGGED_EVERY: u64 = 50;

/// Statistics since the start of this process, by filter.
#[derive(Debug, Default)]
pub struct FilterMetrics {
    counts: Mutex<(u64, BTreeMap<FilterId, FilterCounts>)>,
}

/// The statistics of one filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FilterCounts {
    /// The number of outputs it received.
    pub runs: u64,
    /// Outputs in the expected form.
    pub full: u64,
    /// Outputs of a known command in another form.
    pub partial: u64,
    /// Runs that failed, so that the text was passed on unchanged.
    pub failed: u64,
    /// The number of bytes received.
    pub bytes_in: u64,
    /// The number of bytes returned.
    pub bytes_out: u64,
    /// The number of lines left out.
    pub lines_left_out: u64,
}

impl FilterMetrics {
    /// The statistics by filter.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<FilterId, FilterCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Records one output; `made` is `None` if the filter failed.
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

    /// Records one command, and logs the counts periodically.
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
