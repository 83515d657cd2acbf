use jiff::civil::{Date, DateTime, Weekday};
use jiff::{SignedDuration, Span, ToSpan, Zoned};

use crate::schedule::clause::{Amount, Clauses, Day, Position, Recurrence, Said};
use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::{Part, Unit};
use crate::schedule::rule::Rule;
use crate::schedule::wall_clock;
use crate::schedule::weekdays::{self, Weekdays};

use super::{conflict, exclude, midnight_of, times};

const MOST_YEARS: i16 = 100;

/// "in 2 days": hours and less are elapsed time, days and more are those of the calendar.
pub(super) fn after_delay(
    clauses: &Clauses,
    delay: &Said<Vec<Amount>>,
    now: &Zoned,
) -> Result<Rule, ScheduleError> {
    exclude(clauses.day.as_ref(), &delay.words)?;
    exclude(clauses.window.as_ref(), &delay.words)?;
    let too_far = || ScheduleError::TooFar { word: delay.words.clone() };
    let elapsed = elapsed(&delay.value).ok_or_else(too_far)?;
    let days = calendar_span(&delay.value).ok_or_else(too_far)?;
    let start = whole_second(now.datetime());
    let target = start.checked_add(days).map_err(|_| too_far())?;
    let rule = match (times(clauses)?.as_slice(), elapsed.is_zero()) {
        ([], true) => Rule::Once { at: target },
        ([], false) => {
            // "in 2 hours" starts from this very moment, also where the clock shows it twice.
            let from = if days.is_zero() {
                now.timestamp().checked_sub(subsecond(now)).ok()
            } else {
                wall_clock::firing(now.time_zone(), target).map(|firing| firing.at)
            };
            let at = from.and_then(|from| from.checked_add(elapsed).ok());
            Rule::Moment { at: at.ok_or_else(too_far)? }
        }
        ([time], true) => Rule::Once { at: target.date().to_datetime(*time) },
        _ => {
            return clauses
                .times
                .as_ref()
                .map_or(Err(too_far()), |times| Err(conflict(times, &delay.words)));
        }
    };
    let year = match &rule {
        Rule::Moment { at } => now.time_zone().to_datetime(*at).year(),
        _ => target.year(),
    };
    if year > now.year().saturating_add(MOST_YEARS) { Err(too_far()) } else { Ok(rule) }
}

fn elapsed(amounts: &[Amount]) -> Option<SignedDuration> {
    let seconds = amounts.iter().try_fold(0_i64, |sum, amount| {
        let unit = amount.unit.seconds().unwrap_or(0);
        sum.checked_add(unit.checked_mul(i64::from(amount.count))?)
    });
    seconds.map(SignedDuration::from_secs)
}

fn calendar_span(amounts: &[Amount]) -> Option<Span> {
    amounts.iter().try_fold(Span::new(), |span, amount| {
        let count = i64::from(amount.count);
        match amount.unit {
            Unit::Second | Unit::Minute | Unit::Hour => Some(span),
            Unit::Day => span.try_days(count).ok(),
            Unit::Week => span.try_weeks(i64::from(span.get_weeks()).checked_add(count)?).ok(),
            Unit::Fortnight => {
                let weeks = count.checked_mul(2)?.checked_add(i64::from(span.get_weeks()))?;
                span.try_weeks(weeks).ok()
            }
            Unit::Month => span.try_months(count).ok(),
            Unit::Year => span.try_years(count).ok(),
        }
    })
}

fn whole_second(clock: DateTime) -> DateTime {
    clock.with().subsec_nanosecond(0).build().unwrap_or(clock)
}

fn subsecond(now: &Zoned) -> SignedDuration {
    SignedDuration::from_nanos(i64::from(now.subsec_nanosecond()))
}

/// "tomorrow at 9": the first of the possible days whose time is still to come.
pub(super) fn on_day(clauses: &Clauses, now: &Zoned) -> Result<Rule, ScheduleError> {
    let day = clauses.day.as_ref();
    if let Some(window) = &clauses.window {
        return Err(ScheduleError::NoInterval { word: window.words.clone() });
    }
    let times = times(clauses)?;
    let Some(said) = &clauses.times else {
        let word = day.map(|day| day.words.clone()).unwrap_or_default();
        return Err(ScheduleError::NoTime { word });
    };
    let [time] = times.as_slice() else {
        return Err(ScheduleError::Several { word: said.words.clone() });
    };
    if let Some(night) = midnight_of(clauses, Part::Night) {
        return Err(conflict(night, &said.words));
    }
    // The midnight of tonight is where tomorrow begins.
    let later = if midnight_of(clauses, Part::Tonight).is_some() { 1.day() } else { 0.days() };
    let mut firings = dates(day, now)?.into_iter().filter_map(|date| {
        let at = date.checked_add(later).ok()?.to_datetime(*time);
        Some((at, wall_clock::firing(now.time_zone(), at)?.at))
    });
    let next = firings.find(|(_, moment)| *moment > now.timestamp());
    next.map(|(at, _)| Rule::Once { at }).ok_or_else(|| {
        let words = [day.map(|day| day.words.as_str()), Some(said.words.as_str())];
        ScheduleError::Past { word: words.into_iter().flatten().collect::<Vec<_>>().join(" ") }
    })
}

/// The days that can be meant, in order.
fn dates(day: Option<&Said<Day>>, now: &Zoned) -> Result<Vec<Date>, ScheduleError> {
    let today = now.date();
    let Some(day) = day else { return Ok(days_where(today, 2, |_| true)) };
    let words = day.words.clone();
    Ok(match &day.value {
        Day::After(days) => today.checked_add(i64::from(*days).days()).into_iter().collect(),
        Day::Weekdays(days, _) => {
            let weekday = days.single().ok_or_else(|| several_weekdays(*days, words))?;
            days_where(today, 7, |date| date.weekday() == weekday)
        }
        Day::Next(weekday) => vec![next_week(*weekday, today, words)?],
        Day::This(weekday) => {
            let ahead = offset(*weekday) - offset(today.weekday());
            today.checked_add(i64::from(ahead).days()).into_iter().collect()
        }
        Day::Date { year: Some(year), month, day } => {
            Date::new(*year, *month, *day).into_iter().collect()
        }
        // Eight years go by without a 29 February around 2100.
        Day::Date { year: None, month, day } => (0..=8)
            .filter_map(|ahead| Date::new(today.year().checked_add(ahead)?, *month, *day).ok())
            .collect(),
        Day::OfMonth(days, Recurrence::Open) => match days.as_slice() {
            [Position::Nth(day)] => days_where(today, 62, |date| date.day() == *day),
            _ => return Err(ScheduleError::Several { word: words }),
        },
        Day::OfMonth(..) | Day::Nth(..) => return Err(ScheduleError::NoPeriod { word: words }),
    })
}

/// The days from one on for which something holds, up to so many ahead.
fn days_where(from: Date, most: usize, fits: impl Fn(Date) -> bool) -> Vec<Date> {
    from.series(1.day()).take(most + 1).filter(|date| fits(*date)).collect()
}

fn offset(weekday: Weekday) -> i8 {
    weekday.to_monday_zero_offset()
}

fn several_weekdays(days: Weekdays, words: String) -> ScheduleError {
    let names: Vec<String> = days.days().map(|day| weekdays::name(day).to_lowercase()).collect();
    ScheduleError::Ambiguous {
        word: words,
        first: format!("every {}", names.join(" and ")),
        second: format!("on {}", names.first().map_or("monday", String::as_str)),
    }
}

/// The weekday of next week, where all agree which day that is.
///
/// Some let a week begin on Monday and some on Sunday, and to some "next friday" is the coming
/// one: only a day after this week in both countings is clear. The coming one is, on its own day,
/// a week ahead.
fn next_week(weekday: Weekday, today: Date, words: String) -> Result<Date, ScheduleError> {
    let too_far = || ScheduleError::TooFar { word: words.clone() };
    let ahead = (offset(weekday) - offset(today.weekday()) + 6) % 7 + 1;
    let coming = today.checked_add(i64::from(ahead).days()).map_err(|_| too_far())?;
    let by_monday = offset(today.weekday()) + ahead > 6;
    let by_sunday = today.weekday().to_sunday_zero_offset() + ahead > 6;
    if by_monday && by_sunday {
        return Ok(coming);
    }
    let week_after = coming.checked_add(1.week()).map_err(|_| too_far())?;
    Err(ScheduleError::Ambiguous {
        word: words,
        first: format!("on {coming}"),
        second: format!("on {week_after}"),
    })
}
