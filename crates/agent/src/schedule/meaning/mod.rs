//! Clauses become a rule: which of them go together, and what they mean at the time they are said.

mod once;
mod recurring;

use jiff::Zoned;
use jiff::civil::Time;

use crate::schedule::clause::{Clauses, Day, Recurrence, Said};
use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::Part;
use crate::schedule::rule::Rule;

/// What the clauses of a phrase mean when they are said `now`.
///
/// # Errors
/// Where a clause is missing, two do not go together, or what they mean is over.
pub(crate) fn rule(clauses: &Clauses, now: &Zoned) -> Result<Rule, ScheduleError> {
    match (&clauses.delay, &clauses.repeat) {
        (Some(delay), Some(repeat)) => Err(conflict(repeat, &delay.words)),
        (Some(delay), None) => once::after_delay(clauses, delay, now),
        (None, Some(repeat)) if repeat.value.unit.seconds().is_some() => {
            recurring::interval(clauses, repeat).map(Rule::Interval)
        }
        (None, Some(repeat)) => recurring::calendar(clauses, Some(repeat), now).map(Rule::Calendar),
        (None, None) if recurs(clauses.day.as_ref()) => {
            recurring::calendar(clauses, None, now).map(Rule::Calendar)
        }
        (None, None) => once::on_day(clauses, now),
    }
}

fn recurs(day: Option<&Said<Day>>) -> bool {
    let recurrence = day.map(|day| match &day.value {
        Day::Weekdays(_, recurrence) | Day::OfMonth(_, recurrence) | Day::Nth(_, _, recurrence) => {
            *recurrence
        }
        Day::After(_) | Day::Next(_) | Day::This(_) | Day::Date { .. } => Recurrence::Open,
    });
    recurrence == Some(Recurrence::Each)
}

fn conflict<T>(said: &Said<T>, with: &str) -> ScheduleError {
    ScheduleError::Conflict { word: said.words.clone(), with: with.to_owned() }
}

/// Refuses a clause that makes no sense with what else is said.
fn exclude<T>(slot: Option<&Said<T>>, with: &str) -> Result<(), ScheduleError> {
    slot.map_or(Ok(()), |said| Err(conflict(said, with)))
}

/// The times of day within the part of the day, in order; none where none is said.
fn times(clauses: &Clauses) -> Result<Vec<Time>, ScheduleError> {
    let Some(said) = &clauses.times else {
        return match &clauses.part {
            Some(part) => Err(ScheduleError::NoTime { word: part.words.clone() }),
            None => Ok(Vec::new()),
        };
    };
    let read = said.value.iter().map(|clock| match &clauses.part {
        Some(part) => clock.within(part.value, &part.words),
        None => Ok(clock.time()),
    });
    let mut times = read.collect::<Result<Vec<Time>, ScheduleError>>()?;
    times.sort_unstable();
    times.dedup();
    Ok(times)
}

/// Midnight in a night, if the two are said: it begins one day and ends another.
fn midnight_of(clauses: &Clauses, part: Part) -> Option<&Said<Part>> {
    let said = clauses.times.as_ref()?.value.iter().any(|clock| clock.is_midnight());
    clauses.part.as_ref().filter(|night| said && night.value == part)
}
