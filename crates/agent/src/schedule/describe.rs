use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

use crate::schedule::calendar::{Calendar, On, Period};
use crate::schedule::cron;
use crate::schedule::interval::Interval;
use crate::schedule::planned::{Rule, Schedule};
use crate::schedule::wall_clock::Firing;
use crate::schedule::weekdays::Weekdays;

/// A schedule in plain words, with its time zone and its next firing.
pub(crate) fn describe(schedule: &Schedule, next: Option<Firing>) -> String {
    let zone = zone_name(&schedule.zone);
    let clock = |at| clock_time(schedule.zone.to_datetime(at));
    let counted = format!(", counted from {}", clock(schedule.made));
    let (what, note) = match &schedule.rule {
        Rule::Moment { at } => (format!("once on {}", clock(*at)), String::new()),
        Rule::Once { at } => (format!("once on {}", clock_time(*at)), String::new()),
        Rule::Interval(interval) => {
            let note = if interval.hours.is_none() { counted } else { String::new() };
            (every_so_often(interval), note)
        }
        Rule::Calendar(calendar) => {
            let times: Vec<String> = calendar.times.iter().map(|time| show(*time)).collect();
            (format!("{} at {}", days(calendar), list(&times)), calendar_note(calendar))
        }
        Rule::Cron { pattern } => {
            let words = cron::words(pattern).map(|words| format!(": {words}")).unwrap_or_default();
            (format!("cron pattern `{pattern}`{words}, in"), String::new())
        }
    };
    format!("{what} {zone}{note}; {}", next_firing(schedule, next))
}

fn next_firing(schedule: &Schedule, next: Option<Firing>) -> String {
    let Some(firing) = next else { return "over".to_owned() };
    let at = firing.at.to_zoned(schedule.zone.clone());
    let seconds = if at.second() == 0 { "" } else { ":%S" };
    let shown = at.strftime(&format!("%a %Y-%m-%d %H:%M{seconds} %Z")).to_string();
    match firing.instead_of {
        None => format!("next: {shown}"),
        Some(clock) => format!(
            "next: {shown}, because {} does not exist on {}",
            show(clock.time()),
            clock.date()
        ),
    }
}

fn zone_name(zone: &TimeZone) -> String {
    match (zone.iana_name(), zone.to_fixed_offset()) {
        (Some(name), _) => name.to_owned(),
        (None, Ok(offset)) => format!("UTC{offset}"),
        (None, Err(_)) => "local time".to_owned(),
    }
}

/// "2026-12-24 at 18:00".
fn clock_time(clock: DateTime) -> String {
    let seconds = if clock.second() == 0 { "" } else { ":%S" };
    clock.strftime(&format!("%Y-%m-%d at %H:%M{seconds}")).to_string()
}

/// "09:00".
fn show(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}

fn every_so_often(interval: &Interval) -> String {
    let units = [(3600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(seconds, _)| interval.seconds % seconds == 0);
    let (seconds, unit) = unit.unwrap_or((1, "second"));
    let mut text = every(interval.seconds / seconds, unit);
    if interval.days != Weekdays::all() {
        text.push_str(&format!(" on {}", weekdays(&interval.days, "weekdays")));
    }
    if let Some(hours) = interval.hours {
        let end = if hours.to > hours.from { "" } else { " the next day" };
        text.push_str(&format!(" from {} to {}{end}", show(hours.from), show(hours.to)));
    }
    text
}

/// "every hour", "every 2 hours".
fn every(count: i64, unit: &str) -> String {
    if count == 1 { format!("every {unit}") } else { format!("every {count} {unit}s") }
}

fn days(calendar: &Calendar) -> String {
    let count = i64::from(calendar.every);
    let positions = |positions: &[i8], last: &str| {
        let shown = |day: &i8| if *day < 0 { last.to_owned() } else { ordinal(*day) };
        list(&positions.iter().map(shown).collect::<Vec<_>>())
    };
    match &calendar.on {
        On::EachDay => every(count, "day"),
        On::Weekdays(days) if count == 1 => format!("every {}", weekdays(days, "weekday")),
        On::Weekdays(days) => format!("{} on {}", every(count, "week"), weekdays(days, "weekdays")),
        On::Days(_) | On::DayOrLast(_) if is_yearly(calendar) => {
            format!("{} on {}", every(count / 12, "year"), calendar.from.strftime("%-d %B"))
        }
        On::Days(days) => {
            format!("{} on the {}", every(count, "month"), positions(days, "last day"))
        }
        On::DayOrLast(day) => format!("{} on the {}", every(count, "month"), ordinal(*day)),
        On::Nth(at, days) => {
            let days = weekdays(days, "weekday");
            format!("{} on the {} {days}", every(count, "month"), positions(at, "last"))
        }
    }
}

/// The names of days, or one word for all from Monday to Friday.
fn weekdays(days: &Weekdays, workdays: &str) -> String {
    if *days == Weekdays::workdays() { workdays.to_owned() } else { list(&days.names()) }
}

/// Whether it is a date that recurs in a number of years.
fn is_yearly(calendar: &Calendar) -> bool {
    let is_date = match &calendar.on {
        On::Days(days) => days.len() == 1 && !days.contains(&-1),
        On::DayOrLast(_) => true,
        On::EachDay | On::Weekdays(_) | On::Nth(..) => false,
    };
    calendar.unit == Period::Months && calendar.every % 12 == 0 && is_date
}

/// What a reader might not expect.
fn calendar_note(calendar: &Calendar) -> String {
    let mut note = String::new();
    let yearly = is_yearly(calendar);
    let left_out = match &calendar.on {
        On::Days(days) if yearly => calendar.from.month() == 2 && days.contains(&29),
        On::Days(days) => days.iter().any(|day| *day >= 29),
        On::Nth(positions, _) => positions.contains(&5),
        On::EachDay | On::Weekdays(_) | On::DayOrLast(_) => false,
    };
    if left_out {
        let periods = if yearly { "years" } else { "months" };
        note.push_str(&format!(", only in {periods} that have that day"));
    }
    if !yearly && matches!(calendar.on, On::DayOrLast(29..)) {
        note.push_str(", or on the last day of a shorter month");
    }
    if calendar.every > 1 && !(yearly && calendar.every == 12) {
        note.push_str(&format!(", counted from {}", calendar.from));
    }
    if calendar.unsaid_time {
        note.push_str(" (no time was given, so the time of creation is used)");
    }
    note
}

/// "22nd".
fn ordinal(number: i8) -> String {
    let ending = match (number, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// "a, b and c".
fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}
