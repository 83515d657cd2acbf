use counterfoil_model::Severity;

use crate::opinion::ReadVerdict;

/// Confidence thresholds for grading opinions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grading {
    /// Minimum confidence for a contradiction to be an error and an unsupported statement a
    /// warning.
    pub threshold: f64,
    /// Minimum confidence for a note. Anything below is dropped, confirmed or not.
    pub lowest: f64,
}

impl Default for Grading {
    fn default() -> Self {
        Self { threshold: 0.7, lowest: 0.5 }
    }
}

impl Grading {
    /// The severity of a judge's finding; `None` if it is dropped.
    #[must_use]
    pub fn of_read(
        &self,
        verdict: ReadVerdict,
        confidence: f64,
        confirmed: bool,
    ) -> Option<Severity> {
        // Written so that a confidence of NaN is dropped.
        let reaches = |limit: f64| confidence >= limit;
        match verdict {
            _ if !reaches(self.lowest) => None,
            // A finding the judge itself doubts is not an error, even if code confirms it.
            _ if !reaches(self.threshold) => Some(Severity::Note),
            _ if confirmed => Some(Severity::Error),
            ReadVerdict::Contradicted => Some(Severity::Error),
            ReadVerdict::Unsupported => Some(Severity::Warning),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severity_follows_from_verdict_confidence_and_confirmation() {
        use ReadVerdict::{Contradicted, Unsupported};
        for (verdict, confidence, confirmed, expected) in [
            (Contradicted, 0.9, false, Some(Severity::Error)),
            (Contradicted, 0.7, false, Some(Severity::Error)),
            (Contradicted, 0.69, false, Some(Severity::Note)),
            (Contradicted, 0.6, true, Some(Severity::Note)),
            (Unsupported, 0.9, false, Some(Severity::Warning)),
            (Unsupported, 0.9, true, Some(Severity::Error)),
            (Unsupported, 0.5, true, Some(Severity::Note)),
            (Unsupported, 0.5, false, Some(Severity::Note)),
            (Unsupported, 0.49, true, None),
            (Contradicted, f64::NAN, true, None),
        ] {
            let severity = Grading::default().of_read(verdict, confidence, confirmed);
            assert_eq!(severity, expected, "{verdict:?} {confidence} {confirmed}");
        }
    }
}
