//! The object of an action, as its clause names it.

use std::ops::Range;

use counterfoil_model::{Object, ObjectKind};

use super::no_act::speaks_of_thing;
use super::objects::{objects_in, patients_in};
use super::reported_act::ReportedAct;
use crate::prose::{Prose, Tags, Token, TokenKind, Voice};

/// The object of an action.
pub(super) struct Named {
    /// The objects that were acted on, as far as they can be told apart from the others in the
    /// clause.
    pub(super) patients: Vec<Object>,
    /// The nouns for them: `bag`, `reservation`.
    pub(super) things: Vec<String>,
    /// All objects that the clause names.
    pub(super) objects: Vec<Object>,
    /// The objects that it enumerates.
    pub(super) listed: Vec<Object>,
}

/// The reason for a clause without an object of its own: the list after it names what was done.
pub(super) const INTRODUCES: &str = "introduces what follows";

impl Named {
    pub(super) fn from_act(act: &ReportedAct<'_, '_>) -> Result<Self, &'static str> {
        let ReportedAct { prose, clause, predicate, .. } = *act;
        let object = object_range(act);
        let range = match predicate.voice {
            Voice::Active | Voice::Bare => direct_object(prose, &object),
            _ => predicate.subject_tokens.clone(),
        };
        let patients = patients(act, range.clone());
        let files = patients.iter().any(|o| o.kind == ObjectKind::Path);
        if act.sentence.introduces && !files && !speaks_of_thing(prose, predicate) {
            return Err(INTRODUCES);
        }
        let things = things_in(prose, range.clone());
        let mut objects = objects_in(prose, clause.tokens.start..object.end);
        objects.dedup();
        let listed = enumerated_in(act, range);
        Ok(Self { patients, things, objects, listed })
    }
}

/// The tokens of the object. "`a.rs`: adapted, new test `x`": nothing after the comma.
fn object_range(act: &ReportedAct<'_, '_>) -> Range<usize> {
    let tokens = act.predicate.object_tokens.clone();
    let apart = act.prose.tokens(tokens.clone()).first().is_some_and(|t| t.is(','));
    let end = if act.predicate.voice == Voice::Bare && apart { tokens.start } else { tokens.end };
    tokens.start..end
}

fn patients(act: &ReportedAct<'_, '_>, range: Range<usize>) -> Vec<Object> {
    let ReportedAct { prose, predicate, .. } = *act;
    let is_file = |object: &Object| object.kind == ObjectKind::Path;
    let mut patients = patients_in(prose, range);
    if predicate.voice == Voice::Bare && !predicate.subject_tokens.is_empty() {
        // "`src/a.rs` - Added a check": the label names the file.
        let mut label = objects_in(prose, predicate.subject_tokens.clone());
        label.retain(is_file);
        if !label.is_empty() {
            patients = label;
        }
    }
    patients
}

/// The objects that the clause itself enumerates.
fn enumerated_in(act: &ReportedAct<'_, '_>, range: Range<usize>) -> Vec<Object> {
    let typed =
        |o: &Object| matches!(o.kind, ObjectKind::Id | ObjectKind::Path | ObjectKind::Email);
    let named = objects_in(act.prose, range.clone()).iter().any(typed);
    let range = if named { range } else { act.predicate.object_tokens.clone() };
    enumerated(act.prose, range)
}

/// The longest enumeration of ids, files and addresses: "a.py, b.py and c.py".
fn enumerated(prose: &Prose<'_>, range: Range<usize>) -> Vec<Object> {
    let (mut longest, mut run): (Vec<Object>, Vec<Object>) = (Vec::new(), Vec::new());
    for at in range {
        let Some(token) = prose.tokens.get(at) else { break };
        match thing_at(prose, at) {
            Some(object) => run.push(object),
            None if joins(token) => {}
            None => {
                if run.len() > longest.len() {
                    longest = std::mem::take(&mut run);
                }
                run.clear();
            }
        }
    }
    if run.len() > longest.len() { run } else { longest }
}

/// The id, file or address that a token is. Versions do not count.
fn thing_at(prose: &Prose<'_>, at: usize) -> Option<Object> {
    let version = |text: &str| {
        let numbers = text.trim_start_matches(['v', 'V']);
        numbers.contains('.') && numbers.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    objects_in(prose, at..at + 1)
        .into_iter()
        .next()
        .filter(|o| matches!(o.kind, ObjectKind::Id | ObjectKind::Path | ObjectKind::Email))
        .filter(|o| !version(&o.text))
}

/// Whether a token may connect two items of an enumeration.
fn joins(token: &Token) -> bool {
    token.is_mark()
        || token.has(tags![COORDINATE, DETERMINER])
        || (token.kind == TokenKind::Word && token.tags.is_empty() && token.verb.is_none())
}

/// The nouns of a phrase, without relative clauses and prepositional phrases.
fn things_in(prose: &Prose<'_>, range: Range<usize>) -> Vec<String> {
    // "a migration that fills the rows"
    let describes = |at: usize, t: &Token| at > 0 && t.has(Tags::RELATIVE);
    let phrase = prose.tokens(range).iter().enumerate();
    let phrase = phrase.take_while(|(at, t)| !t.has(Tags::PREPOSITION) && !describes(*at, t));
    let nouns = phrase.map(|(_, t)| t).filter(|t| {
        let noun = t.tags.is_empty() || t.noun.is_some() || t.has(Tags::TEXT_NOUN);
        let noun = noun || prose.is(t, words!["docs", "documentation"]);
        t.kind == TokenKind::Word && !t.quoted && noun
    });
    nouns
        .map(|t| prose.word(t).to_ascii_lowercase().trim_end_matches('s').to_owned())
        .filter(|word| word.len() >= 3)
        .collect()
}

/// The tokens after an active verb, up to a preposition that introduces something else.
fn direct_object(prose: &Prose<'_>, range: &Range<usize>) -> Range<usize> {
    let stop = prose
        .tokens(range.clone())
        .iter()
        .position(|t| {
            matches!(
                prose.word(t),
                "to" | "into" | "from" | "with" | "using" | "via" | "by" | "so" | "because"
            )
        })
        .map_or(range.end, |n| range.start + n);
    // "to" may introduce the object: "sent an e-mail to a@b.c", "added a line to x.rs".
    if objects_in(prose, range.start..stop).is_empty() { range.clone() } else { range.start..stop }
}
