use std::ops::Range;

use counterfoil_model::Span;

use super::figure::Figure;
use crate::facts::Answer;
use crate::prose::{Clause, Mood, Prose, Token, TokenKind, Words, is_currency};

/// A value that an answer states.
#[derive(Debug)]
pub(crate) struct Stated<'t> {
    /// The message.
    pub(crate) turn: usize,
    /// Its token.
    pub(crate) token: usize,
    /// What kind of value.
    pub(crate) kind: StatedKind,
    /// As written, without marks that only dress it up.
    pub(crate) text: &'t str,
    /// Where it stands.
    pub(crate) span: Span,
}

/// What kind of value is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatedKind {
    /// The id of a thing, without `#`.
    Id,
    /// An amount of money.
    Money(Figure),
    /// A web page, without scheme, `www.` and fragment.
    Url,
    /// The last part of a path.
    Path,
    /// The longest part of a quotation, or of inline code, that can stand somewhere as it is.
    Quote,
}

/// The values of one answer, in order. What follows "e.g." is no statement.
pub(crate) fn stated<'t>(answer: &Answer<'t>) -> Vec<Stated<'t>> {
    let prose = &answer.prose;
    let mut found: Vec<Stated<'t>> = Vec::new();
    for clause in &prose.clauses {
        if is_example(prose, clause) {
            continue;
        }
        for at in clause.tokens.clone() {
            let Some(token) = prose.tokens.get(at) else { break };
            // No word is a value.
            if token.kind == TokenKind::Word {
                continue;
            }
            let mut span = token.span();
            let word = prose.word(token);
            let value = match quotation(prose, at, clause.tokens.end) {
                Some(inner) => {
                    span = inner;
                    quote(inner.of(prose.text)).map(|text| (StatedKind::Quote, text))
                }
                None => amount(prose, at, word).or_else(|| value(word, token)),
            };
            let Some((kind, text)) = value else { continue };
            found.push(Stated { turn: answer.turn, token: at, kind, text, span });
        }
    }
    found
}

/// What stands between the quotation mark at a token and the next one.
fn quotation(prose: &Prose<'_>, at: usize, end: usize) -> Option<Span> {
    let opens = |t: &Token| matches!(t.kind, TokenKind::Symbol('"' | '“' | '”'));
    let open = prose.tokens.get(at).filter(|t| opens(t))?;
    let inside = prose.tokens(at + 1..end.max(at + 1));
    if !inside.first()?.quoted {
        return None;
    }
    let close = inside.iter().find(|t| opens(t))?;
    Some(Span::new(open.end as usize, close.start as usize))
}

/// The longest part of a quotation that has no gap or place-holder; `None` for a few words.
fn quote(text: &str) -> Option<&str> {
    let gap = |c: char| matches!(c, '…' | '<' | '>' | '{' | '}' | '%' | '\\' | '\n' | '`');
    let parts = text.split("...").flat_map(|part| part.split(gap));
    let ends = |c: char| c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | '!' | '"' | '\'');
    let longest = parts.map(|part| part.trim_matches(ends)).max_by_key(|part| part.len())?;
    (longest.len() >= 12 && longest.contains(' ')).then_some(longest)
}

fn value<'t>(word: &'t str, token: &Token) -> Option<(StatedKind, &'t str)> {
    match token.kind {
        TokenKind::Money => Some((StatedKind::Money(Figure::parse(word)?), word)),
        TokenKind::Number if word.starts_with(['-', '+']) && word.contains('$') => {
            Some((StatedKind::Money(Figure::parse(word)?), word))
        }
        TokenKind::Url => Some((StatedKind::Url, page(word)?)),
        TokenKind::Path => Some((StatedKind::Path, file(word)?)),
        TokenKind::Code if word.contains(' ') => Some((StatedKind::Quote, quote(word)?)),
        TokenKind::Code if word.contains("://") => Some((StatedKind::Url, page(word)?)),
        TokenKind::Code if word.contains('/') => Some((StatedKind::Path, file(word)?)),
        TokenKind::Id | TokenKind::Number | TokenKind::Identifier | TokenKind::Code => {
            let bare = word.trim_start_matches('#');
            is_id(bare, bare.len() < word.len()).then_some((StatedKind::Id, bare))
        }
        _ => None,
    }
}

/// Codes of currencies that stand beside amounts.
pub(super) const CURRENCIES: [&str; 28] = [
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK",
    "PLN", "CZK", "HUF", "RON", "BGN", "TRY", "ILS", "ZAR", "BRL", "MXN", "KRW", "SGD", "HKD",
    "THB", "IDR",
];

/// "PLN 1,590.50", "45 EUR", "12.40 €": a number beside the code or the sign of a currency.
fn amount<'t>(prose: &Prose<'t>, at: usize, word: &'t str) -> Option<(StatedKind, &'t str)> {
    let number = prose.tokens.get(at).filter(|t| t.kind == TokenKind::Number)?;
    let currency = |t: &Token| match t.kind {
        TokenKind::Symbol(mark) => is_currency(mark),
        TokenKind::Word => CURRENCIES.contains(&prose.word(t)),
        _ => false,
    };
    let before = at.checked_sub(1).and_then(|at| prose.tokens.get(at));
    let behind = prose.tokens.get(at + 1).filter(|t| t.start <= number.end + 1);
    let named = before.is_some_and(currency) || behind.is_some_and(currency);
    named.then(|| Figure::parse(word)).flatten().map(|figure| (StatedKind::Money(figure), word))
}

/// Whether the clause gives examples, or says what a value has to look like.
fn is_example(prose: &Prose<'_>, clause: &Clause) -> bool {
    const SHOWS: &Words = words!["example", "e.g", "format", "such"];
    let shows = |range: Range<usize>| prose.tokens(range).iter().any(|t| prose.is(t, SHOWS));
    let start = clause.tokens.start;
    (clause.may_hold(SHOWS) && shows(clause.tokens.clone()))
        || (clause.mood == Mood::Conditional && shows(start.saturating_sub(4)..start))
}

/// A web address without what may differ between two mentions of one page.
fn page(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let rest = rest.split('#').next().unwrap_or(rest);
    let rest = rest.trim_end_matches(['/', '.', ',', ')', '*']);
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    let real = host.contains('.') && !host.contains("example") && !host.starts_with("127.");
    (real && !rest.contains(['<', '{', '[', '$', '*']) && !rest.contains("...")).then_some(rest)
}

/// The name of a file with an extension, without folders, line and anchor.
fn file(path: &str) -> Option<&str> {
    let path = path.split(['#', '(', ':']).next().unwrap_or(path);
    let name = path.rsplit(['/', '\\']).next()?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let (stem, extension) = name.rsplit_once('.')?;
    let named = stem.len() >= 2 && (1..=5).contains(&extension.len());
    (named && name.bytes().all(plain) && path.contains(['/', '\\'])).then_some(name)
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
        // "901-2284617305": a ticket, or a telephone number.
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

/// `2024-05-15T10`: a date with more behind it.
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
