use jiff::civil::{Date, Weekday};

use crate::schedule::clause::{Clauses, Day, Position, Recurrence};
use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::{self, Part, Unit, Word};
use crate::schedule::token::Kind;
use crate::schedule::weekdays::Weekdays;

use super::put;
use super::reader::Reader;

/// `["on"] (relative | weekdays | date | ["the"] positions)`.
pub(super) fn day(reader: &mut Reader<'_>, clauses: &mut Clauses) -> Result<(), ScheduleError> {
    let from = reader.position();
    let day = match reader.peek() {
        Some(Kind::Word(Word::Today)) => relative(reader, 0),
        Some(Kind::Word(Word::Tomorrow)) => relative(reader, 1),
        Some(Kind::Word(Word::The)) if is_after_tomorrow(reader) => {
            for _ in 0..3 {
                reader.skip();
            }
            relative(reader, 2)
        }
        Some(Kind::Word(Word::Next)) => {
            reader.skip();
            Day::Next(weekday(reader)?)
        }
        Some(Kind::Word(Word::On)) => {
            reader.skip();
            named(reader)?
        }
        _ => {
            // "third" alone says nothing: "the third" or "on the third" is a day.
            let is_ordinal = !reader.is_word(Word::The);
            let day = named(reader)?;
            if is_ordinal && matches!(day, Day::OfMonth(_, Recurrence::Open)) {
                return Err(reader.refusal_at(from));
            }
            day
        }
    };
    put(&mut clauses.day, day, from, reader)
}

fn relative(reader: &mut Reader<'_>, days: u8) -> Day {
    reader.skip();
    Day::After(days)
}

/// "the day after tomorrow".
fn is_after_tomorrow(reader: &Reader<'_>) -> bool {
    [Word::The, Word::Unit(Unit::Day), Word::After, Word::Tomorrow]
        .into_iter()
        .enumerate()
        .all(|(ahead, word)| reader.peek_at(ahead) == Some(Kind::Word(word)))
}

/// A day by its name, its date or its position in a month.
fn named(reader: &mut Reader<'_>) -> Result<Day, ScheduleError> {
    match reader.peek() {
        Some(Kind::Date(_) | Kind::Number(_) | Kind::Word(Word::Month(_))) => date(reader),
        Some(Kind::Ordinal(_)) if is_ordinal_of_date(reader) => date(reader),
        Some(Kind::Ordinal(_) | Kind::Word(Word::Second | Word::Last)) => positions(reader),
        Some(Kind::Word(Word::The)) => {
            reader.skip();
            match reader.peek() {
                Some(Kind::Ordinal(_)) if is_ordinal_of_date(reader) => date(reader),
                Some(Kind::Ordinal(_) | Kind::Word(Word::Second | Word::Last)) => positions(reader),
                _ => Err(reader.refusal()),
            }
        }
        Some(Kind::Word(Word::This)) => {
            reader.skip();
            Ok(Day::This(weekday(reader)?))
        }
        Some(Kind::Word(Word::Next)) => {
            reader.skip();
            Ok(Day::Next(weekday(reader)?))
        }
        Some(Kind::Word(Word::Coming)) => {
            reader.skip();
            Ok(Day::Weekdays(Weekdays::one(weekday(reader)?), Recurrence::Open))
        }
        _ => {
            let (days, recurrence) = weekdays(reader)?;
            Ok(Day::Weekdays(days, recurrence))
        }
    }
}

/// "24th december" or "24th of december".
fn is_ordinal_of_date(reader: &Reader<'_>) -> bool {
    let of = reader.peek_at(1) == Some(Kind::Word(Word::Of));
    reader.is_month_at(1 + usize::from(of))
}

/// `["this"] part`, `"this" weekday` or `"tonight"`.
pub(super) fn part(reader: &mut Reader<'_>, clauses: &mut Clauses) -> Result<(), ScheduleError> {
    let from = reader.position();
    let this = reader.take_word(Word::This);
    let part = match reader.peek() {
        Some(Kind::Word(Word::Part(part))) => part,
        Some(Kind::Word(Word::Tonight)) if !this => Part::Tonight,
        _ if this => {
            let day = Day::This(weekday(reader)?);
            return put(&mut clauses.day, day, from, reader);
        }
        _ => return Err(reader.refusal()),
    };
    reader.skip();
    if this || part == Part::Tonight {
        put(&mut clauses.day, Day::After(0), from, reader)?;
    }
    put(&mut clauses.part, part, from, reader)
}

fn weekday(reader: &mut Reader<'_>) -> Result<Weekday, ScheduleError> {
    let Some(Kind::Word(Word::Weekday(day))) = reader.peek() else {
        return Err(reader.refusal());
    };
    reader.skip();
    Ok(day)
}

/// `weekday ["to" weekday] { ("," | "and") weekday … }`; names in the plural recur.
pub(super) fn weekdays(reader: &mut Reader<'_>) -> Result<(Weekdays, Recurrence), ScheduleError> {
    let (mut days, mut recurrence) = some_weekdays(reader)?;
    while reader.joins(starts_weekdays) {
        let (more, of_more) = some_weekdays(reader)?;
        days = days.with(more);
        if of_more == Recurrence::Each {
            recurrence = Recurrence::Each;
        }
    }
    Ok((days, recurrence))
}

fn starts_weekdays(reader: &Reader<'_>, ahead: usize) -> bool {
    match reader.peek_at(ahead) {
        Some(Kind::Word(word)) => named_weekdays(word).is_some(),
        _ => false,
    }
}

fn some_weekdays(reader: &mut Reader<'_>) -> Result<(Weekdays, Recurrence), ScheduleError> {
    let Some(Kind::Word(word)) = reader.peek() else { return Err(reader.refusal()) };
    let (days, recurrence) = named_weekdays(word).ok_or_else(|| reader.refusal())?;
    reader.skip();
    match (word, reader.peek_at(1)) {
        (Word::Weekday(first), Some(Kind::Word(Word::Weekday(last))))
            if reader.take_word(Word::To) =>
        {
            reader.skip();
            // "monday to friday" means the same in every week.
            Ok((Weekdays::range(first, last), Recurrence::Each))
        }
        _ => Ok((days, recurrence)),
    }
}

fn named_weekdays(word: Word) -> Option<(Weekdays, Recurrence)> {
    Some(match word {
        Word::Weekday(day) => (Weekdays::one(day), Recurrence::Open),
        Word::Weekdays(day) => (Weekdays::one(day), Recurrence::Each),
        Word::Workday => (Weekdays::workdays(), Recurrence::Open),
        Word::Workdays => (Weekdays::workdays(), Recurrence::Each),
        Word::Weekend => (Weekdays::weekend(), Recurrence::Open),
        Word::Weekends => (Weekdays::weekend(), Recurrence::Each),
        _ => return None,
    })
}

/// `position { ("," | "and") ["the"] position } (weekday | ["day"]) ["of" period]`.
pub(super) fn positions(reader: &mut Reader<'_>) -> Result<Day, ScheduleError> {
    let first = reader.position();
    let mut positions = vec![position(reader)?];
    while reader.joins(starts_position) {
        reader.take_word(Word::The);
        positions.push(position(reader)?);
    }
    positions.sort_unstable();
    positions.dedup();
    let weekday = match reader.peek() {
        Some(Kind::Word(Word::Weekday(day))) => Some(day),
        _ => None,
    };
    // "the last" alone is no day.
    let needs_day = positions.contains(&Position::Last);
    let takes_day = weekday.is_some() || reader.is_word(Word::Unit(Unit::Day));
    if takes_day {
        reader.skip();
    } else if needs_day {
        return Err(reader.refusal());
    }
    let recurrence = match (period(reader)?, takes_day) {
        (true, _) => Recurrence::Each,
        (false, true) => Recurrence::NeedsPeriod,
        (false, false) => Recurrence::Open,
    };
    let Some(weekday) = weekday else { return Ok(Day::OfMonth(positions, recurrence)) };
    if positions.iter().any(|position| matches!(position, Position::Nth(6..))) {
        return Err(ScheduleError::NoSuchDay { word: reader.words_from(first) });
    }
    Ok(Day::Nth(positions, Weekdays::one(weekday), recurrence))
}

/// `"of" ("the" | "every") "month"`, if there is an "of".
fn period(reader: &mut Reader<'_>) -> Result<bool, ScheduleError> {
    if !reader.take_word(Word::Of) {
        return Ok(false);
    }
    if !reader.take_word(Word::The) {
        reader.need(Word::Every)?;
    }
    reader.need(Word::Unit(Unit::Month))?;
    Ok(true)
}

fn starts_position(reader: &Reader<'_>, ahead: usize) -> bool {
    let is_the = reader.peek_at(ahead) == Some(Kind::Word(Word::The));
    let kind = reader.peek_at(ahead + usize::from(is_the));
    matches!(kind, Some(Kind::Ordinal(_) | Kind::Word(Word::Second | Word::Last)))
}

fn position(reader: &mut Reader<'_>) -> Result<Position, ScheduleError> {
    let number = match reader.peek() {
        Some(Kind::Ordinal(number)) => number,
        Some(Kind::Word(Word::Second)) => 2,
        Some(Kind::Word(Word::Last)) => {
            reader.skip();
            return Ok(Position::Last);
        }
        _ => return Err(reader.refusal()),
    };
    let wrong = || ScheduleError::NoSuchDay { word: reader.text() };
    let number = i8::try_from(number).map_err(|_| wrong())?;
    if !(1..=31).contains(&number) {
        return Err(wrong());
    }
    reader.skip();
    Ok(Position::Nth(number))
}

/// `iso | number month [[","] year] | month (number | ordinal) [[","] year]`, or
/// `ordinal ["of"] month [[","] year]`.
pub(super) fn date(reader: &mut Reader<'_>) -> Result<Day, ScheduleError> {
    let (month, day) = match reader.peek() {
        Some(Kind::Date(date)) => {
            reader.skip();
            let (month, day) = (date.month(), date.day());
            return Ok(Day::Date { year: Some(date.year()), month, day });
        }
        Some(Kind::Word(Word::Month(month))) => {
            reader.skip();
            (month, day_number(reader)?)
        }
        _ => {
            let day = day_number(reader)?;
            reader.take_word(Word::Of);
            let Some(Kind::Word(Word::Month(month))) = reader.peek() else {
                return Err(reader.refusal());
            };
            reader.skip();
            (month, day)
        }
    };
    let year = year(reader);
    let wrong = || {
        let year = year.map(|year| format!(" {year}")).unwrap_or_default();
        ScheduleError::NoSuchDate { date: format!("{day} {}{year}", lexicon::month_name(month)) }
    };
    // Any leap year shows whether the day can be at all.
    let day = i8::try_from(day).map_err(|_| wrong())?;
    Date::new(year.unwrap_or(2024), month, day).map_err(|_| wrong())?;
    Ok(Day::Date { year, month, day })
}

fn day_number(reader: &mut Reader<'_>) -> Result<u32, ScheduleError> {
    let Some(Kind::Number(day) | Kind::Ordinal(day)) = reader.peek() else {
        return Err(reader.refusal());
    };
    reader.skip();
    Ok(day)
}

/// A year of four digits, after a comma or without.
fn year(reader: &mut Reader<'_>) -> Option<i16> {
    let comma = usize::from(reader.peek() == Some(Kind::Comma));
    let Some(Kind::Number(year @ 1000..=9999)) = reader.peek_at(comma) else { return None };
    reader.take_comma();
    reader.skip();
    i16::try_from(year).ok()
}
