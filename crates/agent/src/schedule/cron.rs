use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::schedule::error::ScheduleError;
use crate::schedule::wall_clock::{self, Firing};

/// The fields of a pattern, with what they count up to.
const FIELDS: [(&str, u32); 5] =
    [("minute", 59), ("hour", 23), ("day of the month", 31), ("month", 12), ("day of the week", 7)];

/// Whether a phrase is meant as a pattern: it has a star, or begins with two bare fields.
pub(crate) fn is_pattern(phrase: &str) -> bool {
    let is_field = |word: &str| {
        let is_digit = |c: char| c.is_ascii_digit();
        word.starts_with(is_digit) && word.chars().all(|c| is_digit(c) || ",-/".contains(c))
    };
    let is_date = |word: &str| word.matches('-').count() == 2;
    let mut words = phrase.split_whitespace();
    let begins = words.next().zip(words.next());
    let is_bare =
        |(first, second): (&str, &str)| is_field(first) && is_field(second) && !is_date(first);
    phrase.contains('*') || begins.is_some_and(is_bare)
}

/// The pattern in one spelling.
///
/// # Errors
/// Says which field is wrong.
pub(crate) fn normal(pattern: &str) -> Result<String, ScheduleError> {
    let refused = |reason: String| ScheduleError::Cron(pattern.to_owned(), reason);
    let upper = pattern.to_uppercase();
    let fields: Vec<&str> = upper.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(refused(format!("expected 5 fields, got {}", fields.len())));
    }
    for (at, ((name, most), field)) in FIELDS.into_iter().zip(&fields).enumerate() {
        let mut alone = ["*"; FIELDS.len()];
        if let Some(place) = alone.get_mut(at) {
            *place = field;
        }
        // A step over the end of a field would be none.
        let mut steps = field.split(',').filter_map(|item| Some(item.split_once('/')?.1));
        let fits = steps.all(|step| step.parse().is_ok_and(|step: u32| step <= most));
        if !fits || parsed(&alone.join(" ")).is_err() {
            return Err(refused(format!("`{field}` is not a valid {name}; the maximum is {most}")));
        }
    }
    let normal = fields.join(" ");
    parsed(&normal).map_err(|error| refused(error.to_string()))?;
    Ok(normal)
}

/// Reads a pattern of five fields.
pub(crate) fn parsed(pattern: &str) -> Result<Cron, CronError> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(pattern)
}

/// The first firing after a moment.
///
/// A pattern for every hour goes by elapsed time, so that it fires in both hours that the clock
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
