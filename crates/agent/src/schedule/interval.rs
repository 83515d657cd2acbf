use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::schedule::wall_clock::{self, Firing};
use crate::schedule::weekdays::Weekdays;

/// An interval of elapsed time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Interval {
    /// At least 60.
    pub(crate) seconds: i64,
    /// The days on which it fires.
    pub(crate) days: Weekdays,
    /// The hours in which it fires; without them it is counted from when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hours: Option<Hours>,
}

/// Hours of a day, both ends included; into the next day where the end is not after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hours {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

/// How many times on other days are skipped: those of six days, by the minute.
const MOST_SKIPS: usize = 6 * 24 * 60;

impl Hours {
    /// How long they are on a day without a change of clocks, in seconds.
    pub(crate) fn seconds(self) -> i64 {
        let length = self.to.duration_since(self.from).as_secs();
        if length > 0 { length } else { length + 24 * 3600 }
    }
}

impl Interval {
    /// The first firing after a moment, counted from `made`.
    pub(crate) fn next_after(
        &self,
        after: Timestamp,
        made: Timestamp,
        zone: &TimeZone,
    ) -> Option<Firing> {
        if let Some(hours) = self.hours {
            return self.next_within(hours, after, zone);
        }
        let mut at = after;
        for _ in 0..=MOST_SKIPS {
            at = self.step_after(made, at)?;
            if self.days.contains(zone.to_datetime(at).weekday()) {
                return Some(Firing::on_time(at));
            }
        }
        None
    }

    /// Counted from the start of the hours, anew each day.
    fn next_within(&self, hours: Hours, after: Timestamp, zone: &TimeZone) -> Option<Firing> {
        // The hours of the day before may reach into this one.
        let mut date = zone.to_datetime(after).date().yesterday().ok()?;
        for _ in 0..10 {
            if self.days.contains(date.weekday()) {
                let last = if hours.to > hours.from { date } else { date.tomorrow().ok()? };
                let start = wall_clock::firing(zone, date.to_datetime(hours.from))?;
                let end = wall_clock::firing(zone, last.to_datetime(hours.to))?;
                if after < start.at {
                    return Some(start);
                }
                let at = self.step_after(start.at, after)?;
                if at <= end.at {
                    return Some(Firing::on_time(at));
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// The first whole number of steps from an origin that ends after a moment, at least one.
    fn step_after(&self, origin: Timestamp, after: Timestamp) -> Option<Timestamp> {
        let elapsed = after.duration_since(origin).as_secs().max(0);
        let steps = elapsed.checked_div(self.seconds)?.checked_add(1)?;
        let seconds = steps.checked_mul(self.seconds)?;
        origin.checked_add(SignedDuration::from_secs(seconds)).ok()
    }
}
