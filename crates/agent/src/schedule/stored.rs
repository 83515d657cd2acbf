use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::schedule::calendar::{Calendar, On, Period};
use crate::schedule::cron;
use crate::schedule::error::ScheduleError;
use crate::schedule::interval::Interval;
use crate::schedule::planned::Schedule;
use crate::schedule::rule::Rule;

const VERSION: u8 = 1;

/// How a schedule is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stored {
    version: u8,
    made: Timestamp,
    #[serde(with = "jiff::fmt::serde::tz::required")]
    zone: TimeZone,
    rule: Rule,
}

impl From<Schedule> for Stored {
    fn from(schedule: Schedule) -> Self {
        let Schedule { made, zone, rule } = schedule;
        Self { version: VERSION, made, zone, rule }
    }
}

impl TryFrom<Stored> for Schedule {
    type Error = ScheduleError;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { version, made, zone, rule } = stored;
        let refused = |reason: &str| ScheduleError::Stored { reason: reason.to_owned() };
        if version != VERSION {
            return Err(refused("its version is not 1"));
        }
        match &rule {
            Rule::Moment { .. } | Rule::Once { .. } => {}
            Rule::Interval(interval) => check_interval(interval).map_err(refused)?,
            Rule::Calendar(calendar) => check_calendar(calendar).map_err(refused)?,
            Rule::Cron { pattern } => {
                if cron::normal(pattern)? != *pattern {
                    return Err(refused("its cron pattern is not as it was written"));
                }
            }
        }
        Ok(Self { made, zone, rule })
    }
}

fn check_interval(interval: &Interval) -> Result<(), &'static str> {
    let Interval { seconds, hours, .. } = interval;
    let fits = hours.is_none_or(|hours| hours.seconds() >= *seconds);
    if *seconds < 60 || !fits { Err("its interval is out of bounds") } else { Ok(()) }
}

fn check_calendar(calendar: &Calendar) -> Result<(), &'static str> {
    if calendar.every < 1 {
        return Err("its period is less than 1");
    }
    if calendar.times.is_empty() || !calendar.times.is_sorted() {
        return Err("its times are missing or out of order");
    }
    let fits = match (&calendar.on, calendar.unit) {
        (On::EachDay, Period::Days) | (On::Weekdays(_), Period::Weeks) => true,
        (On::Days(days), Period::Months) => !days.is_empty(),
        (On::Nth(positions, _), Period::Months) => !positions.is_empty(),
        (On::DayOrLast(day), Period::Months) => (1..=31).contains(day),
        _ => false,
    };
    if fits { Ok(()) } else { Err("its days do not go with its period") }
}
