//! Versions that stand nowhere, where the record has another one beside the same name: "Jackson
//! 2.13.5", with `jacksonVersion = "2.14.2"`.

use super::judge::Wrong;
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, Words, is_agenda};
use crate::values::AnyCase;

/// So many bytes before an answer are searched for a name.
const REACH: usize = 64 * 1024;
/// A version stands at most so many bytes behind the name that it belongs to.
const BEHIND: usize = 60;
/// And in an answer so many words.
const BEFORE: usize = 8;
/// So many versions of one answer are looked up.
const MOST: usize = 16;

/// Words beside versions that are not said to be in use.
const OPEN: &Words = words![
    "latest", "newest", "since", "until", "before", "older", "newer", "later", "requires",
    "require", "supports", "minimum", "least", "released", "release", "above",
];

/// The versions of an answer that nothing has, each with the one that stands beside its name.
pub(crate) fn versions<'t>(facts: &Facts<'t>, answer: &Answer<'t>) -> Vec<Wrong<'t>> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let mut found = Vec::new();
    let versions = prose.tokens.iter().enumerate().filter_map(|(at, token)| {
        let numbered = !token.quoted && token.digits;
        Some((at, token, numbered.then(|| version_in(prose.word(token))).flatten()?))
    });
    for (at, token, version) in versions.take(MOST) {
        if !prose.clause_at(at).is_some_and(|clause| is_told(prose, clause)) {
            continue;
        }
        let known = facts.given().is_whole_before(turn) && facts.is_complete_before(turn);
        if !known || facts.source_of(version, turn, true).is_some() {
            continue;
        }
        let held = names_before(prose, at).find_map(|name| {
            let other = version_beside(facts, turn, name)?;
            Some(format!("{name} {other}"))
        });
        if let Some(held) = held {
            let span = token.span();
            found.push(Wrong { text: span.of(prose.text), span, held });
        }
    }
    found
}

fn is_told(prose: &Prose<'_>, clause: &Clause) -> bool {
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::NEGATION).or(Tags::INTEND);
    let sentence = prose.sentences.get(clause.sentence).map(|s| s.tokens.clone());
    let sentence = prose.tokens(sentence.unwrap_or_default());
    matches!(clause.mood, Mood::Asserted | Mood::Observed)
        && !clause.tags.any(doubt)
        && !sentence.iter().any(|t| prose.is(t, OPEN))
        && !is_agenda(prose, clause)
}

/// "v2.13.5": three numbers.
fn version_in(word: &str) -> Option<&str> {
    let bare = word.strip_prefix(['v', 'V']).unwrap_or(word);
    if !bare.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number =
        |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    (bare.split('.').count() == 3 && bare.split('.').all(number)).then_some(bare)
}

/// The words before a token that may be the name of what has a version, the nearest first.
fn names_before<'t>(prose: &Prose<'t>, at: usize) -> impl Iterator<Item = &'t str> {
    let before = prose.before_in_sentence(at);
    let name = |t: &&Token| {
        let word = prose.word(t);
        let known = !t.tags.is_empty() || t.noun.is_some() || t.verb.is_some();
        let plain = t.kind == TokenKind::Word && !known;
        let spelled = matches!(t.kind, TokenKind::Identifier | TokenKind::Code);
        (plain || spelled)
            && word.len() >= 3
            && !word.eq_ignore_ascii_case("version")
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    let names = before.iter().rev().take(BEFORE).filter(name).map(|t| prose.word(t));
    names.collect::<Vec<_>>().into_iter().take(2)
}

/// A version behind the name in what the agent was given.
fn version_beside<'t>(facts: &Facts<'t>, turn: usize, name: &str) -> Option<&'t str> {
    let search = AnyCase::new(name);
    facts.given().near(turn, REACH).find_map(|given| {
        let mut from = 0;
        while let Some(at) = search.find(given.text, from) {
            from = at + name.len();
            let rest = given.text.get(from..given.text.floor_char_boundary(from + BEHIND))?;
            let line = rest.split('\n').next()?.split("\\n").next()?;
            let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
            if let Some(version) = words.find_map(|w| version_in(w.trim_matches('.'))) {
                return Some(version);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers() {
        for (word, expected) in [
            ("2.13.5", Some("2.13.5")),
            ("v1.0.0", Some("1.0.0")),
            ("2.13", None),
            ("10.0.0.1", None),
            ("1.2.x", None),
            ("2024.10.05", Some("2024.10.05")),
        ] {
            assert_eq!(version_in(word), expected, "{word}");
        }
    }
}
