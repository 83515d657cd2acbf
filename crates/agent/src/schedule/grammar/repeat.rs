use crate::schedule::clause::{Amount, Clauses, Day, Recurrence};
use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::{Unit, Word};
use crate::schedule::token::Kind;

use super::reader::Reader;
use super::{amount, day, put};

/// `adverb | "every" what`.
pub(super) fn repeat(reader: &mut Reader<'_>, clauses: &mut Clauses) -> Result<(), ScheduleError> {
    let from = reader.position();
    let first = reader.peek();
    reader.skip();
    if let Some(Kind::Word(Word::Adverb(count, unit))) = first {
        return put(&mut clauses.repeat, Amount { count, unit }, from, reader);
    }
    match reader.peek() {
        Some(Kind::Word(Word::Other)) => every_other(reader, clauses, from),
        Some(Kind::Number(_)) => every_so_many(reader, clauses, from),
        Some(Kind::Word(Word::Half)) => {
            let half_hour = amount::half_hour(reader)?;
            put(&mut clauses.repeat, half_hour, from, reader)
        }
        Some(Kind::Word(Word::Unit(unit))) => {
            reader.skip();
            put(&mut clauses.repeat, Amount { count: 1, unit }, from, reader)
        }
        Some(Kind::Word(Word::Part(_))) => {
            let every_day = Amount { count: 1, unit: Unit::Day };
            put(&mut clauses.repeat, every_day, from, reader)?;
            day::part(reader, clauses)
        }
        Some(Kind::Word(Word::Month(_))) => {
            let date = day::date(reader)?;
            put(&mut clauses.day, date, from, reader)?;
            put(&mut clauses.repeat, Amount { count: 1, unit: Unit::Year }, from, reader)
        }
        Some(Kind::Word(Word::Second | Word::Last) | Kind::Ordinal(_)) => {
            every_nth(reader, clauses, from)
        }
        _ => {
            let days = day::weekdays(reader)?.0;
            put(&mut clauses.day, Day::Weekdays(days, Recurrence::Each), from, reader)
        }
    }
}

/// `"other" (unit | weekdays)`.
fn every_other(
    reader: &mut Reader<'_>,
    clauses: &mut Clauses,
    from: usize,
) -> Result<(), ScheduleError> {
    reader.skip();
    if let Some(Kind::Word(Word::Unit(unit))) = reader.peek() {
        reader.skip();
        return put(&mut clauses.repeat, Amount { count: 2, unit }, from, reader);
    }
    // "every other weekday" and "every other monday and friday" have no one meaning.
    let start = reader.position();
    let days = day::weekdays(reader)?.0;
    if days.single().is_none() {
        return Err(reader.refusal_at(start));
    }
    put(&mut clauses.day, Day::Weekdays(days, Recurrence::Each), from, reader)?;
    put(&mut clauses.repeat, Amount { count: 2, unit: Unit::Week }, from, reader)
}

/// `number unit`.
fn every_so_many(
    reader: &mut Reader<'_>,
    clauses: &mut Clauses,
    from: usize,
) -> Result<(), ScheduleError> {
    let Some(Kind::Number(count)) = reader.peek() else { return Err(reader.refusal()) };
    let word = reader.text();
    reader.skip();
    let unit = amount::unit(reader)?;
    if count == 0 {
        return Err(ScheduleError::Zero { word });
    }
    put(&mut clauses.repeat, Amount { count, unit }, from, reader)
}

/// `ordinal unit`, `"second"`, or days of a month by their positions.
fn every_nth(
    reader: &mut Reader<'_>,
    clauses: &mut Clauses,
    from: usize,
) -> Result<(), ScheduleError> {
    let of_month = reader.peek_at(2) == Some(Kind::Word(Word::Of));
    let count = match reader.peek() {
        Some(Kind::Ordinal(count)) => Some(count),
        Some(Kind::Word(Word::Second)) => Some(2),
        _ => None,
    };
    let ambiguous = |word: String, first: String, second: String| {
        Err(ScheduleError::Ambiguous { word, first, second })
    };
    match (count, reader.peek_at(1)) {
        (Some(count @ 2..), Some(Kind::Word(Word::Unit(Unit::Day)))) if of_month => {
            let ordinal = reader.text();
            let (word, second) = (format!("every {ordinal} day"), format!("the {ordinal} day"));
            ambiguous(word, format!("every {count} days"), format!("{second} of the month"))
        }
        (Some(count @ 2..), Some(Kind::Word(Word::Unit(unit)))) if !of_month => {
            reader.skip();
            reader.skip();
            put(&mut clauses.repeat, Amount { count, unit }, from, reader)
        }
        (Some(count @ 2..), Some(Kind::Word(Word::Weekday(_)))) if !of_month => {
            let ordinal = reader.text();
            reader.skip();
            let weekday = reader.text();
            ambiguous(
                format!("every {ordinal} {weekday}"),
                format!("every {count} weeks on {weekday}"),
                format!("{ordinal} {weekday} of the month"),
            )
        }
        (Some(_), None) if reader.is_word(Word::Second) => {
            reader.skip();
            let every_second = Amount { count: 1, unit: Unit::Second };
            put(&mut clauses.repeat, every_second, from, reader)
        }
        _ => {
            let day = day::positions(reader)?;
            match day {
                Day::OfMonth(_, Recurrence::Each) | Day::Nth(_, _, Recurrence::Each) => {
                    put(&mut clauses.day, day, from, reader)
                }
                _ => Err(ScheduleError::NoPeriod { word: reader.words_from(from) }),
            }
        }
    }
}
