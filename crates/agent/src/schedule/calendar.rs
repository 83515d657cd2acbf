use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Unit};
use serde::{Deserialize, Serialize};

use crate::schedule::cron;
use crate::schedule::wall_clock::{self, Firing};
use crate::schedule::weekdays::Weekdays;

/// Days of a calendar, at times of the wall clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calendar {
    /// Every how many days, weeks or months: 1 is each of them.
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

/// Which days of a period. Positions are from 1 on; the last one is -1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum On {
    /// All of them.
    EachDay,
    Weekdays(Weekdays),
    /// Days of a month; a month without the day is left out.
    Days(Vec<i8>),
    /// A day of a month, or the last one of a month without it.
    DayOrLast(i8),
    /// Weekdays by their positions in a month.
    Nth(Vec<i8>, Weekdays),
}

/// How many days are looked at: 29 February every 10 years is the rarest that comes, and the years
/// 2100, 2200 and 2300 have none.
const MOST_DAYS: usize = 60 * 366;

impl Calendar {
    /// The first firing after a moment.
    pub(crate) fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Firing> {
        let days = cron::parsed(&format!("0 0 {}", self.on.fields())).ok()?;
        let mut date = zone.to_datetime(after).date().max(self.from);
        for _ in 0..MOST_DAYS {
            date = days.find_next_occurrence(&date.at(0, 0, 0, 0), true).ok()?.date();
            if self.counts(date) {
                let firings =
                    self.times.iter().map(|time| wall_clock::firing(zone, date.to_datetime(*time)));
                let mut later = firings.flatten().filter(|firing| firing.at > after);
                if let Some(firing) = later.next() {
                    return Some(firing);
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// Whether a day is in one of the periods that count.
    fn counts(&self, date: Date) -> bool {
        let days = |from: Date| from.until((Unit::Day, date)).map(|span| span.get_days());
        let periods = match self.unit {
            Period::Days => days(self.from).ok(),
            Period::Weeks => days(monday(self.from)).ok().map(|days| days.div_euclid(7)),
            Period::Months => Some(month_number(date) - month_number(self.from)),
        };
        let is_day = match self.on {
            On::DayOrLast(day) => date.day() == day || date.days_in_month() < day,
            _ => true,
        };
        is_day && periods.and_then(|count| count.checked_rem(self.every)) == Some(0)
    }
}

impl On {
    /// The days as the last three fields of a cron pattern.
    fn fields(&self) -> String {
        let position = |day: &i8| if *day < 0 { "L".to_owned() } else { day.to_string() };
        let list = |items: Vec<String>| items.join(",");
        match self {
            Self::EachDay => "* * *".to_owned(),
            Self::Weekdays(days) => {
                format!("* * {}", list(days.numbers().map(|day| day.to_string()).collect()))
            }
            Self::Days(days) => format!("{} * *", list(days.iter().map(position).collect())),
            Self::DayOrLast(day @ ..=28) => format!("{day} * *"),
            Self::DayOrLast(day) => format!("{day},L * *"),
            Self::Nth(positions, days) => {
                let days = days.numbers().flat_map(|day| {
                    positions.iter().map(move |at| format!("{day}#{}", position(at)))
                });
                format!("* * {}", list(days.collect()))
            }
        }
    }
}

/// The Monday of a day's week; the day itself at the beginning of time.
fn monday(date: Date) -> Date {
    let days = i64::from(date.weekday().to_monday_zero_offset());
    date.checked_sub(days.days()).unwrap_or(date)
}

/// Months since the year 0.
fn month_number(date: Date) -> i32 {
    i32::from(date.year()) * 12 + i32::from(date.month())
}
