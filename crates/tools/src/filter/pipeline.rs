use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use super::preserved::preserved;
use super::terminal::on_paper;
use super::{Filter, FilterCall, FilterConfidence, FilterId, FilterMetrics, FilterSettings};

/// The maximum number of rounds until an output must be stable.
const ROUNDS: usize = 8;

/// The enabled filters and their statistics.
#[derive(Debug)]
pub struct FilterPipeline {
    settings: FilterSettings,
    /// Built when a result is first filtered, which never happens in a hook's process.
    filters: OnceLock<Vec<Arc<dyn Filter>>>,
    metrics: FilterMetrics,
}

/// The result of the pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piped {
    /// The text.
    pub text: String,
    /// The filters applied; empty if the text is unchanged.
    pub filters: Vec<FilterId>,
    /// The lowest confidence among them.
    pub confidence: FilterConfidence,
    /// The number of lines left out.
    pub left_out: usize,
}

impl FilterPipeline {
    /// Creates the pipeline with these settings.
    #[must_use]
    pub fn new(settings: &FilterSettings) -> Self {
        Self {
            settings: settings.clone(),
            filters: OnceLock::new(),
            metrics: FilterMetrics::default(),
        }
    }

    /// The statistics of the filters.
    #[must_use]
    pub fn metrics(&self) -> &FilterMetrics {
        &self.metrics
    }

    /// Filters the text if every command whose output it contains is known; otherwise returns it
    /// unchanged.
    ///
    /// INVARIANT: idempotent: applied to its own result with the same call, it changes nothing.
    #[must_use]
    pub fn apply(&self, text: &str, call: &FilterCall<'_>) -> Piped {
        self.metrics.command();
        let as_it_was = || Piped {
            text: text.to_owned(),
            filters: Vec::new(),
            confidence: FilterConfidence::Fallback,
            left_out: 0,
        };
        let Some(filters) = self.filters_for(call.commands) else { return as_it_was() };
        let mut made = Piped {
            text: on_paper(text).into_owned(),
            filters: filters.iter().map(|filter| filter.id()).collect(),
            confidence: FilterConfidence::Full,
            left_out: 0,
        };
        for filter in filters {
            let got = made.text.len();
            let Some((text, confidence, left_out)) = settled(filter.as_ref(), &made.text, call)
            else {
                tracing::warn!(filter = %filter.id(), "filter failed; output left unfiltered");
                self.metrics.record(filter.id(), got, None);
                return as_it_was();
            };
            self.metrics.record(filter.id(), got, Some((text.len(), left_out, confidence)));
            made.confidence = made.confidence.max(confidence);
            made.left_out += left_out;
            made.text = text;
        }
        // One filter's result may be another's input: an unstable result is not shown.
        if self.moves_on(&made, call) { as_it_was() } else { made }
    }

    fn moves_on(&self, made: &Piped, call: &FilterCall<'_>) -> bool {
        if made.filters.len() < 2 {
            return false;
        }
        let filters = self.filters_for(call.commands).unwrap_or_default();
        filters.iter().any(|filter| {
            settled(filter.as_ref(), &made.text, call).is_none_or(|(text, ..)| text != made.text)
        })
    }

    /// The filters for the commands, without duplicates; `None` if a command matches no filter.
    fn filters_for(&self, commands: &[String]) -> Option<Vec<&Arc<dyn Filter>>> {
        let filters = self.filters.get_or_init(|| self.settings.filters());
        let mut found: Vec<&Arc<dyn Filter>> = Vec::new();
        for command in commands {
            let knows = |filter: &&Arc<dyn Filter>| {
                filter.matchers().iter().any(|matcher| matcher.matches(command))
            };
            let filter = filters.iter().find(knows)?;
            if !found.iter().any(|other| Arc::ptr_eq(other, filter)) {
                found.push(filter);
            }
        }
        (!found.is_empty()).then_some(found)
    }
}

/// Applies a filter until its result is stable; `None` if it panics, never becomes stable, or loses
/// a line that must stay.
fn settled(
    filter: &dyn Filter,
    text: &str,
    call: &FilterCall<'_>,
) -> Option<(String, FilterConfidence, usize)> {
    let apply = |text: &str| catch_unwind(AssertUnwindSafe(|| filter.apply(text, call))).ok();
    let first = apply(text)?;
    let (mut made, confidence, mut left_out) = (first.text, first.confidence, first.left_out);
    let mut still = made == text;
    for _ in 0..ROUNDS {
        if still {
            break;
        }
        let next = apply(&made)?;
        still = next.text == made;
        left_out += next.left_out;
        made = next.text;
    }
    (still && !loses(text, &made)).then_some((made, confidence, left_out))
}

/// Whether a line that must stay is missing from the result.
fn loses(text: &str, made: &str) -> bool {
    if made == text {
        return false;
    }
    let must_stay = preserved(text);
    let mut lines = made.lines();
    // Filters hardly ever change the order, so usually one pass over both finds them all.
    if must_stay.iter().all(|line| lines.any(|made| made == *line)) {
        return false;
    }
    let stays: HashSet<&str> = made.lines().collect();
    must_stay.iter().any(|line| !stays.contains(line))
}
