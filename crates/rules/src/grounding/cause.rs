//! Causes that an answer gives and nothing in the session speaks of.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::lexis::{is_same_thing, is_small};
use super::session::Session;
use super::stem::stem;
use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Clause, Prose, Tags, Token, TokenKind, sets};

/// Fewer new words are another way of saying it.
const FEWEST: usize = 2;

/// The words that lead a cause, between blanks.
static CAUSES: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
    let phrases = sets::CAUSES.list.iter();
    phrases.map(|phrase| Finder::new(&format!(" {phrase} ")).into_owned()).collect()
});

/// A cause that was made up.
pub(crate) struct Invented<'p> {
    pub(crate) clause: &'p Clause,
    /// Its words that nothing speaks of.
    pub(crate) words: Vec<String>,
}

pub(crate) fn invented<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Option<Invented<'p>> {
    let turn = answer.turn;
    // What a program does has its causes in its code.
    if facts.record().count_before(turn) == 0
        || facts.delegates_before(turn)
        || facts.runs_shell_before(turn)
    {
        return None;
    }
    let prose = &answer.prose;
    let mut causes = (0..prose.sentences.len()).filter_map(|at| cause(prose, at)).peekable();
    causes.peek()?;
    let before = facts.before(turn);
    let session = before.session.get_or_init(|| Session::before(facts, turn));
    let known = |stem: &String| {
        session.has_recorded(stem)
            || session.was_told(stem)
            || session.words().any(|word| is_same_thing(word, stem) || is_close(word, stem))
    };
    causes.find_map(|range| {
        let clause = prose.clause_at(range.start)?;
        let tokens = prose.tokens(range).iter().filter(|token| is_content(prose, token));
        let parts = tokens.flat_map(|token| prose.word(token).split('-'));
        let parts: Vec<&str> = parts.filter(|part| !is_small(&stem(part))).collect();
        let new = parts.iter().filter(|part| !known(&stem(part)));
        let words: Vec<String> = new.map(|part| (*part).to_owned()).collect();
        (words.len() >= FEWEST && words.len() * 2 > parts.len())
            .then_some(Invented { clause, words })
    })
}

/// The tokens of the cause that a sentence gives for something that came about by itself.
fn cause(prose: &Prose<'_>, at: usize) -> Option<Range<usize>> {
    let sentence = prose.sentences.get(at)?;
    let quoted = prose.block_of(sentence).is_some_and(|block| block.kind == BlockKind::Quote);
    if sentence.question || quoted {
        return None;
    }
    let tokens = prose.tokens(sentence.tokens.clone());
    let open = Tags::MODAL.or(Tags::HEDGE).or(Tags::CONDITIONAL).or(Tags::NEGATION);
    let (first, last) = (tokens.first()?, tokens.last()?);
    let start = first.start as usize;
    let text = prose.text.get(start..last.end as usize)?.to_lowercase();
    let found = |phrase: &Finder<'_>| Some(phrase.find(text.as_bytes())? + phrase.needle().len());
    // Before the blank behind it.
    let behind = start + CAUSES.iter().find_map(found)? - 1;
    let from = tokens.iter().position(|token| token.start as usize >= behind)?;
    let (before, cause) = tokens.split_at(from);
    // What the speaker or the user did has the cause that they say.
    let own = |token: &Token| token.tags.any(Tags::AGENT.or(Tags::USER));
    let ends = |token: &Token| matches!(token.kind, TokenKind::Symbol(';' | '(' | ',' | '—' | '–'));
    let cause = cause.split(ends).next()?;
    let guessed = |token: &Token| token.tags.any(open) || prose.is(token, &sets::GUESSING);
    // Why something was not done is told by what refused it, in whatever words.
    let refused = |token: &Token| {
        token.tags.any(Tags::NEGATION.or(Tags::MODAL)) || prose.is(token, &sets::NOT_COME_ABOUT)
    };
    let vague = |token: &Token| token.has(Tags::THIRD) || prose.is(token, &sets::SOMEBODY);
    let guesses = |token: &Token| prose.is(token, &sets::GUESSING);
    if before.iter().any(|token| refused(token) || guesses(token)) || cause.iter().any(vague) {
        return None;
    }
    if before.iter().any(own)
        || cause.iter().any(|token| guessed(token) || own(token) || token.quoted)
    {
        return None;
    }
    let start = sentence.tokens.start + from;
    Some(start..start + cause.len())
}

fn is_content(prose: &Prose<'_>, token: &Token) -> bool {
    let small = Tags::PREPOSITION
        .or(Tags::DETERMINER)
        .or(Tags::BE)
        .or(Tags::HAVE)
        .or(Tags::DO)
        .or(Tags::ADVERB)
        .or(Tags::NOW)
        .or(Tags::COORDINATE)
        .or(Tags::THING)
        .or(Tags::USER_OWN)
        .or(Tags::AGENT_OWN);
    token.kind == TokenKind::Word && !token.tags.any(small) && prose.word(token).len() > 2
}

/// "saturated" and "saturation": one begins the other.
fn is_close(one: &str, other: &str) -> bool {
    const SAME: usize = 5;
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    same >= SAME && one.len().abs_diff(other.len()) <= 4
}
