//! Dates and times of day.

use super::token::Token;
use super::{Value, ValueKind};
use crate::lists::MONTHS;

/// Reads `2026-02-11` or `2026/02/11`.
pub(super) fn iso(token: Token<'_>) -> Option<Value> {
    let text = token.text;
    let (year, rest) = (text.get(..4)?, text.get(4..10)?);
    let mark = rest.chars().next().filter(|c| matches!(c, '-' | '/'))?;
    let mut parts = rest.get(1..)?.split(mark);
    let (month, day) = (parts.next()?, parts.next()?);
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let numbers = digits(year) && digits(month) && digits(day) && month.len() == 2;
    let whole = numbers && text.len() == 10;
    whole.then(|| Value::new(ValueKind::Date, format!("{year}-{month}-{day}"), token))
}

/// Reads `14:30`, `14:30:05` or `T10:00:00Z`.
pub(super) fn time(token: Token<'_>) -> Option<Value> {
    let mut parts = token.text.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let minute = minute.get(..2).filter(|m| m.bytes().all(|b| b.is_ascii_digit()))?;
    let hour: u8 = hour.parse().ok().filter(|hour| *hour < 24)?;
    let valid = minute.parse::<u8>().is_ok_and(|minute| minute < 60);
    valid.then(|| Value::new(ValueKind::Time, format!("{hour:02}:{minute}"), token))
}

/// The latest tokens, for dates that span several of them.
#[derive(Debug, Default)]
pub(super) struct Window {
    parts: [Option<Part>; 3],
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Month(usize),
    Day(u8),
    Year(u16),
}

impl Window {
    /// A date that ends with this token: `11 February 2026`, `March 4`.
    pub(super) fn read(&mut self, token: Token<'_>) -> Option<Value> {
        let part = part_of(token.text);
        self.parts.rotate_left(1);
        if let Some(last) = self.parts.last_mut() {
            *last = part;
        }
        let key = match self.parts {
            [Some(Part::Day(day)), Some(Part::Month(month)), Some(Part::Year(year))]
            | [Some(Part::Month(month)), Some(Part::Day(day)), Some(Part::Year(year))] => {
                format!("{year:04}-{month:02}-{day:02}")
            }
            [_, Some(Part::Month(month)), Some(Part::Day(day))] => format!("--{month:02}-{day:02}"),
            [_, Some(Part::Day(day)), Some(Part::Month(month))] => format!("--{month:02}-{day:02}"),
            _ => return None,
        };
        Some(Value::new(ValueKind::Date, key, token))
    }
}

fn part_of(text: &str) -> Option<Part> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ordinal = text.get(number.len()..)?;
        return match number.parse::<u16>().ok()? {
            day @ 1..=31 if matches!(ordinal, "" | "st" | "nd" | "rd" | "th") => {
                u8::try_from(day).ok().map(Part::Day)
            }
            year @ 1900..=2200 if ordinal.is_empty() => Some(Part::Year(year)),
            _ => None,
        };
    }
    let capital = text.starts_with(|c: char| c.is_ascii_uppercase());
    let lower = text.to_ascii_lowercase();
    let month = |name: &str| name == lower || (lower.len() >= 3 && name.get(..3) == Some(&lower));
    MONTHS.iter().position(|name| month(name)).filter(|_| capital).map(|at| Part::Month(at + 1))
}
