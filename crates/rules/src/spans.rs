//! Stretches of a text, for whoever asks of many places whether one of them is there.

use counterfoil_model::Span;

/// Stretches of one text, in their order and apart from each other.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<Span>);

impl Spans {
    /// Those that overlap become one.
    pub(crate) fn of(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut spans: Vec<Span> = spans.into_iter().collect();
        spans.sort_unstable_by_key(|span| (span.start, span.end));
        spans.dedup_by(|next, kept| {
            let overlaps = next.start < kept.end;
            if overlaps {
                kept.end = kept.end.max(next.end);
            }
            overlaps
        });
        Self(spans)
    }

    /// Whether one of them overlaps a stretch.
    pub(crate) fn overlap(&self, span: Span) -> bool {
        let first = self.0.partition_point(|own| own.end <= span.start);
        self.0.get(first).is_some_and(|own| own.start < span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_found_wherever_they_are() {
        let spans = [(30, 34), (2, 5), (4, 9), (12, 12), (20, 22), (1, 3)];
        let spans = spans.map(|(start, end)| Span::new(start, end));
        let merged = Spans::of(spans);
        for start in 0..40 {
            for end in start..40 {
                let own = Span::new(start, end);
                let any = spans.iter().any(|span| span.start < own.end && own.start < span.end);
                assert_eq!(merged.overlap(own), any, "{own:?}");
            }
        }
    }
}
