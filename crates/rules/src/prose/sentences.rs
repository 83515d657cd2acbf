use std::ops::Range;

use counterfoil_model::Span;

use super::lexicon::Tags;
use super::token::{Token, TokenKind};
use super::tokens::tokenize;

/// The maximum number of tokens in a sentence. Rules look back and ahead within a sentence, so
/// longer ones, which no person writes, are read in parts.
const LONGEST: usize = 400;

/// A sentence, or a line that counts as one.
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    /// The index of its block.
    pub(crate) block: usize,
    /// Its tokens.
    pub(crate) tokens: Range<usize>,
    /// Whether it is in a language other than English, which no rule reads.
    pub(crate) foreign: bool,
    /// Whether it ends in a question mark.
    pub(crate) question: bool,
    /// Whether it ends in a colon and introduces what follows.
    pub(crate) introduces: bool,
}

/// Splits a part of a block into sentences, and those into tokens.
pub(crate) fn sentences(
    text: &str,
    index: usize,
    span: Span,
    tokens: &mut Vec<Token>,
    out: &mut Vec<Sentence>,
) {
    let begin = tokens.len();
    tokenize(text, span, tokens);
    let end = tokens.len();
    let mut from = begin;
    for at in begin..end {
        let ends =
            at + 1 == end || at + 1 - from >= LONGEST || ends_sentence(text, tokens, begin, at);
        if !ends {
            continue;
        }
        let range = from..at + 1;
        from = at + 1;
        let Some(last) = tokens.get(at) else { continue };
        let closing = tokens.get(range.clone()).unwrap_or_default().iter().rev().take(3);
        // "titled 'Are you free?'": a quoted question.
        let mark = closing.filter(|t| !t.quoted).find_map(|t| match t.kind {
            TokenKind::Symbol(c @ ('?' | ':' | '.' | '!' | '？' | '：' | '。' | '！')) => {
                Some(c)
            }
            _ => None,
        });
        out.push(Sentence {
            block: index,
            question: matches!(mark, Some('?' | '？')),
            introduces: matches!(last.kind, TokenKind::Symbol(':' | '：')),
            tokens: range,
            foreign: false,
        });
    }
}

/// Whether a sentence ends after the token at `at`.
fn ends_sentence(text: &str, tokens: &[Token], begin: usize, at: usize) -> bool {
    let (Some(token), Some(next)) = (tokens.get(at), tokens.get(at + 1)) else { return false };
    // Most tokens are words followed by a space.
    let end = token.end as usize;
    let spaced = next.start == token.end + 1 && text.as_bytes().get(end) == Some(&b' ');
    if spaced && !token.is_mark() {
        return false;
    }
    let gap = text.get(token.end as usize..next.start as usize).unwrap_or_default();
    let breaks = gap.bytes().filter(|&b| b == b'\n').count();
    let next_char = text.get(next.start as usize..).and_then(|t| t.chars().next()).unwrap_or(' ');
    if breaks > 1 {
        return true;
    }
    let closes = matches!(token.kind, TokenKind::Symbol('"' | '”' | '\'' | ')' | ']'));
    let stop = if closes && at > begin { tokens.get(at - 1) } else { Some(token) };
    match stop.map(|t| t.kind) {
        Some(TokenKind::Symbol('!' | '?' | '。' | '！' | '？')) => {
            // "titled 'Free?' asking for a day"
            let goes_on = closes && breaks == 0 && next_char.is_lowercase();
            !(goes_on
                || matches!(next.kind, TokenKind::Symbol('!' | '?' | '"' | '”' | '\'' | '’' | ')')))
        }
        Some(TokenKind::Symbol('.')) => {
            if matches!(next.kind, TokenKind::Symbol('.' | '"' | '”' | ')')) || gap.is_empty() {
                return false;
            }
            let before = if closes { at.checked_sub(2) } else { at.checked_sub(1) };
            let before = before.filter(|&i| i >= begin).and_then(|i| tokens.get(i));
            // "Rosa M. moved 60 of them": part of a name.
            let initial = |t: &Token| t.capital && t.end - t.start == 1 && next_char.is_lowercase();
            let abbreviated = before.is_some_and(|t| {
                initial(t) || t.tags.any(Tags::ABBREVIATION) && !t.tags.any(Tags::MONTH)
            });
            !abbreviated || (breaks > 0 && !next_char.is_lowercase())
        }
        // A line break ends a sentence unless the next line clearly continues it.
        _ if breaks == 1 => {
            matches!(token.kind, TokenKind::Symbol(':' | ';' | '.'))
                || !(next_char.is_lowercase()
                    || matches!(token.kind, TokenKind::Symbol(','))
                    // A sentence does not end with "the".
                    || token.tags.any(Tags::DETERMINER) && text.get(..end).is_some_and(ends_with_article))
        }
        _ => false,
    }
}

/// "the", "a", "an".
fn ends_with_article(text: &str) -> bool {
    let word = text.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    word.eq_ignore_ascii_case("the") || ["a", "an"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::super::Prose;
    use super::{Sentence, Span};

    fn check(text: &str, expected: &[&str]) {
        let prose = Prose::read(text);
        let first = |s: &Sentence| prose.tokens[s.tokens.start].start as usize;
        let last = |s: &Sentence| prose.tokens[s.tokens.end - 1].end as usize;
        let found: Vec<_> =
            prose.sentences.iter().map(|s| Span::new(first(s), last(s)).slice(text)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn splits() {
        check("It is 3.14, e.g. pi. Done!", &["It is 3.14, e.g. pi.", "Done!"]);
        check("See main.rs. It works.", &["See main.rs.", "It works."]);
        check("He said \"ok.\" Then left.", &["He said \"ok.\"", "Then left."]);
        check("First line\nSecond line", &["First line", "Second line"]);
        check("a soft\nwrapped line", &["a soft\nwrapped line"]);
        check("I used the\nWebSearch tool.", &["I used the\nWebSearch tool."]);
        check("Plan A\nPlan B", &["Plan A", "Plan B"]);
        check("Rosa M. moved it. Plan B. Done.", &["Rosa M. moved it.", "Plan B.", "Done."]);
        check("Is it? Yes.", &["Is it?", "Yes."]);
        check("Items:\nnext", &["Items:", "next"]);
        check("Visit https://a.b/c?d=e. Bye", &["Visit https://a.b/c?d=e.", "Bye"]);
        check("Order #W123 (paid). Ok", &["Order #W123 (paid).", "Ok"]);
    }
}
