//! E-mail addresses and telephone numbers that stand nowhere, where the record has others like them.

use super::judge::Wrong;
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, is_agenda};

/// So many bytes before an answer are searched.
const REACH: usize = 128 * 1024;
/// So many of one answer are looked up.
const MOST: usize = 16;
/// The digits of a telephone number.
const DIGITS: std::ops::RangeInclusive<usize> = 8..=15;
/// Numbers of one place begin alike in so many digits.
const PREFIX: usize = 4;

/// Those of an answer that nothing has, each with one that the agent was given.
pub(crate) fn contacts<'t>(facts: &Facts<'t>, answer: &Answer<'t>) -> Vec<Wrong<'t>> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let mut found = Vec::new();
    let may = |t: &&Token| t.kind == TokenKind::Email || prose.bytes(t).first() == Some(&b'+');
    if !prose.tokens.iter().any(|t| may(&t)) || !facts.shows_all_before(turn) {
        return found;
    }
    let told = |at: usize| prose.clause_at(at).is_some_and(|clause| is_told(prose, clause));
    let given = || facts.given().near(turn, REACH).map(|given| given.text);
    for (at, token) in prose.tokens.iter().enumerate().filter(|(_, t)| may(t)).take(MOST) {
        if token.quoted || !told(at) {
            continue;
        }
        let span = token.span();
        let held = match token.kind {
            TokenKind::Email => other_address(prose.word(token), given),
            _ => {
                let rest = prose.text.get(span.start..).unwrap_or_default();
                other_number(telephone(rest).unwrap_or_default(), given)
            }
        };
        let text = match token.kind {
            TokenKind::Email => span.of(prose.text),
            _ => prose.text.get(span.start..).and_then(telephone).unwrap_or_default(),
        };
        if let Some(held) = held {
            found.push(Wrong { text, span, held });
        }
    }
    found
}

fn is_told(prose: &Prose<'_>, clause: &Clause) -> bool {
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::NEGATION).or(Tags::INTEND);
    clause.mood == Mood::Asserted && !clause.tags.any(doubt) && !is_agenda(prose, clause)
}

/// An address of the same place, or of the same name, where the texts do not have this one.
fn other_address<'t, I: Iterator<Item = &'t str>>(
    said: &str,
    given: impl Fn() -> I,
) -> Option<String> {
    let said = said.to_ascii_lowercase();
    let (name, place) = said.split_once('@')?;
    // What stands for an address.
    if ["example.com", "example.org", "example.net"].contains(&place) {
        return None;
    }
    let mut other = None;
    for text in given() {
        for (at, _) in text.match_indices('@') {
            let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '*');
            let head = text.get(..at)?;
            let from = head.rfind(|c| !part(c)).map_or(0, |at| at + 1);
            let from = text.ceil_char_boundary(from);
            let tail = text.get(at + 1..)?;
            let until = tail.find(|c| !part(c)).unwrap_or(tail.len());
            let (own, of) = (head.get(from..)?, tail.get(..until)?.trim_end_matches('.'));
            let (own, of) = (own.to_ascii_lowercase(), of.to_ascii_lowercase());
            if (own == name && of == place) || own.contains('*') {
                return None;
            }
            let like = !own.is_empty() && !of.is_empty() && (own == name || of == place);
            if like && other.is_none() {
                other = Some(format!("{own}@{of}"));
            }
        }
    }
    other
}

/// A number that begins like this one, where the texts do not have it.
fn other_number<'t, I: Iterator<Item = &'t str>>(
    said: &str,
    given: impl Fn() -> I,
) -> Option<String> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let wanted = digits(said);
    if !DIGITS.contains(&wanted.len()) {
        return None;
    }
    // Without the code of the country.
    let tail = wanted.get(wanted.len() - 7..)?.to_owned();
    let mut other = None;
    for text in given() {
        if digits(text).contains(&tail) {
            return None;
        }
        let numbers = text.match_indices('+').filter_map(|(at, _)| telephone(text.get(at..)?));
        let mut like =
            numbers.filter(|number| digits(number).get(..PREFIX) == wanted.get(..PREFIX));
        other = other.or_else(|| like.next().map(str::to_owned));
    }
    other
}

/// "+32 50 55 07 18": the number at the beginning of a text.
fn telephone(text: &str) -> Option<&str> {
    let part = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')' | '.' | '/');
    let rest = text.strip_prefix('+')?;
    let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
    let number = text.get(..end + 1)?.trim_end_matches(|c: char| !c.is_ascii_digit());
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    DIGITS.contains(&digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_numbers_like_those_on_record() {
        let record = r#"{"mail": "leave-lisbon@north.example", "call": "+32 50 55 07 81"}"#;
        let given = || std::iter::once(record);
        for (said, expected) in [
            ("parental@north.example", Some("leave-lisbon@north.example")),
            ("Leave-Lisbon@north.example", None),
            ("help@other.example", None),
        ] {
            assert_eq!(other_address(said, given).as_deref(), expected, "{said}");
        }
        for (said, expected) in [
            ("+32 50 55 07 18", Some("+32 50 55 07 81")),
            ("+32 (50) 550781", None),
            ("+44 20 7946 0991", None),
        ] {
            assert_eq!(other_number(said, given).as_deref(), expected, "{said}");
        }
    }
}
