use crate::schedule::clause::{Amount, Clauses};
use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::{Unit, Word};
use crate::schedule::token::Kind;

use super::reader::Reader;
use super::{day, put};

/// `"in" amounts` or `"in" "the" part`.
pub(super) fn delay_or_part(
    reader: &mut Reader<'_>,
    clauses: &mut Clauses,
) -> Result<(), ScheduleError> {
    let from = reader.position();
    reader.skip();
    if reader.take_word(Word::The) {
        return day::part(reader, clauses);
    }
    let amounts = amounts(reader)?;
    put(&mut clauses.delay, amounts, from, reader)
}

/// `amounts "from" "now"`.
pub(super) fn from_now(
    reader: &mut Reader<'_>,
    clauses: &mut Clauses,
) -> Result<(), ScheduleError> {
    let from = reader.position();
    let Some(Kind::Word(Word::Unit(_) | Word::Second | Word::A | Word::Half)) = reader.peek_at(1)
    else {
        return Err(reader.refusal());
    };
    let amounts = amounts(reader)?;
    reader.need(Word::From)?;
    reader.need(Word::Now)?;
    put(&mut clauses.delay, amounts, from, reader)
}

/// `amount { ["," | "and"] amount } ["and" "a" "half"]`, no unit twice.
fn amounts(reader: &mut Reader<'_>) -> Result<Vec<Amount>, ScheduleError> {
    let mut amounts = vec![amount(reader)?];
    loop {
        if takes_and_a_half(reader, amounts.last().copied()) {
            amounts.push(Amount { count: 30, unit: Unit::Minute });
            return Ok(amounts);
        }
        let is_next = starts_amount(reader, 0) || reader.joins(starts_amount);
        if !is_next {
            return Ok(amounts);
        }
        let from = reader.position();
        let next = amount(reader)?;
        if amounts.iter().any(|amount| amount.unit == next.unit) {
            return Err(reader.refusal_at(from));
        }
        amounts.push(next);
    }
}

/// Goes past "and a half" after hours.
fn takes_and_a_half(reader: &mut Reader<'_>, last: Option<Amount>) -> bool {
    let is_half = [Word::And, Word::A, Word::Half]
        .into_iter()
        .enumerate()
        .all(|(ahead, word)| reader.peek_at(ahead) == Some(Kind::Word(word)));
    let fits = is_half && last.is_some_and(|amount| amount.unit == Unit::Hour);
    if fits {
        for _ in 0..3 {
            reader.skip();
        }
    }
    fits
}

fn starts_amount(reader: &Reader<'_>, ahead: usize) -> bool {
    let counts = matches!(reader.peek_at(ahead), Some(Kind::Number(_) | Kind::Word(Word::A)));
    let unit = reader.peek_at(ahead + 1);
    counts && matches!(unit, Some(Kind::Word(Word::Unit(_) | Word::Second)))
}

/// `(number | "a") unit` or `"half" ["an"] "hour"`.
fn amount(reader: &mut Reader<'_>) -> Result<Amount, ScheduleError> {
    let count = match reader.peek() {
        Some(Kind::Number(count)) => count,
        Some(Kind::Word(Word::A)) => 1,
        Some(Kind::Word(Word::Half)) => return half_hour(reader),
        _ => return Err(reader.refusal()),
    };
    if count == 0 {
        return Err(ScheduleError::Zero { word: reader.text() });
    }
    reader.skip();
    // "a half hour"
    if count == 1 && reader.is_word(Word::Half) {
        return half_hour(reader);
    }
    Ok(Amount { count, unit: unit(reader)? })
}

/// `"half" ["an"] "hour"`.
pub(super) fn half_hour(reader: &mut Reader<'_>) -> Result<Amount, ScheduleError> {
    reader.need(Word::Half)?;
    reader.take_word(Word::A);
    reader.need(Word::Unit(Unit::Hour))?;
    Ok(Amount { count: 30, unit: Unit::Minute })
}

/// A unit of time.
pub(super) fn unit(reader: &mut Reader<'_>) -> Result<Unit, ScheduleError> {
    let unit = match reader.peek() {
        Some(Kind::Word(Word::Unit(unit))) => unit,
        Some(Kind::Word(Word::Second)) => Unit::Second,
        _ => return Err(reader.refusal()),
    };
    reader.skip();
    Ok(unit)
}
