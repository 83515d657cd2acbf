use std::fmt;

/// A part of a whole, shown in per cent with its 95% interval (Wilson).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) part: usize,
    pub(crate) whole: usize,
}

impl Share {
    /// Counts one more case.
    pub(crate) fn count(&mut self, yes: bool) {
        self.part += usize::from(yes);
        self.whole += 1;
    }

    /// The share, from 0 to 1; `None` if the whole is empty.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub(crate) fn value(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }

    /// The 95% interval, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn interval(self) -> Option<(f64, f64)> {
        let p = self.value()?;
        let n = self.whole as f64;
        let z = 1.96_f64;
        let centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt() / (1.0 + z * z / n);
        Some(((centre - half).max(0.0), (centre + half).min(1.0)))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(value), Some((low, high))) = (self.value(), self.interval()) else {
            return f.pad("–");
        };
        let (value, low, high) = (value * 100.0, low * 100.0, high * 100.0);
        f.pad(&format!("{value:.1}% [{low:.1}–{high:.1}]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_carry_their_interval() {
        // Wilson (1927), computed by hand for 8 of 10.
        let cases = [
            (0, 0, "–"),
            (8, 10, "80.0% [49.0–94.3]"),
            (0, 10, "0.0% [0.0–27.8]"),
            (10, 10, "100.0% [72.2–100.0]"),
        ];
        for (part, whole, expected) in cases {
            assert_eq!(Share { part, whole }.to_string(), expected);
        }
    }
}
