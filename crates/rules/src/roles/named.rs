use crate::prose::{Clause, Prose, Tags, Token, TokenKind, sets};
use crate::values::holds;

/// A name that is shorter is one by chance.
const SHORTEST: usize = 3;
/// And a word before a number.
const SHORTEST_HEAD: usize = 3;

/// The place of an environment in the lexicon, by one of the ways in which it is written.
pub(super) fn environment(word: &str) -> Option<usize> {
    let is = |ways: &&str| ways.split(' ').any(|way| way.eq_ignore_ascii_case(word));
    sets::ENVIRONMENTS.list.iter().position(is)
}

/// The ways in which an environment is written.
pub(super) fn ways(environment: usize) -> impl Iterator<Item = &'static str> {
    sets::ENVIRONMENTS.list.get(environment).into_iter().flat_map(|ways| ways.split(' '))
}

/// A thing that a clause names.
#[derive(Debug)]
pub(super) struct Named {
    /// As written.
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// How it is named.
#[derive(Debug)]
pub(super) enum Kind {
    /// "Dock 3", "Room 12B".
    Numbered { head: String, tail: String },
    /// "staging": its place among the environments.
    Environment(usize),
    /// "Ana Silva", "Harbour House".
    Name,
}

impl Named {
    /// Whether a text speaks of it: of one of the words of a name, of the number behind its word.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Numbered { head, tail } => {
                is_word_in(text, tail) && (holds(text, head) || is_whole_value(text, tail))
            }
            Kind::Environment(own) => ways(*own).any(|way| holds(text, way)),
            Kind::Name => self.words().any(|word| holds(text, word)),
        }
    }

    /// The words of a name that tell it from others.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.text.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| word.len() >= SHORTEST)
    }
}

/// Whether a text mentions a value, whole or by one of its words that name something.
pub(super) fn mentions(text: &str, value: &str) -> bool {
    let words = value.split(|c: char| !c.is_alphanumeric());
    let mut words = words.filter(|word| word.len() >= SHORTEST).peekable();
    match words.peek() {
        None => is_word_in(text, value),
        Some(_) => words.any(|word| holds(text, word)),
    }
}

/// Whether a word stands in a text by itself, in any case.
pub(crate) fn is_word_in(text: &str, word: &str) -> bool {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.into_iter().any(|part| part.eq_ignore_ascii_case(word))
}

/// Whether a value of a JSON text is this and nothing else.
fn is_whole_value(text: &str, value: &str) -> bool {
    text.contains(&format!("\"{value}\""))
        || text.contains(&format!(": {value}"))
        || text.contains(&format!(":{value}"))
}

/// The things that a clause names.
pub(super) fn named_in(prose: &Prose<'_>, clause: &Clause) -> Vec<Named> {
    let tokens = prose.tokens(clause.tokens.clone());
    // What it was, what it is not, whose it would have been: none of that is what was acted on.
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if prose.is(token, &sets::NOT_THE_TARGET) {
            break;
        }
        let (named, count) = read(prose, tokens, at);
        found.extend(named);
        at += count.max(1);
    }
    found
}

/// The thing whose name begins here, and how many tokens it has.
fn read(prose: &Prose<'_>, tokens: &[Token], at: usize) -> (Option<Named>, usize) {
    let Some(token) = tokens.get(at).filter(|token| !token.quoted) else { return (None, 1) };
    let word = prose.word(token);
    if let Some(own) = environment(word) {
        let named = Named { text: word.to_owned(), kind: Kind::Environment(own) };
        return (Some(named), 1);
    }
    if let Some(tail) = tokens.get(at + 1).filter(|next| is_number(prose, next)) {
        let plain = token.kind == TokenKind::Word && word.len() >= SHORTEST_HEAD;
        // "I order 7" is an act, "I cancelled order 7" and "the order 7" are of a thing.
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let is_thing = |before: &Token| before.verb.is_some() || before.has(Tags::DETERMINER);
        let noun = token.capital || token.verb.is_none() || before.is_some_and(is_thing);
        let head = plain && noun && !token.has(Tags::PREPOSITION);
        if head {
            let tail = prose.word(tail).trim_start_matches('#').to_owned();
            let text = format!("{word} {tail}");
            let kind = Kind::Numbered { head: word.to_ascii_lowercase(), tail };
            return (Some(Named { text, kind }), 2);
        }
    }
    let names = tokens.iter().skip(at).take_while(|token| is_name(prose, token)).count();
    if names == 0 {
        return (None, 1);
    }
    // "Flat 4 Harbour House": the number behind a name is its own thing.
    let words: Vec<&str> =
        tokens.iter().skip(at).take(names).map(|token| prose.word(token)).collect();
    // The first word of a clause has a capital whatever it is.
    let text = words.join(" ");
    let begins = at == 0 && names == 1;
    let long = text.len() >= SHORTEST && !begins;
    (long.then_some(Named { text, kind: Kind::Name }), names)
}

/// A number with at most a letter: "3", "12B", "#4".
fn is_number(prose: &Prose<'_>, token: &Token) -> bool {
    let word = prose.word(token).trim_start_matches('#');
    let kind = matches!(token.kind, TokenKind::Number | TokenKind::Word | TokenKind::Id);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    kind && (1..=5).contains(&word.len())
        && digits > 0
        && word.len() - digits <= 1
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_name(prose: &Prose<'_>, token: &Token) -> bool {
    let word = prose.word(token);
    let title = ["Dr", "Mr", "Ms", "Mrs", "Prof", "Miss", "Done", "Update", "Note"].contains(&word);
    let common = token.verb.is_some() || token.has(Tags::AGENT) || token.has(Tags::USER);
    let small = word.chars().skip(1).any(char::is_lowercase);
    token.kind == TokenKind::Word && token.capital && small && !title && !common && !token.digits
}
