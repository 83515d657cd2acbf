use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::value::RawValue;

use crate::fields;

/// A recorded time as milliseconds since the Unix epoch. Accepts RFC 3339, a date and time without
/// a zone (taken as UTC), or a number of seconds, milliseconds or nanoseconds, distinguished by its
/// size.
pub(crate) fn millis(raw: &RawValue) -> Option<i64> {
    if raw.get().starts_with('"') {
        return millis_of(&fields::string(raw)?);
    }
    number(raw.get().parse().ok()?)
}

/// [`millis`] for a string; digits alone are a number.
pub(crate) fn millis_of(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    if let Ok(time) = text.trim_end_matches('Z').parse::<DateTime>() {
        return Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond());
    }
    number(text.parse().ok()?)
}

fn number(value: f64) -> Option<i64> {
    let millis = match value.abs() {
        size if !size.is_finite() || size < 1.0 => return None,
        size if size < 1e11 => value * 1e3,
        size if size < 1e14 => value,
        size if size < 1e17 => value / 1e3,
        _ => value / 1e6,
    };
    #[expect(clippy::cast_possible_truncation, reason = "bounded by the sizes above")]
    (millis.abs() < 1e15).then_some(millis as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_time() {
        for (text, millis) in [
            ("2025-01-04T22:30:00Z", Some(1_736_029_800_000)),
            ("2025-01-04T22:30:00.5+00:00", Some(1_736_029_800_500)),
            ("2025-01-04T22:30:00.500", Some(1_736_029_800_500)),
            ("2025-01-04 22:30:00", Some(1_736_029_800_000)),
            ("1736029800", Some(1_736_029_800_000)),
            ("1736029800000", Some(1_736_029_800_000)),
            ("1736029800000000000", Some(1_736_029_800_000)),
            ("soon", None),
            ("", None),
            ("1e300", None),
        ] {
            assert_eq!(millis_of(text), millis, "{text}");
        }
    }
}
