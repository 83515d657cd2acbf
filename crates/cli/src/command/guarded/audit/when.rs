use std::str::FromStr;
use std::time::SystemTime;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};

/// A point in time: a time, a day (in UTC), or how long ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct When(Timestamp);

impl When {
    /// Milliseconds since the Unix epoch.
    pub(super) fn millis(self) -> i64 {
        self.0.as_millisecond()
    }

    fn read(text: &str, now: Timestamp) -> Option<Self> {
        let time = || text.parse::<Timestamp>().ok();
        let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|z| z.timestamp());
        let ago = || {
            let span = text.trim_end_matches("ago").trim().parse::<Span>().ok()?;
            let long = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
            now.checked_sub(long).ok()
        };
        time().or_else(day).or_else(ago).map(Self)
    }
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let now = Timestamp::try_from(SystemTime::now()).map_err(|error| error.to_string())?;
        Self::read(text, now).ok_or_else(|| {
            "expected a date (2026-11-02), a time (2026-11-02T12:00:00Z) or an age (90m, 24h, 7d)"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let now: Timestamp = "2026-11-02T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("2026-11-01", Some("2026-11-01T00:00:00Z")),
            ("2026-11-01T10:30:00Z", Some("2026-11-01T10:30:00Z")),
            ("2026-11-01T10:30:00+02:00", Some("2026-11-01T08:30:00Z")),
            ("90m", Some("2026-11-02T10:30:00Z")),
            ("24h", Some("2026-11-01T12:00:00Z")),
            ("7d", Some("2026-10-26T12:00:00Z")),
            ("1h 30m ago", Some("2026-11-02T10:30:00Z")),
            ("yesterday", None),
            ("", None),
        ] {
            let expected = expected.map(|time| When(time.parse().unwrap()));
            assert_eq!(When::read(text, now), expected, "{text}");
        }
    }
}
