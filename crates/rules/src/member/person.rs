//! People who are given a name that the record does not have: "Ruben Calderon", where it has a
//! "Ruben Castillo".

use super::judge::Wrong;
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind};
use crate::values::{AnyCase, Source};

/// So many bytes before an answer are searched for people.
const REACH: usize = 64 * 1024;
/// So many names of one answer are looked up.
const MOST: usize = 24;
/// Words that stand before the name of a person.
const TITLES: [&str; 6] = ["Dr", "Mr", "Mrs", "Ms", "Prof", "Nurse"];

/// The names of an answer that nothing has, each with the one that shares a part of it.
pub(crate) fn people<'t>(facts: &Facts<'t>, answer: &Answer<'t>) -> Vec<Wrong<'t>> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let mut found = Vec::new();
    let mut looked = 0;
    for clause in prose.clauses.iter().filter(|clause| is_told(clause)) {
        for at in clause.tokens.clone() {
            let Some((title, names)) = name_at(prose, at) else { continue };
            looked += 1;
            if looked > MOST || !facts.shows_all_before(turn) {
                return found;
            }
            let (Some(first), Some(last)) = (names.first(), names.last()) else { continue };
            let word = |t: &Token| prose.word(t);
            let known = |name: &str| facts.source_of(name, turn, true).is_some();
            let held = match title {
                Some(title) if !known(word(last)) => titled(facts, turn, title),
                Some(_) => None,
                None if !known(word(last)) => named(facts, turn, word(first), word(last), true),
                None if !known(word(first)) && !begins(prose, at) => {
                    named(facts, turn, word(last), word(first), false)
                }
                _ => None,
            };
            if let Some(held) = held {
                let mut span = prose.tokens.get(at).unwrap_or(first).span();
                span.end = last.span().end;
                found.push(Wrong { text: span.of(prose.text), span, held });
            }
        }
    }
    found
}

fn is_told(clause: &Clause) -> bool {
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::NEGATION);
    matches!(clause.mood, Mood::Asserted | Mood::Observed) && !clause.tags.any(doubt)
}

/// The name that begins at a token: two words of it, or one behind a title.
fn name_at<'p>(prose: &'p Prose<'_>, at: usize) -> Option<(Option<&'p str>, Vec<&'p Token>)> {
    let token = |at: usize| prose.tokens.get(at);
    let beside = |a: &Token, b: &Token| {
        prose.text.get(a.end as usize..b.start as usize).is_some_and(|gap| gap == " ")
    };
    let head = token(at)?;
    if TITLES.contains(&prose.word(head)) {
        let next = at + 1 + usize::from(token(at + 1)?.is('.'));
        let name = token(next).filter(|t| prose.is_name(t))?;
        return Some((Some(prose.word(head)), vec![name]));
    }
    let behind_title = (1..=2).any(|back| {
        at.checked_sub(back).and_then(token).is_some_and(|t| TITLES.contains(&prose.word(t)))
    });
    let last = token(at + 1).filter(|t| prose.is_name(t) && beside(head, t))?;
    // Of three words with capitals no two are the name.
    let longer = token(at + 2).is_some_and(|t| t.capital && beside(last, t))
        || at.checked_sub(1).and_then(token).is_some_and(|t| t.capital && beside(t, head));
    // "your Desk Lamp", "2 Desk Lamps": a thing.
    let counted = at.checked_sub(1).and_then(token).is_some_and(|t| {
        t.has(Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN))
            || t.kind == TokenKind::Number
    });
    (prose.is_name(head) && !counted && !behind_title && !longer).then(|| (None, vec![head, last]))
}

/// Whether a token is the first word of a sentence.
fn begins(prose: &Prose<'_>, at: usize) -> bool {
    prose.before_in_sentence(at).iter().all(|t| matches!(t.kind, TokenKind::Symbol(_)))
}

/// A value of the results that is a name of two words, of which this is the first or the last, and
/// the other not what is said.
fn named(facts: &Facts<'_>, turn: usize, part: &str, said: &str, first: bool) -> Option<String> {
    let search = AnyCase::new(part);
    let results = facts.given().near(turn, REACH);
    results.filter(|given| matches!(given.source, Source::Result(_))).find_map(|given| {
        let mut from = 0;
        while let Some(at) = search.find(given.text, from) {
            from = at + part.len();
            let (before, behind) = (given.text.get(..at)?, given.text.get(from..)?);
            let held = match first {
                true => behind
                    .strip_prefix(' ')
                    .and_then(|rest| rest.split('"').next())
                    .and_then(|rest| before.ends_with('"').then(|| format!("{part} {rest}"))),
                false => before
                    .strip_suffix(' ')
                    .and_then(|rest| rest.rsplit('"').next())
                    .and_then(|rest| behind.starts_with('"').then(|| format!("{rest} {part}"))),
            };
            // "Speakers" for "Speaker" is no other name.
            let plural =
                |held: &String| said.strip_suffix('s').is_some_and(|one| held.contains(one));
            if let Some(held) = held.filter(|held| is_full_name(held) && !plural(held)) {
                return Some(held);
            }
        }
        None
    })
}

/// A name behind the same title in the results.
fn titled(facts: &Facts<'_>, turn: usize, title: &str) -> Option<String> {
    let results = facts.given().near(turn, REACH);
    results.filter(|given| matches!(given.source, Source::Result(_))).find_map(|given| {
        given.text.match_indices(title).find_map(|(at, _)| {
            let rest = given.text.get(at + title.len()..)?;
            let rest = rest.strip_prefix('.').unwrap_or(rest).strip_prefix(' ')?;
            let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
            let name = rest.get(..end)?;
            let proper = name.len() >= 3 && name.starts_with(char::is_uppercase);
            proper.then(|| format!("{title} {name}"))
        })
    })
}

/// Two words with capitals, and nothing else.
fn is_full_name(text: &str) -> bool {
    let mut words = text.split(' ');
    let proper = |word: &str| {
        word.len() >= 3
            && word.starts_with(char::is_uppercase)
            && word.chars().skip(1).all(char::is_lowercase)
    };
    words.next().is_some_and(proper) && words.next().is_some_and(proper) && words.next().is_none()
}
