use jiff::Zoned;
use jiff::civil::{Date, Time};

use crate::schedule::calendar::{Calendar, On, Period};
use crate::schedule::clause::{Amount, Clauses, Day, Position, Recurrence, Said};
use crate::schedule::error::ScheduleError;
use crate::schedule::interval::{Hours, Interval};
use crate::schedule::lexicon::{Part, Unit};
use crate::schedule::time_of_day;
use crate::schedule::weekdays::{self, Weekdays};

use super::{conflict, exclude, midnight_of, times};

/// Ten years.
const MOST_SECONDS: i64 = 3660 * 24 * 3600;

/// "every 15 minutes between 9 and 17 on weekdays".
pub(super) fn interval(
    clauses: &Clauses,
    repeat: &Said<Amount>,
) -> Result<Interval, ScheduleError> {
    exclude(clauses.times.as_ref(), &repeat.words)?;
    exclude(clauses.part.as_ref(), &repeat.words)?;
    let Amount { count, unit } = repeat.value;
    let seconds = unit.seconds().and_then(|unit| unit.checked_mul(i64::from(count)));
    let seconds = seconds.filter(|seconds| *seconds <= MOST_SECONDS);
    let seconds = seconds.ok_or_else(|| ScheduleError::TooFar { word: repeat.words.clone() })?;
    if seconds < 60 {
        return Err(ScheduleError::TooOften { word: repeat.words.clone() });
    }
    let days = match &clauses.day {
        None => Weekdays::all(),
        Some(day) => interval_days(day, repeat)?,
    };
    let hours = match &clauses.window {
        None => None,
        Some(window) => {
            let (from, to) = window.value;
            let (from, to) = time_of_day::window(from, to, &window.words)?;
            let hours = Hours { from, to };
            if hours.seconds() < seconds {
                return Err(conflict(window, &repeat.words));
            }
            Some(hours)
        }
    };
    Ok(Interval { seconds, days, hours })
}

fn interval_days(day: &Said<Day>, repeat: &Said<Amount>) -> Result<Weekdays, ScheduleError> {
    match &day.value {
        Day::Weekdays(days, Recurrence::Each) => Ok(*days),
        Day::Weekdays(days, _) => {
            let names: Vec<String> =
                days.days().map(|day| weekdays::name(day).to_lowercase()).collect();
            Err(ScheduleError::Ambiguous {
                word: day.words.clone(),
                first: format!("on {}s", names.join("s and ")),
                second: format!("only {}", day.words),
            })
        }
        _ => Err(conflict(day, &repeat.words)),
    }
}

/// "every 2 weeks on friday at 9".
///
/// What is counted is counted from its first firing; where neither a day nor a time is said, from
/// now.
pub(super) fn calendar(
    clauses: &Clauses,
    repeat: Option<&Said<Amount>>,
    now: &Zoned,
) -> Result<Calendar, ScheduleError> {
    if let Some(window) = &clauses.window {
        return Err(ScheduleError::NoInterval { word: window.words.clone() });
    }
    let said = times(clauses)?;
    let day = clauses.day.as_ref();
    let (every, unit, on) = match repeat {
        Some(repeat) => repeated_days(clauses, repeat, now)?,
        None => days_alone(day)?,
    };
    let night = midnight_of(clauses, Part::Night).filter(|_| on != On::EachDay);
    if let Some(part) = night.or_else(|| midnight_of(clauses, Part::Tonight)) {
        return Err(conflict(part, "midnight"));
    }
    let unsaid_time = said.is_empty();
    let times = if unsaid_time { vec![whole_minute(now)] } else { said };
    let calendar = Calendar { every, unit, from: now.date(), on, times, unsaid_time };
    if unsaid_time && day.is_none() {
        return Ok(calendar);
    }
    count_from_first(calendar, day, now)
}

/// Lets the counting begin with the first day that fits.
fn count_from_first(
    calendar: Calendar,
    day: Option<&Said<Day>>,
    now: &Zoned,
) -> Result<Calendar, ScheduleError> {
    let mut any = Calendar { every: 1, ..calendar.clone() };
    if let Some(Said { value: Day::Date { month, .. }, .. }) = day {
        any.every = 12;
        any.from = Date::new(now.year(), *month, 1).unwrap_or(now.date());
    }
    let first = any.next_after(now.timestamp(), now.time_zone()).ok_or(ScheduleError::Never)?;
    let clock = first.instead_of.unwrap_or_else(|| now.time_zone().to_datetime(first.at));
    Ok(Calendar { from: clock.date(), ..calendar })
}

fn whole_minute(now: &Zoned) -> Time {
    Time::new(now.hour(), now.minute(), 0, 0).unwrap_or(Time::midnight())
}

/// Days that recur by themselves: "every monday", "the 1st of every month".
fn days_alone(day: Option<&Said<Day>>) -> Result<(i32, Period, On), ScheduleError> {
    match day.map(|day| &day.value) {
        Some(Day::Weekdays(days, _)) => Ok((1, Period::Weeks, On::Weekdays(*days))),
        Some(Day::OfMonth(days, _)) => Ok((1, Period::Months, On::Days(days.clone()))),
        Some(Day::Nth(positions, days, _)) => {
            Ok((1, Period::Months, On::Nth(positions.clone(), *days)))
        }
        Some(Day::After(_) | Day::Next(_) | Day::This(_) | Day::Date { .. }) | None => {
            Err(ScheduleError::Never)
        }
    }
}

/// Days of every so many days, weeks, months or years.
fn repeated_days(
    clauses: &Clauses,
    repeat: &Said<Amount>,
    now: &Zoned,
) -> Result<(i32, Period, On), ScheduleError> {
    let (every, unit) = period(repeat)?;
    let yearly = repeat.value.unit == Unit::Year;
    let Some(day) = &clauses.day else {
        let on = match unit {
            Period::Days => return Ok((every, unit, On::EachDay)),
            Period::Weeks => On::Weekdays(Weekdays::one(now.weekday())),
            Period::Months => On::DayOrLast(now.day()),
        };
        return match &clauses.times {
            Some(_) => Err(ScheduleError::NoDay { word: repeat.words.clone() }),
            None => Ok((every, unit, on)),
        };
    };
    match (unit, &day.value) {
        (Period::Days, Day::Weekdays(days, Recurrence::Each))
            if every == 1 && days.single().is_none() =>
        {
            Ok((1, Period::Weeks, On::Weekdays(*days)))
        }
        (Period::Weeks, Day::Weekdays(days, _)) => Ok((every, unit, On::Weekdays(*days))),
        (Period::Months, Day::OfMonth(days, _)) if !yearly => {
            Ok((every, unit, On::Days(days.clone())))
        }
        (Period::Months, Day::Nth(positions, days, _)) if !yearly => {
            Ok((every, unit, On::Nth(positions.clone(), *days)))
        }
        (Period::Months, Day::Date { year: None, day, .. }) if yearly => {
            Ok((every, unit, On::Days(vec![Position::Nth(*day)])))
        }
        _ => Err(conflict(day, &repeat.words)),
    }
}

/// In days, weeks or months, at most ten years of them.
fn period(repeat: &Said<Amount>) -> Result<(i32, Period), ScheduleError> {
    let (factor, unit, most) = match repeat.value.unit {
        Unit::Week => (1, Period::Weeks, 520),
        Unit::Fortnight => (2, Period::Weeks, 520),
        Unit::Month => (1, Period::Months, 120),
        Unit::Year => (12, Period::Months, 120),
        Unit::Second | Unit::Minute | Unit::Hour | Unit::Day => (1, Period::Days, 3660),
    };
    let every = i32::try_from(repeat.value.count).ok().and_then(|count| count.checked_mul(factor));
    let every = every.filter(|every| *every <= most);
    let every = every.ok_or_else(|| ScheduleError::TooFar { word: repeat.words.clone() })?;
    Ok((every, unit))
}
