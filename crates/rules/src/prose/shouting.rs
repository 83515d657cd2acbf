//! "I USED THE TOOL": in text that is all in capitals, a capital letter means nothing.

use std::ops::Range;

use super::lexicon::Tags;
use super::token::{Token, TokenKind};

/// The minimum number of words in a run. "GET and POST", "ORDER CANCELLED" are names.
const FEWEST: usize = 3;

/// Clears the capital flag of lexicon words in a run of capitals. A word that is not in the lexicon
/// keeps it, because it may be a name.
pub(super) fn lower_shouted(text: &str, tokens: &mut [Token], sentence: &Range<usize>) {
    let mut at = sentence.start;
    while let Some(run) = next_run(text, tokens, at..sentence.end) {
        at = run.end;
        let of_run = tokens.get_mut(run).unwrap_or_default();
        let first = of_run.first().is_some_and(|t| t.has(Tags::AGENT));
        if !is_shouted(of_run, first || at == sentence.start + of_run.len()) {
            continue;
        }
        for token in of_run {
            let known = !token.tags.is_empty() || token.verb.is_some() || token.noun.is_some();
            token.capital &= !known;
        }
    }
}

/// Whether a run is a sentence of its own or begins one: it starts at the start of a sentence or
/// with a subject, and contains a function word.
fn is_shouted(run: &[Token], leads: bool) -> bool {
    let joins = tags![DETERMINER, PREPOSITION, BE, HAVE, AGENT_OWN, USER_OWN, THING];
    let words = run.iter().filter(|t| t.kind == TokenKind::Word).count();
    let long = |t: &Token| t.end - t.start > 1;
    leads && words >= FEWEST && run.iter().any(|t| long(t) && t.has(joins))
}

/// The next run of words without lower-case letters. Numbers and code names do not end it.
fn next_run(text: &str, tokens: &[Token], within: Range<usize>) -> Option<Range<usize>> {
    let word = |t: &Token| text.get(t.start as usize..t.end as usize).unwrap_or_default();
    let small = |t: &Token| word(t).contains(char::is_lowercase);
    let loud = |t: &Token| t.kind == TokenKind::Word && t.capital && !t.quoted && !small(t);
    let on = |t: &Token| match t.kind {
        TokenKind::Word => !t.quoted && !small(t),
        TokenKind::Symbol(_) => false,
        _ => true,
    };
    let stretch = tokens.get(within.clone())?;
    let skip = stretch.iter().position(loud)?;
    let len = stretch.iter().skip(skip).take_while(|t| on(t)).count();
    Some(within.start + skip..within.start + skip + len)
}
