use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::schedule::calendar::Calendar;
use crate::schedule::cron;
use crate::schedule::interval::Interval;
use crate::schedule::wall_clock::{self, Firing};

/// When a schedule fires, in the form in which it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Rule {
    /// Once, at a moment.
    Moment { at: Timestamp },
    /// Once, when the wall clock shows it.
    Once { at: DateTime },
    /// Again and again by elapsed time.
    Interval(Interval),
    /// Again and again on days of the calendar.
    Calendar(Calendar),
    /// Again and again by a pattern.
    Cron { pattern: String },
}

impl Rule {
    /// The first firing after a moment, which is not before the rule was made.
    pub(crate) fn next_after(
        &self,
        after: Timestamp,
        made: Timestamp,
        zone: &TimeZone,
    ) -> Option<Firing> {
        let after = after.max(made);
        let firing = match self {
            Self::Moment { at } => Some(Firing::on_time(*at)),
            Self::Once { at } => wall_clock::firing(zone, *at),
            Self::Interval(interval) => interval.next_after(after, made, zone),
            Self::Calendar(calendar) => calendar.next_after(after, zone),
            Self::Cron { pattern } => cron::next_after(pattern, after, zone),
        };
        firing.filter(|firing| firing.at > after)
    }
}
