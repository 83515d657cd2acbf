use std::ops::Range;

use counterfoil_model::Span;

use crate::facts::Answer;
use crate::prose::{Clause, Mood, Prose, Token, TokenKind, Words};

/// An id that an answer states.
#[derive(Debug)]
pub(crate) struct Stated<'t> {
    /// The index of the message.
    pub(crate) turn: usize,
    /// The index of its token.
    pub(crate) token: usize,
    /// The id, without `#`.
    pub(crate) text: &'t str,
    /// Its position.
    pub(crate) span: Span,
}

/// The ids of one answer, in order. Anything after "e.g." is not a statement.
pub(crate) fn stated<'t>(answer: &Answer<'t>) -> Vec<Stated<'t>> {
    let prose = &answer.prose;
    let mut found: Vec<Stated<'t>> = Vec::new();
    for clause in prose.clauses.iter().filter(|clause| !is_example(prose, clause)) {
        for at in clause.tokens.clone() {
            let Some(token) = prose.tokens.get(at) else { break };
            if let Some(text) = id(prose, token) {
                found.push(Stated { turn: answer.turn, token: at, text, span: token.span() });
            }
        }
    }
    found
}

/// The id that a token represents.
fn id<'t>(prose: &Prose<'t>, token: &Token) -> Option<&'t str> {
    use TokenKind::{Code, Id, Identifier, Number};
    if !matches!(token.kind, Id | Number | Identifier | Code) {
        return None;
    }
    let word = prose.word(token);
    let bare = word.trim_start_matches('#');
    is_id(bare, bare.len() < word.len()).then_some(bare)
}

/// Whether the clause gives examples, or says what a value has to look like.
fn is_example(prose: &Prose<'_>, clause: &Clause) -> bool {
    const SHOWS: &Words = words!["example", "e.g", "format", "such"];
    let shows = |range: Range<usize>| prose.tokens(range).iter().any(|t| prose.is(t, SHOWS));
    let start = clause.tokens.start;
    (clause.may_hold(SHOWS) && shows(clause.tokens.clone()))
        || (clause.mood == Mood::Conditional && shows(start.saturating_sub(4)..start))
}

/// Whether a word is an id: digits among letters, or many digits.
fn is_id(word: &str, marked: bool) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    if !word.bytes().all(plain) || word.len() < 4 {
        return false;
    }
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters == 0 {
        let many = digits >= 7 && digits == word.len() && !word.ends_with("000");
        // "901-2284617305": a ticket or a telephone number.
        let parts = word.split_once('-').filter(|(a, b)| a.len() >= 3 && b.len() >= 3);
        let joined = digits >= 10 && digits + 1 == word.len() && parts.is_some();
        return many || joined || (marked && digits >= 4 && digits == word.len());
    }
    if marked && digits >= 3 {
        return true;
    }
    let upper = word.bytes().any(|b| b.is_ascii_uppercase());
    let hex = word.len() >= 7 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let joined = word.bytes().any(|b| b == b'_') && digits >= 4;
    let universal = word.len() == 36 && word.bytes().filter(|b| *b == b'-').count() == 4;
    let coded = upper && word.len() >= 5 && digits >= 1 && !is_quantity(word) && !is_dated(word);
    (digits >= 1 && hex) || joined || universal || (coded && !word.starts_with('-'))
}

/// `128GB`, `1080p`: a number with its unit.
fn is_quantity(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < word.len() && unit.len() <= 3 && unit.bytes().all(|b| b.is_ascii_alphabetic())
}

/// `2024-05-15T10`: a date with a suffix.
fn is_dated(word: &str) -> bool {
    let shape = word.bytes().take(8).map(|b| b.is_ascii_digit());
    shape.eq([true, true, true, true, false, true, true, false])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        for (word, expected) in [
            ("#W2210", true),
            ("K4T9QX", true),
            ("HAX225", true),
            ("4579334073", true),
            ("gift_card_8541487", true),
            ("fd4de21", true),
            ("0b8e2f6c-2b7d-4c3e-9f52-61d0a7b4c8e1", true),
            ("PAY-1042", true),
            ("128GB", false),
            ("5000000", false),
            ("2026", false),
            ("#1", false),
            ("Q3", false),
            ("utf8", false),
            ("2024-05-15T10", false),
        ] {
            let bare = word.trim_start_matches('#');
            assert_eq!(is_id(bare, bare.len() < word.len()), expected, "{word}");
        }
    }
}
