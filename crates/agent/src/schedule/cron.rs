use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::schedule::error::{self, ScheduleError};
use crate::schedule::wall_clock::{self, Firing};

/// One field of a pattern.
struct Field {
    name: &'static str,
    least: u32,
    most: u32,
    /// The first of them stands for `first_name`.
    names: &'static [&'static str],
    first_name: u32,
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", least: 0, most: 59, names: &[], first_name: 0 },
    Field { name: "hour", least: 0, most: 23, names: &[], first_name: 0 },
    Field { name: "day of the month", least: 1, most: 31, names: &[], first_name: 0 },
    Field { name: "month", least: 1, most: 12, names: &MONTHS, first_name: 1 },
    Field { name: "day of the week", least: 0, most: 7, names: &WEEKDAYS, first_name: 0 },
];
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// Whether a phrase is meant as a pattern: it has a star, or begins with two bare fields.
pub(crate) fn is_pattern(phrase: &str) -> bool {
    let mut words = phrase.split_whitespace();
    let is_field = |word: Option<&str>| {
        word.is_some_and(|word| {
            let is_digit = |c: char| c.is_ascii_digit();
            word.starts_with(is_digit) && word.chars().all(|c| is_digit(c) || ",-/".contains(c))
        })
    };
    let is_date = words.clone().next().is_some_and(|word| word.matches('-').count() == 2);
    phrase.contains('*') || (!is_date && is_field(words.next()) && is_field(words.next()))
}

/// The pattern in one spelling, if all five fields are in their bounds.
///
/// # Errors
/// Says which field is wrong.
pub(crate) fn normal(pattern: &str) -> Result<String, ScheduleError> {
    let refused = |reason: String| ScheduleError::Cron {
        pattern: pattern.to_owned(),
        reason,
        examples: error::cron_examples(),
    };
    let upper = pattern.to_uppercase();
    let fields: Vec<&str> = upper.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(refused(format!("it has {} fields, and 5 are needed", fields.len())));
    }
    for (field, text) in FIELDS.iter().zip(&fields) {
        if !text.split(',').all(|item| field.allows(item)) {
            let Field { name, least, most, .. } = field;
            let wrong = format!("`{text}` is no {name}, which goes from {least} to {most}");
            return Err(refused(wrong));
        }
    }
    let normal = fields.join(" ");
    parsed(&normal).map_err(refused)?;
    Ok(normal)
}

impl Field {
    /// Whether an item of a list, such as "9-17/2", is in bounds.
    fn allows(&self, item: &str) -> bool {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        let step_fits = step.is_none_or(|step| {
            number(step).is_some_and(|step| (1..=self.most.max(1)).contains(&step))
        });
        let range_fits = match range.split_once('-') {
            Some((first, last)) => {
                // A week may end on Sunday, which is 0 elsewhere.
                let last = if last == "SUN" { Some(7) } else { self.value(last) };
                self.value(first).zip(last).is_some_and(|(first, last)| first <= last)
            }
            // "5/10" means different things to different crons.
            None => range == "*" || (step.is_none() && self.value(range).is_some()),
        };
        step_fits && range_fits
    }

    fn value(&self, text: &str) -> Option<u32> {
        let named = || {
            let place = self.names.iter().position(|name| *name == text)?;
            u32::try_from(place).ok()?.checked_add(self.first_name)
        };
        let value = number(text).or_else(named)?;
        (self.least..=self.most).contains(&value).then_some(value)
    }
}

fn number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && text.len() <= 2).then(|| text.parse().ok()).flatten()
}

fn parsed(pattern: &str) -> Result<Cron, String> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(pattern).map_err(|error| error.to_string())
}

/// The first firing after a moment.
///
/// A pattern for every hour goes by elapsed time, so that it fires in both hours which the clock
/// shows twice, and in none that it skips. Any other pattern names hours of the wall clock.
pub(crate) fn next_after(pattern: &str, after: Timestamp, zone: &TimeZone) -> Option<Firing> {
    let cron = parsed(pattern).ok()?;
    if pattern.split_whitespace().nth(1) == Some("*") {
        let at = cron.find_next_occurrence(&after.to_zoned(zone.clone()), false).ok()?;
        return Some(Firing::on_time(at.timestamp()));
    }
    let mut clock = zone.to_datetime(after);
    // A clock that is set back shows no more than a day's minutes twice.
    for _ in 0..=24 * 60 {
        clock = cron.find_next_occurrence(&clock, false).ok()?;
        let firing = wall_clock::firing(zone, clock)?;
        if firing.at > after {
            return Some(firing);
        }
    }
    None
}

/// The pattern in plain words.
pub(crate) fn words(pattern: &str) -> Option<String> {
    let words = parsed(pattern).ok()?.describe();
    let words = words.trim_end_matches('.');
    let mut letters = words.chars();
    let first = letters.next()?.to_lowercase();
    Some(first.chain(letters).collect())
}
