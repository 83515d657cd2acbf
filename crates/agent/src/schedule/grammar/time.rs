use crate::schedule::clause::Clauses;
use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::{Part, Word};
use crate::schedule::time_of_day::Clock;
use crate::schedule::token::Kind;

use super::reader::Reader;
use super::{day, put};

/// `["at"] time { ("," | "and") ["at"] time }` or `"at" "night"`.
pub(super) fn times(reader: &mut Reader<'_>, clauses: &mut Clauses) -> Result<(), ScheduleError> {
    let from = reader.position();
    reader.take_word(Word::At);
    if reader.is_word(Word::Part(Part::Night)) {
        return day::part(reader, clauses);
    }
    let mut times = vec![time(reader)?];
    while reader.joins(starts_time) {
        reader.take_word(Word::At);
        times.push(time(reader)?);
    }
    put(&mut clauses.times, times, from, reader)
}

/// `"between" time ("and" | "to") time` or `"from" time "to" time`.
pub(super) fn window(reader: &mut Reader<'_>, clauses: &mut Clauses) -> Result<(), ScheduleError> {
    let position = reader.position();
    let takes_and = reader.is_word(Word::Between);
    reader.skip();
    let from = time(reader)?;
    if !(takes_and && reader.take_word(Word::And)) {
        reader.need(Word::To)?;
    }
    let to = time(reader)?;
    put(&mut clauses.window, (from, to), position, reader)
}

/// Whether a bare number is the hour of a time: "9 pm", "9 o'clock".
pub(super) fn is_hour(reader: &Reader<'_>) -> bool {
    matches!(reader.peek_at(1), Some(Kind::Word(Word::HalfOfDay(_) | Word::OClock)))
}

fn starts_time(reader: &Reader<'_>, ahead: usize) -> bool {
    let is_number = |ahead| matches!(reader.peek_at(ahead), Some(Kind::Number(_)));
    match reader.peek_at(ahead) {
        Some(Kind::Clock(_) | Kind::Word(Word::Noon | Word::Midnight)) => true,
        Some(Kind::Number(_)) => {
            let after = reader.peek_at(ahead + 1);
            !matches!(after, Some(Kind::Word(Word::Unit(_) | Word::Month(_))))
        }
        Some(Kind::Word(Word::At)) => is_number(ahead + 1) || starts_time(reader, ahead + 1),
        _ => false,
    }
}

/// `"noon" | "midnight" | (clock | hour ["o'clock"]) ["am" | "pm"]`.
fn time(reader: &mut Reader<'_>) -> Result<Clock, ScheduleError> {
    let word = reader.text();
    let wrong = || ScheduleError::NoSuchTime { word: word.clone() };
    let clock = match reader.peek() {
        Some(Kind::Word(Word::Noon)) => Clock::noon(),
        Some(Kind::Word(Word::Midnight)) => Clock::midnight(),
        Some(Kind::Clock(clock)) => clock,
        Some(Kind::Number(hour)) => match reader.peek_at(1) {
            Some(Kind::Word(Word::HalfOfDay(half))) => {
                reader.skip();
                Clock::new(hour, 0, Some(half)).ok_or_else(wrong)?
            }
            _ => Clock::new(hour, 0, None).ok_or_else(wrong)?,
        },
        _ => return Err(reader.refusal()),
    };
    reader.skip();
    reader.take_word(Word::OClock);
    match reader.peek() {
        Some(Kind::Word(Word::HalfOfDay(half))) => {
            let clock = clock.with_half(half).ok_or_else(wrong)?;
            reader.skip();
            Ok(clock)
        }
        _ => Ok(clock),
    }
}
