//! Counts that stand nowhere, where the record has the same digits with two in each other's place,
//! beside a word of the same clause: "930 rows were converted", with `converted 903 rows`.

use super::judge::Wrong;
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, is_agenda};
use crate::values::{Figure, holds};

/// A word stands so many bytes around the number.
const AROUND: usize = 60;
/// So many bytes before an answer are searched.
const REACH: usize = 64 * 1024;
/// So many numbers of one answer are looked up.
const MOST: usize = 16;

/// The counts, each with the number on record.
pub(crate) fn misread<'t>(facts: &Facts<'t>, answer: &Answer<'t>) -> Vec<Wrong<'t>> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let mut found = Vec::new();
    let counts = prose.tokens.iter().enumerate().filter(|(_, t)| is_count(prose, t)).take(MOST);
    for (at, token) in counts {
        let Some(clause) = prose.clause_at(at).filter(|clause| is_told(prose, clause)) else {
            continue;
        };
        let number = prose.word(token);
        let digits: String = number.chars().filter(char::is_ascii_digit).collect();
        let figure = Figure::parse(number).and_then(|figure| facts.given().figure(figure));
        let written = |form: &str| facts.source_of(form, turn, true).is_some();
        let said = || written(number) || (digits != number && written(&digits));
        let known = facts.is_complete_before(turn) && facts.given().is_whole_before(turn);
        if !known || figure.is_some_and(|first| first < turn) || said() {
            continue;
        }
        let words = prose.tokens(clause.tokens.clone()).iter();
        let words = words.filter(|t| is_content(t)).map(|t| stem(prose.word(t)));
        let words: Vec<&str> = words.filter(|word| word.len() >= 4).collect();
        let held = swapped(&digits).find(|other| stands_beside(facts, turn, other, &words));
        if let Some(held) = held {
            let span = token.span();
            found.push(Wrong { text: span.of(prose.text), span, held });
        }
    }
    found
}

/// A whole number of three digits or more, and no year.
fn is_count(prose: &Prose<'_>, token: &Token) -> bool {
    if token.kind != TokenKind::Number || token.quoted {
        return false;
    }
    let word = prose.word(token);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let plain = word.bytes().all(|b| b.is_ascii_digit() || b == b',');
    let year = digits == 4 && (word.starts_with("19") || word.starts_with("20"));
    plain && (3..=9).contains(&digits) && !year
}

fn is_told(prose: &Prose<'_>, clause: &Clause) -> bool {
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::NEGATION).or(Tags::INTEND).or(Tags::USER);
    matches!(clause.mood, Mood::Asserted | Mood::Observed)
        && !clause.tags.any(doubt)
        && !is_agenda(prose, clause)
}

fn is_content(token: &Token) -> bool {
    let small = Tags::PREPOSITION.or(Tags::BE).or(Tags::HAVE).or(Tags::DETERMINER);
    let small = small.or(Tags::ADVERB).or(Tags::COORDINATE).or(Tags::AGENT).or(Tags::THING);
    token.kind == TokenKind::Word && !token.has(small)
}

/// A word without the ending of its plural.
fn stem(word: &str) -> &str {
    word.strip_suffix("es").or_else(|| word.strip_suffix('s')).unwrap_or(word)
}

/// The numbers in which two digits, side by side or with one between, have changed places.
fn swapped(digits: &str) -> impl Iterator<Item = String> {
    let len = digits.len();
    let pairs = (0..len).flat_map(move |at| [(at, at + 1), (at, at + 2)]);
    pairs.filter(move |(_, to)| *to < len).filter_map(move |(from, to)| {
        let mut bytes = digits.as_bytes().to_vec();
        bytes.swap(from, to);
        let other = String::from_utf8(bytes).ok()?;
        (other != digits && !other.starts_with('0')).then_some(other)
    })
}

/// Whether a result has the number, and near it one of the words.
fn stands_beside(facts: &Facts<'_>, turn: usize, number: &str, words: &[&str]) -> bool {
    let finder = memchr::memmem::Finder::new(number.as_bytes());
    facts.given().near(turn, REACH).any(|given| {
        finder.find_iter(given.text.as_bytes()).take(8).any(|at| {
            let digit = |at: Option<usize>| {
                at.and_then(|at| given.text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit)
            };
            let end = at + number.len();
            let whole = !digit(at.checked_sub(1)) && !digit(Some(end));
            let from = given.text.floor_char_boundary(at.saturating_sub(AROUND));
            let to = given.text.ceil_char_boundary((end + AROUND).min(given.text.len()));
            let around = given.text.get(from..to).unwrap_or_default();
            whole && words.iter().any(|word| holds(around, word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_change_places() {
        let found: Vec<String> = swapped("930").collect();
        assert_eq!(found, ["390", "903"]);
        assert_eq!(swapped("111").count(), 0);
    }
}
