//! Clauses become a rule: which of them go together, and what they mean when they are said.

use jiff::civil::{Date, Time, Weekday};
use jiff::{Span, ToSpan as _, Unit, Zoned};

use crate::schedule::calendar::{Calendar, On, Period};
use crate::schedule::error::ScheduleError::{
    self, Conflict, Empty, Incomplete, Never, NotUnderstood, Past, TooFar, TooOften,
};
use crate::schedule::interval::{Hours, Interval};
use crate::schedule::phrase::{Clauses, Clock, Day, PERIOD, Parsed};
use crate::schedule::planned::Rule;
use crate::schedule::wall_clock;
use crate::schedule::weekdays::Weekdays;

const TIME: &str = "a time of day; add one, such as `at 9am` or `at 17:30`";
const INTERVAL: &str = "an interval; add one, such as `every 15 minutes`";
const HALF: &str = "am or pm for both times, or two different hours from 0 to 23";
const ONE_DAY: &str = "`every` if it recurs, or a single day";
const PLURAL: &str = "`every`, or the plural, such as `on mondays`";
const THIS_OR_NEXT: &str =
    "a date, because its week is unclear; for the coming day, use `on` instead of `next`";
const DAY: &str = "a day as well as a time; add one, such as `on friday` or `on the 3rd`";

/// What the clauses of a phrase mean when they are said `now`, which has no fraction of a second.
///
/// # Errors
/// When a clause is missing, two exclude each other, or what they mean is over.
pub(crate) fn rule(clauses: &Clauses, now: &Zoned) -> Result<Rule, ScheduleError> {
    let recurs = match clauses.day.as_ref().map(|day| &day.value) {
        Some(Day::Weekdays { recurs, .. } | Day::Nth { recurs, .. }) => *recurs,
        Some(Day::After(_) | Day::Next(_) | Day::This(_) | Day::Date { .. }) | None => false,
    };
    match (&clauses.delay, &clauses.repeat) {
        (Some(delay), _) => after(clauses, delay, now),
        (None, Some(repeat)) if repeat.value.1 <= Unit::Hour => interval(clauses, repeat),
        (None, None) if !recurs => once(clauses, now),
        _ => calendar(clauses, now),
    }
}

/// Refuses a clause that contradicts another one, if there is one.
fn exclude<T>(slot: Option<&Parsed<T>>, with: &str) -> Result<(), ScheduleError> {
    slot.map_or(Ok(()), |clause| Err(Conflict(clause.words.clone(), with.to_owned())))
}

/// The times of day in order, within the part of the day; empty if the phrase names none.
fn times(clauses: &Clauses) -> Result<Vec<Time>, ScheduleError> {
    let Some(parsed) = &clauses.times else {
        return match &clauses.part {
            Some(part) => Err(Incomplete(part.words.clone(), TIME)),
            None => Ok(Vec::new()),
        };
    };
    let within = |clock: &Clock| match &clauses.part {
        None => Ok(clock.time),
        Some(part) => {
            let mut readings = [Some(clock.time), clock.later].into_iter().flatten();
            let fits = readings.find(|time| part.value.contains(&time.hour()));
            fits.ok_or_else(|| Conflict(part.words.clone(), parsed.words.clone()))
        }
    };
    let mut times = parsed.value.iter().map(within).collect::<Result<Vec<Time>, _>>()?;
    times.sort_unstable();
    times.dedup();
    Ok(times)
}

/// "in 2 days": days and more are those of the calendar, hours and less are elapsed time.
fn after(clauses: &Clauses, delay: &Parsed<String>, now: &Zoned) -> Result<Rule, ScheduleError> {
    exclude(clauses.repeat.as_ref(), &delay.words)?;
    exclude(clauses.day.as_ref(), &delay.words)?;
    exclude(clauses.window.as_ref(), &delay.words)?;
    let far = |_| TooFar(delay.words.clone());
    let not_understood = |_| NotUnderstood(delay.words.clone());
    let span: Span = delay.value.parse().map_err(not_understood)?;
    let target = now.checked_add(span).map_err(far)?;
    if target.year() > now.year().saturating_add(100) {
        return Err(TooFar(delay.words.clone()));
    }
    if span.is_zero() {
        return Err(Past(delay.words.clone()));
    }
    let elapses = span.get_hours() != 0 || span.get_minutes() != 0 || span.get_seconds() != 0;
    match (times(clauses)?.as_slice(), &clauses.times) {
        ([], _) if elapses => Ok(Rule::Moment { at: target.timestamp() }),
        ([], _) => Ok(Rule::Once { at: now.datetime().checked_add(span).map_err(far)? }),
        ([time], _) if !elapses => Ok(Rule::Once { at: target.date().to_datetime(*time) }),
        (_, times) => {
            let times = times.as_ref().map(|parsed| parsed.words.clone());
            Err(Conflict(times.unwrap_or_default(), delay.words.clone()))
        }
    }
}

/// "tomorrow at 5pm".
fn once(clauses: &Clauses, now: &Zoned) -> Result<Rule, ScheduleError> {
    if let Some(window) = &clauses.window {
        return Err(Incomplete(window.words.clone(), INTERVAL));
    }
    let day = clauses.day.as_ref();
    let dates = dates(day, now.date())?;
    let times = times(clauses)?;
    let words = [day.map(|day| &day.words), clauses.times.as_ref().map(|times| &times.words)];
    let words = words.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
    let [time] = times.as_slice() else {
        let several = "`every` if the task recurs; otherwise only one time of day";
        return Err(match words.as_str() {
            "" => Empty,
            words => Incomplete(words.to_owned(), if times.is_empty() { TIME } else { several }),
        });
    };
    let at = dates.into_iter().map(|date| date.to_datetime(*time));
    let zone = now.time_zone();
    let is_to_come =
        |at: &_| wall_clock::firing(zone, *at).is_some_and(|firing| firing.at > now.timestamp());
    let at = at.into_iter().find(is_to_come);
    at.map(|at| Rule::Once { at }).ok_or(Past(words))
}

/// The days that can be meant, in order.
fn dates(day: Option<&Parsed<Day>>, today: Date) -> Result<Vec<Date>, ScheduleError> {
    let days_where = |most: usize, fits: &dyn Fn(Date) -> bool| {
        today.series(1.day()).take(most + 1).filter(|date| fits(*date)).collect()
    };
    let Some(Parsed { value, words }) = day else { return Ok(days_where(1, &|_| true)) };
    Ok(match value {
        Day::After(days) => today.checked_add(i64::from(*days).days()).into_iter().collect(),
        Day::Next(weekday) => vec![next_week(*weekday, today, words)?],
        Day::This(weekday) => {
            let day = |day: Weekday| i64::from(day.to_monday_zero_offset());
            let ahead = day(*weekday) - day(today.weekday());
            today.checked_add(ahead.days()).into_iter().collect()
        }
        Day::Date { year: Some(year), month, day } => {
            Date::new(*year, *month, *day).into_iter().collect()
        }
        // Around 2100, eight years go by without a 29 February.
        Day::Date { year: None, month, day } => (today.year()..=today.year().saturating_add(8))
            .filter_map(|year| Date::new(year, *month, *day).ok())
            .collect(),
        Day::Weekdays { days, .. } => {
            let weekday = days.single().ok_or_else(|| Incomplete(words.to_owned(), ONE_DAY))?;
            days_where(7, &|date| date.weekday() == weekday)
        }
        Day::Nth { positions, of: None, .. } => match positions.as_slice() {
            [day] if *day > 0 => days_where(62, &|date| date.day() == *day),
            _ => return Err(Incomplete(words.to_owned(), PERIOD)),
        },
        Day::Nth { .. } => return Err(Incomplete(words.to_owned(), PERIOD)),
    })
}

/// The weekday of next week, where all agree which day that is.
///
/// To some a week begins on Monday and to some on Sunday, and to some "next friday" is the coming
/// one: only a day that is after this week in both countings is clear.
fn next_week(weekday: Weekday, today: Date, words: &str) -> Result<Date, ScheduleError> {
    let too_far = |_| TooFar(words.to_owned());
    let coming = today.nth_weekday(1, weekday).map_err(too_far)?;
    let ahead = today.weekday().until(weekday);
    let ahead = if ahead == 0 { 7 } else { ahead };
    let by_monday = today.weekday().to_monday_zero_offset() + ahead > 6;
    let by_sunday = today.weekday().to_sunday_zero_offset() + ahead > 6;
    if by_monday && by_sunday {
        Ok(coming)
    } else {
        Err(Incomplete(words.to_owned(), THIS_OR_NEXT))
    }
}

/// "every 15 minutes between 9 and 17 on weekdays".
fn interval(clauses: &Clauses, repeat: &Parsed<(i32, Unit)>) -> Result<Rule, ScheduleError> {
    exclude(clauses.times.as_ref(), &repeat.words)?;
    exclude(clauses.part.as_ref(), &repeat.words)?;
    let (count, unit) = repeat.value;
    let unit = match unit {
        Unit::Hour => 3600,
        Unit::Minute => 60,
        _ => 1,
    };
    let seconds = i64::from(count) * unit;
    if seconds < 60 {
        return Err(TooOften(repeat.words.clone()));
    }
    // Ten years.
    if seconds > 3660 * 24 * 3600 {
        return Err(TooFar(repeat.words.clone()));
    }
    let days = match clauses.day.as_ref().map(|day| (&day.value, &day.words)) {
        None => Weekdays::all(),
        Some((Day::Weekdays { days, recurs: true }, _)) => days.clone(),
        Some((Day::Weekdays { .. }, words)) => return Err(Incomplete(words.to_owned(), PLURAL)),
        Some((_, words)) => return Err(Conflict(words.to_owned(), repeat.words.clone())),
    };
    let hours = match &clauses.window {
        None => None,
        Some(window) => {
            let hours = hours(window)?;
            if hours.seconds() < seconds {
                return Err(Conflict(window.words.clone(), repeat.words.clone()));
            }
            Some(hours)
        }
    };
    Ok(Rule::Interval(Interval { seconds, days, hours }))
}

/// The hours between two times, the second possibly on the next day.
fn hours(window: &Parsed<(Clock, Clock)>) -> Result<Hours, ScheduleError> {
    let (from, to) = window.value;
    if from.time == to.time {
        return Err(Incomplete(window.words.clone(), HALF));
    }
    // "between 9 and 5" ends in the afternoon or the next morning, "between 1 and 5pm" begins in
    // the night or the afternoon.
    let ends_twice = to.time < from.time && to.later.is_some_and(|later| later > from.time);
    let begins_twice = to.is_marked && from.later.is_some_and(|later| later < to.time);
    if ends_twice && from.time.hour() < 13 || begins_twice {
        return Err(Incomplete(window.words.clone(), HALF));
    }
    Ok(Hours { from: from.time, to: to.time })
}

/// "every 2 weeks on friday at 9".
///
/// Repetitions are counted from the first firing, or from now if the phrase names neither a day nor
/// a time.
fn calendar(clauses: &Clauses, now: &Zoned) -> Result<Rule, ScheduleError> {
    if let Some(window) = &clauses.window {
        return Err(Incomplete(window.words.clone(), INTERVAL));
    }
    let mut times = times(clauses)?;
    let (every, unit, on) = match &clauses.repeat {
        Some(repeat) => repeated(clauses, repeat, now)?,
        None => alone(clauses.day.as_ref())?,
    };
    let unsaid_time = times.is_empty();
    if unsaid_time {
        let minute = Time::new(now.hour(), now.minute(), 0, 0);
        times.push(minute.unwrap_or_default());
    }
    let mut calendar = Calendar { every, unit, from: now.date(), on, times, unsaid_time };
    if unsaid_time && clauses.day.is_none() {
        return Ok(Rule::Calendar(calendar));
    }
    let mut first = Calendar { every: 1, ..calendar.clone() };
    if let Some(Day::Date { month, .. }) = clauses.day.as_ref().map(|day| &day.value) {
        first.every = 12;
        first.from = Date::new(now.year(), *month, 1).unwrap_or(now.date());
    }
    let first = first.next_after(now.timestamp(), now.time_zone()).ok_or(Never)?;
    calendar.from = first.instead_of.unwrap_or(now.time_zone().to_datetime(first.at)).date();
    Ok(Rule::Calendar(calendar))
}

/// Days that recur by themselves: "every monday", "the 1st of every month".
fn alone(day: Option<&Parsed<Day>>) -> Result<(i32, Period, On), ScheduleError> {
    match day.map(|day| day.value.clone()) {
        Some(Day::Weekdays { days, .. }) => Ok((1, Period::Weeks, On::Weekdays(days))),
        Some(Day::Nth { positions, of, .. }) => Ok((1, Period::Months, nth(positions, of))),
        Some(Day::After(_) | Day::Next(_) | Day::This(_) | Day::Date { .. }) | None => Err(Never),
    }
}

fn nth(positions: Vec<i8>, of: Option<Weekdays>) -> On {
    match of {
        Some(days) => On::Nth(positions, days),
        None => On::Days(positions),
    }
}

/// Days that recur in a number of days, weeks, months or years.
fn repeated(
    clauses: &Clauses,
    repeat: &Parsed<(i32, Unit)>,
    now: &Zoned,
) -> Result<(i32, Period, On), ScheduleError> {
    let (count, unit) = repeat.value;
    let (factor, period, most) = match unit {
        Unit::Week => (1, Period::Weeks, 520),
        Unit::Month => (1, Period::Months, 120),
        Unit::Year => (12, Period::Months, 120),
        _ => (1, Period::Days, 3660),
    };
    let every = count.checked_mul(factor).filter(|every| *every <= most);
    let every = every.ok_or_else(|| TooFar(repeat.words.clone()))?;
    let Some(day) = &clauses.day else {
        return match period {
            Period::Days => Ok((every, period, On::EachDay)),
            _ if clauses.times.is_some() => Err(Incomplete(repeat.words.clone(), DAY)),
            Period::Weeks => Ok((every, period, On::Weekdays(Weekdays::one(now.weekday())))),
            Period::Months => Ok((every, period, On::DayOrLast(now.day()))),
        };
    };
    match (unit, day.value.clone()) {
        (Unit::Day, Day::Weekdays { days, recurs: true })
            if every == 1 && days.single().is_none() =>
        {
            Ok((1, Period::Weeks, On::Weekdays(days)))
        }
        (Unit::Week, Day::Weekdays { days, .. }) => Ok((every, period, On::Weekdays(days))),
        (Unit::Month, Day::Nth { positions, of, .. }) => Ok((every, period, nth(positions, of))),
        (Unit::Year, Day::Date { year: None, day, .. }) => Ok((every, period, On::Days(vec![day]))),
        _ => Err(Conflict(day.words.clone(), repeat.words.clone())),
    }
}
