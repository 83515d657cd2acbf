use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::schedule::clause::Position;
use crate::schedule::wall_clock::{self, Firing};
use crate::schedule::weekdays::Weekdays;

/// Days of a calendar, at times of the wall clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calendar {
    /// Every so many days, weeks or months: 1 is each of them.
    pub(crate) every: i32,
    pub(crate) unit: Period,
    /// A day of the first period that counts; nothing happens before it.
    pub(crate) from: Date,
    pub(crate) on: On,
    /// In order, never empty.
    pub(crate) times: Vec<Time>,
    /// Whether the phrase had no time, so that the time is the one at which it was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unsaid_time: bool,
}

/// What is counted; weeks begin on Monday, years are 12 months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Period {
    Days,
    Weeks,
    Months,
}

/// Which days of a period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum On {
    /// All of them.
    EachDay,
    Weekdays(Weekdays),
    /// Days of a month; a month without the day is left out.
    Days(Vec<Position>),
    /// A day of a month, or the last one of a month without it.
    DayOrLast(i8),
    /// Weekdays by their positions in a month.
    Nth(Vec<Position>, Weekdays),
}

/// How far ahead a day is sought: 29 February every 10 years is the rarest that comes, and the
/// years 2100, 2200 and 2300 have none.
const MOST_DAYS: usize = 60 * 366;

impl Calendar {
    /// The first firing after a moment.
    pub(crate) fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Firing> {
        let clock = zone.to_datetime(after);
        let mut date = clock.date().max(self.from);
        for _ in 0..MOST_DAYS {
            if self.contains(date) {
                let firings = self.times.iter().filter_map(|time| {
                    let clock = DateTime::from_parts(date, *time);
                    wall_clock::firing(zone, clock)
                });
                if let Some(firing) = firings.into_iter().find(|firing| firing.at > after) {
                    return Some(firing);
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// Whether it fires on a day.
    fn contains(&self, date: Date) -> bool {
        date >= self.from && self.on.contains(date) && self.counts(date)
    }

    /// Whether the period of a day is one of every so many.
    fn counts(&self, date: Date) -> bool {
        let periods = match self.unit {
            Period::Days => days_between(self.from, date),
            Period::Weeks => days_between(monday(self.from), date).map(|days| days / 7),
            Period::Months => Some(month_number(date) - month_number(self.from)),
        };
        periods.and_then(|count| count.checked_rem(self.every)) == Some(0)
    }
}

impl On {
    fn contains(&self, date: Date) -> bool {
        let is_last = date.day() == date.days_in_month();
        match self {
            Self::EachDay => true,
            Self::Weekdays(days) => days.contains(date.weekday()),
            Self::Days(days) => days.iter().any(|day| match day {
                Position::Nth(day) => date.day() == *day,
                Position::Last => is_last,
            }),
            Self::DayOrLast(day) => date.day() == *day || (is_last && date.day() < *day),
            Self::Nth(positions, days) => {
                let week = (date.day() - 1) / 7 + 1;
                let in_last_week = date.days_in_month() - date.day() < 7;
                let fits = |position: &Position| match position {
                    Position::Nth(number) => week == *number,
                    Position::Last => in_last_week,
                };
                days.contains(date.weekday()) && positions.iter().any(fits)
            }
        }
    }
}

fn days_between(from: Date, to: Date) -> Option<i32> {
    let elapsed: SignedDuration = to.duration_since(from);
    i32::try_from(elapsed.as_hours() / 24).ok()
}

/// The Monday of a day's week; the day itself at the beginning of time.
fn monday(date: Date) -> Date {
    let days = i64::from(date.weekday().to_monday_zero_offset());
    date.checked_sub(SignedDuration::from_hours(24 * days)).unwrap_or(date)
}

/// Months since the year 0.
fn month_number(date: Date) -> i32 {
    i32::from(date.year()) * 12 + i32::from(date.month())
}
