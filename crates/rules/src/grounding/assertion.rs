//! What an answer says, clause by clause, and whether it is asserted.

use std::ops::Deref;

use crate::prose::{
    BlockKind, Clause, Mood, Prose, Sentence, Tags, Token, TokenKind, is_agenda, sets,
};

use super::stem::stem;
use crate::facts::Answer;

/// A clause with how it reads.
#[derive(Debug)]
pub(super) struct Assertion<'p> {
    pub(super) clause: &'p Clause,
    reading: &'p Reading,
}

/// How a clause reads.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The stems of its words, with their tokens.
    pub(super) stems: Vec<(String, usize)>,
    /// It says that something is not so.
    pub(super) denies: bool,
    /// The speaker is in it.
    pub(super) by_agent: bool,
    /// It is said to be so: neither asked nor wished, planned, guessed, quoted, nor of the user.
    pub(super) asserted: bool,
}

impl Deref for Assertion<'_> {
    type Target = Reading;

    fn deref(&self) -> &Reading {
        self.reading
    }
}

impl Assertion<'_> {
    /// The word of a stem, as the clause has it.
    pub(super) fn word_of<'t>(&self, stem: &str, prose: &Prose<'t>) -> &'t str {
        let token = self.stems.iter().find(|(own, _)| own == stem).map(|(_, token)| *token);
        token.and_then(|token| prose.tokens.get(token)).map_or("", |token| prose.word(token))
    }
}

/// The clauses of an answer, with what they say and whether it is asserted.
pub(super) fn clauses<'p>(answer: &'p Answer<'_>) -> Vec<Assertion<'p>> {
    let prose = &answer.prose;
    let read = || prose.clauses.iter().map(|clause| Reading::of(prose, clause)).collect();
    let readings = answer.readings.get_or_init(read);
    let both = prose.clauses.iter().zip(readings);
    both.map(|(clause, reading)| Assertion { clause, reading }).collect()
}

/// The stems of a clause's words, with their tokens.
fn stems(prose: &Prose<'_>, clause: &Clause) -> Vec<(String, usize)> {
    let mut stems = Vec::new();
    for at in clause.tokens.clone() {
        let Some(token) = prose.tokens.get(at) else { break };
        if matches!(token.kind, TokenKind::Symbol(_) | TokenKind::Number | TokenKind::Money) {
            continue;
        }
        let word = prose.word(token);
        let parts = word.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'));
        stems.extend(parts.filter(|part| part.len() > 1).map(|part| (stem(part), at)));
    }
    stems
}

impl Reading {
    fn of(prose: &Prose<'_>, clause: &Clause) -> Self {
        let denies =
            |token: &Token| is_denial(prose, token) || prose.is(token, &sets::NOT_COME_ABOUT);
        Self {
            stems: stems(prose, clause),
            denies: prose.tokens(clause.tokens.clone()).iter().any(denies),
            by_agent: clause.tags.any(Tags::AGENT),
            asserted: is_asserted(prose, clause),
        }
    }
}

/// Whether a token says that something is not so, or not yet: "not", "still", ❌.
pub(super) fn is_denial(prose: &Prose<'_>, token: &Token) -> bool {
    token.has(Tags::NEGATION)
        || prose.is(token, &sets::NOT_YET)
        || matches!(token.kind, TokenKind::Symbol('❌' | '✘' | '✗' | '⏳'))
}

/// Whether a clause says that something is so, or was: neither asked nor wished, planned, guessed or
/// quoted, nor of the user.
pub(super) fn is_asserted(prose: &Prose<'_>, clause: &Clause) -> bool {
    unasserted(prose, clause).is_none()
}

/// A clause in its sentence, with its words.
pub(crate) struct Said<'p, 't> {
    prose: &'p Prose<'t>,
    clause: &'p Clause,
    sentence: &'p Sentence,
    tokens: &'p [Token],
}

/// Why the agent does not say that what a clause tells is so: the first that holds speaks.
pub(crate) const UNASSERTED: [(&str, fn(&Said<'_, '_>) -> bool); 13] = [
    ("in another language than English", |said| said.sentence.foreign),
    ("a question", |said| said.sentence.question || said.clause.mood == Mood::Question),
    ("under a condition", |said| said.clause.mood == Mood::Conditional),
    ("said by somebody else", |said| said.clause.mood == Mood::Attributed),
    ("noticed in what was read", |said| said.clause.mood == Mood::Observed),
    ("says which thing is meant", |said| said.clause.mood == Mood::Relative),
    ("wished, required or guessed", |said| said.clause.mood != Mood::Asserted),
    ("quoted", |said| {
        let block = said.prose.block_of(said.sentence);
        block.is_some_and(|block| block.kind == BlockKind::Quote)
    }),
    ("planned, possible or hedged", |said| {
        said.clause.tags.any(Tags::MODAL.or(Tags::HEDGE).or(Tags::CONDITIONAL))
    }),
    ("of what the user did", |said| is_of_user(said.tokens)),
    ("offered, or asked for", |said| is_offered(said.prose, said.tokens)),
    ("what happens in general", |said| in_general(said.prose, said.sentence)),
    ("to be done, or under way", |said| {
        is_agenda(said.prose, said.clause) || is_under_way(said.prose, said.tokens)
    }),
];

/// Why the agent does not say that what a clause tells is so; `None` where it does.
pub(crate) fn unasserted(prose: &Prose<'_>, clause: &Clause) -> Option<&'static str> {
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return Some("no sentence") };
    let said = Said { prose, clause, sentence, tokens: prose.tokens(clause.tokens.clone()) };
    UNASSERTED.iter().find(|(_, holds)| holds(&said)).map(|(reason, _)| *reason)
}

/// "You told me": of what the user did.
fn is_of_user(tokens: &[Token]) -> bool {
    let subject = tokens.iter().find(|t| t.tags.any(Tags::AGENT.or(Tags::USER).or(Tags::BE)));
    subject.is_some_and(|t| t.has(Tags::USER))
}

/// "Refunds are issued within a week": what happens in general.
fn in_general(prose: &Prose<'_>, sentence: &Sentence) -> bool {
    let tokens = prose.tokens(sentence.tokens.clone());
    tokens.iter().any(|token| prose.is(token, &sets::IN_GENERAL))
}

/// "I'm cancelling it now", "let me cancel it": not done yet.
fn is_under_way(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let at = |tag: Tags| tokens.iter().position(|token| token.has(tag));
    let gerund = |token: &Token| token.has(Tags::GERUND) || prose.word(token).ends_with("ing");
    let doing = at(Tags::AGENT).is_some_and(|agent| {
        let behind = tokens.get(agent + 1..).unwrap_or_default();
        let mut words = behind.iter().filter(|t| !t.tags.any(Tags::ADVERB.or(Tags::NOW)));
        let is =
            |t: &Token| t.has(Tags::BE) || matches!(prose.word(t), "'m" | "’m" | "'re" | "’re");
        words.next().is_some_and(is) && words.next().is_some_and(gerund)
    });
    let begins = tokens.iter().take(3).any(|token| prose.is(token, &sets::LETTING));
    let glad = at(Tags::AGENT).is_some() && tokens.iter().any(|t| prose.is(t, &sets::WILLING));
    doing || begins || glad
}

/// "Let me know", "Please check", "cancel it": something to do.
fn is_offered(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let mut words = tokens.iter().filter(|t| t.kind == TokenKind::Word);
    let first = words.find(|t| !t.tags.any(Tags::COORDINATE.or(Tags::ADVERB)));
    // "Rename complete": the act, and no order to do it.
    let ended = |t: &Token| prose.is(t, &sets::FINISHED) || prose.word(t).ends_with("ed");
    first.is_some_and(|t| {
        let asks = t.tags.any(Tags::REQUEST.or(Tags::INTEND));
        let orders = t.has(Tags::BASE) && !tokens.iter().any(ended);
        (asks || orders) && !t.tags.any(Tags::COMPLETED)
    })
}
