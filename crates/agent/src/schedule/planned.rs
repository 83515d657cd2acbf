use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::schedule::calendar::Calendar;
use crate::schedule::cron;
use crate::schedule::describe;
use crate::schedule::error::ScheduleError;
use crate::schedule::interval::Interval;
use crate::schedule::meaning;
use crate::schedule::phrase;
use crate::schedule::wall_clock::{self, Firing};
use crate::schedule::words;

/// When something is to run: once or again and again, in one time zone.
///
/// Serialises to an object with a version, which [`serde`] reads back to the same schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    #[serde(deserialize_with = "current")]
    version: u8,
    /// When it was made, in whole seconds: what is counted is counted from here.
    pub(crate) made: Timestamp,
    #[serde(with = "jiff::fmt::serde::tz::required")]
    pub(crate) zone: TimeZone,
    pub(crate) rule: Rule,
}

/// When a schedule fires, in the form in which it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Rule {
    /// Once, at a moment.
    Moment { at: Timestamp },
    /// Once, when the wall clock shows it.
    Once { at: DateTime },
    /// Again and again by elapsed time.
    Interval(Interval),
    /// Again and again on days of the calendar.
    Calendar(Calendar),
    /// Again and again by a pattern.
    Cron { pattern: String },
}

const VERSION: u8 = 1;
/// Characters.
const LONGEST_PHRASE: usize = 200;

impl Schedule {
    /// Reads a phrase such as "every weekday at 9am", a date and time, or a cron pattern of five
    /// fields, as said at `now` and in its time zone.
    ///
    /// Hours are those of the 24-hour clock unless the phrase says otherwise. A recurring phrase
    /// without a time of day fires at the time of day of `now`, and [`describe`](Self::describe)
    /// says so.
    ///
    /// # Errors
    /// When any word is not understood or out of place, the time is over, impossible or unclear,
    /// or the schedule would fire more than once a minute. Nothing is guessed.
    pub fn parse(phrase: &str, now: &Zoned) -> Result<Self, ScheduleError> {
        let length = phrase.chars().count();
        if length > LONGEST_PHRASE {
            return Err(ScheduleError::TooLong(length, LONGEST_PHRASE));
        }
        let zone = now.time_zone().clone();
        if zone.is_unknown() || (zone.iana_name().is_none() && zone.to_fixed_offset().is_err()) {
            return Err(ScheduleError::UnnamedZone);
        }
        let subsecond = SignedDuration::from_nanos(i64::from(now.subsec_nanosecond()));
        let made = now.checked_sub(subsecond).unwrap_or_else(|_| now.clone());
        let rule = rule(phrase, &made)?;
        let schedule = Self { version: VERSION, made: made.timestamp(), zone, rule };
        // INVARIANT: a schedule fires at least once after it is made.
        match (schedule.firing_after(now.timestamp()), schedule.is_recurring()) {
            (Some(_), _) => Ok(schedule),
            (None, true) => Err(ScheduleError::Never),
            (None, false) => Err(ScheduleError::Past(phrase.trim().to_owned())),
        }
    }

    /// The first time at which it fires strictly after a moment, in its own time zone.
    ///
    /// `None` when it is over: a single time has passed. Nothing fires before the schedule was
    /// made. A time of the wall clock that does not exist on a day, because clocks were set
    /// forward over it, fires at the first moment after that gap; one that exists twice fires the
    /// first time. Intervals of hours and less are elapsed time.
    #[must_use]
    pub fn next_after(&self, after: &Zoned) -> Option<Zoned> {
        let firing = self.firing_after(after.timestamp())?;
        Some(firing.at.to_zoned(self.zone.clone()))
    }

    /// Whether it fires more than once.
    #[must_use]
    pub fn is_recurring(&self) -> bool {
        !matches!(self.rule, Rule::Moment { .. } | Rule::Once { .. })
    }

    /// What was understood, in plain words, with the time zone and the first firing after `now`:
    /// "every weekday at 09:00 Europe/Berlin; next: Mon 2026-11-30 09:00 CET".
    #[must_use]
    pub fn describe(&self, now: &Zoned) -> String {
        describe::describe(self, self.firing_after(now.timestamp()))
    }

    /// The first firing after a moment, and after it was made.
    fn firing_after(&self, after: Timestamp) -> Option<Firing> {
        let (after, zone) = (after.max(self.made), &self.zone);
        let firing = match &self.rule {
            Rule::Moment { at } => Some(Firing::on_time(*at)),
            Rule::Once { at } => wall_clock::firing(zone, *at),
            Rule::Interval(interval) => interval.next_after(after, self.made, zone),
            Rule::Calendar(calendar) => calendar.next_after(after, zone),
            Rule::Cron { pattern } => cron::next_after(pattern, after, zone),
        };
        firing.filter(|firing| firing.at > after)
    }
}

/// The rule of a phrase, relative to `now`.
fn rule(phrase: &str, now: &Zoned) -> Result<Rule, ScheduleError> {
    let phrase = phrase.to_lowercase();
    let phrase = phrase.trim().trim_end_matches('.');
    let phrase = phrase.strip_suffix("please").unwrap_or(phrase).trim_end_matches([' ', ',']);
    let iso = phrase.strip_prefix("on ").or_else(|| phrase.strip_prefix("at ")).unwrap_or(phrase);
    // A date alone would be its midnight.
    if iso.contains(':') {
        if let Ok(at) = iso.parse() {
            return Ok(Rule::Moment { at });
        }
        if let Ok(at) = iso.parse() {
            return Ok(Rule::Once { at });
        }
    }
    if cron::is_pattern(phrase) {
        return Ok(Rule::Cron { pattern: cron::normal(phrase)? });
    }
    let words = words::words(phrase)?;
    if words.is_empty() {
        return Err(ScheduleError::Empty);
    }
    meaning::rule(&phrase::clauses(&words)?, now)
}

/// Refuses the version of another form.
fn current<'de, D: Deserializer<'de>>(stored: D) -> Result<u8, D::Error> {
    match u8::deserialize(stored)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!("unsupported version {other}, expected {VERSION}"))),
    }
}
