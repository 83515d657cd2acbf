use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use crate::schedule::cron;
use crate::schedule::describe;
use crate::schedule::error::{self, ScheduleError};
use crate::schedule::grammar;
use crate::schedule::meaning;
use crate::schedule::rule::Rule;
use crate::schedule::stored::Stored;
use crate::schedule::token;
use crate::schedule::wall_clock::Firing;

/// When something is to run: once or again and again, in one time zone.
///
/// Serialises to an object with a version, which [`serde`] reads back to the same schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Schedule {
    /// When it was made, in whole seconds: what is counted is counted from here.
    pub(crate) made: Timestamp,
    pub(crate) zone: TimeZone,
    pub(crate) rule: Rule,
}

/// Characters.
const LONGEST_PHRASE: usize = 200;

impl Schedule {
    /// Reads a phrase such as "every weekday at 9am", or a cron pattern of five fields, as said
    /// at `now` and in its time zone.
    ///
    /// Hours are those of the 24-hour clock where nothing else is said. A recurring phrase without
    /// a time of day fires at the time of day of `now`, and [`describe`](Self::describe) says so.
    ///
    /// # Errors
    /// Where any word is not understood or out of place, the time is over, impossible or unclear,
    /// or the schedule would fire more than once a minute. Nothing is guessed.
    pub fn parse(phrase: &str, now: &Zoned) -> Result<Self, ScheduleError> {
        let length = phrase.chars().count();
        if length > LONGEST_PHRASE {
            return Err(ScheduleError::TooLong { length, most: LONGEST_PHRASE });
        }
        let zone = now.time_zone().clone();
        if zone.is_unknown() || (zone.iana_name().is_none() && zone.to_fixed_offset().is_err()) {
            return Err(ScheduleError::UnnamedZone);
        }
        let phrase = phrase.trim();
        let phrase = phrase.strip_suffix('.').unwrap_or(phrase).trim();
        let rule = match polite_pattern(phrase) {
            Some(pattern) => Rule::Cron { pattern: cron::normal(&pattern)? },
            None => {
                let examples = error::examples(phrase);
                let tokens = token::tokens(phrase, examples)?;
                meaning::rule(&grammar::clauses(&tokens, examples)?, now)?
            }
        };
        let subsecond = SignedDuration::from_nanos(i64::from(now.subsec_nanosecond()));
        let made = now.timestamp().checked_sub(subsecond).unwrap_or(now.timestamp());
        let schedule = Self { made, zone, rule };
        // INVARIANT: a schedule fires at least once after it is made.
        match schedule.firing_after(now.timestamp()) {
            Some(_) => Ok(schedule),
            None => Err(ScheduleError::Never),
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
        match self.rule {
            Rule::Moment { .. } | Rule::Once { .. } => false,
            Rule::Interval(_) | Rule::Calendar(_) | Rule::Cron { .. } => true,
        }
    }

    /// Whether the phrase had no time of day, so that it fires at the one at which it was made.
    #[must_use]
    pub fn has_unsaid_time(&self) -> bool {
        matches!(&self.rule, Rule::Calendar(calendar) if calendar.unsaid_time)
    }

    /// What was understood, in plain words, with the time zone and the first firing after `now`:
    /// "every weekday at 09:00 Europe/Berlin; next: Mon 2026-11-30 09:00 CET".
    #[must_use]
    pub fn describe(&self, now: &Zoned) -> String {
        describe::describe(self, self.firing_after(now.timestamp()))
    }

    fn firing_after(&self, after: Timestamp) -> Option<Firing> {
        self.rule.next_after(after, self.made, &self.zone)
    }
}

/// The cron pattern of a phrase that is one, without "please".
fn polite_pattern(phrase: &str) -> Option<String> {
    let is_please = |word: &&str| word.trim_end_matches(',').eq_ignore_ascii_case("please");
    let mut words: Vec<&str> = phrase.split_whitespace().collect();
    if words.first().is_some_and(is_please) {
        words.remove(0);
    }
    words.pop_if(|word| is_please(&&**word));
    let pattern = words.join(" ");
    cron::is_pattern(&pattern).then_some(pattern)
}
