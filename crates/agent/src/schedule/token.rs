use jiff::civil::Date;

use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::{self, HalfOfDay, Word};
use crate::schedule::time_of_day::Clock;

/// One word of a phrase, or one of its commas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// As the phrase has it.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// Which word of the phrase it comes from: one written word may be several tokens.
    pub(crate) word: usize,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// "20", "five".
    Number(u32),
    /// "3rd", "third".
    Ordinal(u32),
    /// "17:30", "9am".
    Clock(Clock),
    /// "2026-12-24".
    Date(Date),
    Word(Word),
    Comma,
}

/// Cuts a phrase into tokens.
///
/// # Errors
/// At the first word that is none, or that is a time, date or number which cannot be.
pub(crate) fn tokens(
    phrase: &str,
    examples: [&'static str; 3],
) -> Result<Vec<Token>, ScheduleError> {
    let mut tokens = Vec::new();
    for (word, written) in phrase.split_whitespace().enumerate() {
        let text = written.trim_end_matches(',');
        if !text.is_empty() {
            let kinds = kinds(text)?
                .ok_or_else(|| ScheduleError::NotUnderstood { word: text.to_owned(), examples })?;
            tokens.extend(kinds.into_iter().map(|kind| Token {
                text: text.to_owned(),
                kind,
                word,
            }));
        }
        if text.len() < written.len() {
            tokens.push(Token { text: ",".to_owned(), kind: Kind::Comma, word });
        }
    }
    Ok(tokens)
}

type Read<T> = Result<Option<T>, ScheduleError>;

/// What a word is; several tokens where it is written together: "20min", "mon-fri".
fn kinds(text: &str) -> Read<Vec<Kind>> {
    let lower = text.to_lowercase();
    if let Some(kind) = simple(&lower)? {
        return Ok(Some(vec![kind]));
    }
    if let Some((number, word)) = number_with_unit(&lower) {
        return Ok(Some(vec![Kind::Number(number), Kind::Word(word)]));
    }
    if let Some((date, clock)) = lower.split_once('t')
        && let (Some(date), Some(clock)) = (iso_date(date)?, clock_time(clock)?)
    {
        return Ok(Some(vec![Kind::Date(date), Kind::Clock(clock)]));
    }
    range(&lower)
}

/// A word that is one token.
fn simple(lower: &str) -> Read<Kind> {
    if let Some(word) = lexicon::word(lower) {
        return Ok(Some(Kind::Word(word)));
    }
    if let Some(number) = lexicon::number(lower) {
        return Ok(Some(Kind::Number(number)));
    }
    if let Some(ordinal) = lexicon::ordinal(lower) {
        return Ok(Some(Kind::Ordinal(ordinal)));
    }
    if let Some(number) = digits(lower, 9) {
        return Ok(Some(Kind::Number(number)));
    }
    if is_digits(lower) {
        return Err(ScheduleError::TooFar { word: lower.to_owned() });
    }
    if let Some(ordinal) = written_ordinal(lower) {
        return Ok(Some(Kind::Ordinal(ordinal)));
    }
    if let Some(date) = iso_date(lower)? {
        return Ok(Some(Kind::Date(date)));
    }
    Ok(clock_time(lower)?.map(Kind::Clock))
}

/// "9-17" and "mon-fri".
fn range(lower: &str) -> Read<Vec<Kind>> {
    let Some((first, last)) = lower.split_once(['-', '–']) else { return Ok(None) };
    let ends = (simple(first)?, simple(last)?);
    let (Some(first), Some(last)) = ends else { return Ok(None) };
    let is_time = |kind: &Kind| matches!(kind, Kind::Number(_) | Kind::Clock(_));
    let is_weekday = |kind: &Kind| matches!(kind, Kind::Word(Word::Weekday(_)));
    let fits = (is_time(&first) && is_time(&last)) || (is_weekday(&first) && is_weekday(&last));
    Ok(fits.then(|| vec![first, Kind::Word(Word::To), last]))
}

/// "20min", "2h".
fn number_with_unit(lower: &str) -> Option<(u32, Word)> {
    let unit = lower.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = digits(lower.strip_suffix(unit)?, 9)?;
    match lexicon::word(unit)? {
        word @ Word::Unit(_) => Some((number, word)),
        _ => None,
    }
}

/// "1st", "22nd", and none with the wrong ending.
fn written_ordinal(lower: &str) -> Option<u32> {
    let ending = lower.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = digits(lower.strip_suffix(ending)?, 4)?;
    let right = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    (ending == right).then_some(number)
}

/// "2026-12-24".
fn iso_date(lower: &str) -> Read<Date> {
    let mut parts = lower.split('-');
    let (Some(year), Some(month), Some(day), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Ok(None);
    };
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return Ok(None);
    }
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return Ok(None);
    };
    let date = i16::try_from(year)
        .ok()
        .and_then(|year| Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok());
    date.map(Some).ok_or_else(|| ScheduleError::NoSuchDate { date: lower.to_owned() })
}

/// "17:30", "9am", "9:30p.m.": whatever has a colon or a half of the day.
fn clock_time(lower: &str) -> Read<Clock> {
    let halves = [("am", HalfOfDay::Am), ("pm", HalfOfDay::Pm)];
    let plain = lower.replace('.', "");
    let marked = halves.iter().find_map(|(end, half)| Some((plain.strip_suffix(end)?, *half)));
    let (text, half) = match marked {
        Some((text, half)) => (text, Some(half)),
        None => (lower, None),
    };
    let read = match text.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => digits(hour, 2).zip(digits(minute, 2)),
        Some(_) => None,
        None => half.and(digits(text, 2)).map(|hour| (hour, 0)),
    };
    let Some((hour, minute)) = read else { return Ok(None) };
    let clock = Clock::new(hour, minute, half);
    clock.map(Some).ok_or_else(|| ScheduleError::NoSuchTime { word: lower.to_owned() })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of at most so many digits.
fn digits(text: &str, most: usize) -> Option<u32> {
    (is_digits(text) && text.len() <= most).then(|| text.parse().ok()).flatten()
}
