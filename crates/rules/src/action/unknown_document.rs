//! Documents that are said to hold something, and that no call was about: "the README mentions it",
//! "there is a changelog entry".

use std::sync::LazyLock;

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind};

use super::judge::args;
use super::writing::shows_files;
use crate::facts::Facts;
use crate::prose::{
    Action, BlockKind, Clause, Mood, Prose, Subject, Tags, Token, Words, is_agenda,
};
use crate::values::{AnyCase, Signs};

/// What such documents are called, whatever their ending.
const DOCUMENTS: [&str; 2] = ["readme", "changelog"];

/// The claims, each with the document as its object.
pub(crate) fn unknown_documents(facts: &Facts<'_>) -> Vec<Claim> {
    static PARTS: LazyLock<Signs> =
        LazyLock::new(|| Signs::of(&["EADME", "eadme", "hangelog", "HANGELOG"]));
    let mut found = Vec::new();
    for answer in facts.answers() {
        let (prose, turn) = (&answer.prose, answer.turn);
        if !PARTS.stand_in(prose.text) {
            continue;
        }
        for clause in &prose.clauses {
            let Some(document) = held_by(prose, clause) else { continue };
            let name = AnyCase::new(document);
            let about = facts.deeds_before(turn).any(|(execution, _)| {
                [args(execution), execution.text()].iter().any(|text| name.find(text, 0).is_some())
            });
            if about || !shows_files(facts, turn) {
                continue;
            }
            let object = Object { kind: ObjectKind::Name, text: document.to_owned() };
            found.push(prose.claim(clause, ClaimKind::Action(Family::Update), vec![object], turn));
        }
    }
    found
}

/// The document that a clause says holds something.
fn held_by(prose: &Prose<'_>, clause: &Clause) -> Option<&'static str> {
    const HOLDS: &Words = words![
        "has",
        "mentions",
        "covers",
        "lists",
        "describes",
        "documents",
        "contains",
        "explains",
        "there",
    ];
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::INTEND).or(Tags::USER);
    let tokens = prose.tokens(clause.tokens.clone());
    let word = |t: &Token| {
        let stem = prose.word(t);
        let stem = stem.split('.').next().unwrap_or(stem);
        DOCUMENTS.into_iter().find(|known| known.eq_ignore_ascii_case(stem))
    };
    // `README`, `CHANGELOG.md`
    let kinds = |t: &Token| {
        (6..=13).contains(&(t.end - t.start))
            && prose.bytes(t).first().is_some_and(|b| matches!(b | 0x20, b'r' | b'c'))
    };
    let (at, document) = tokens
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.quoted && kinds(t))
        .find_map(|(at, t)| Some((at, word(t)?)))?;
    let block = prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s))?;
    if clause.mood != Mood::Asserted
        || clause.tags.any(doubt)
        || block.kind == BlockKind::Quote
        || is_agenda(prose, clause)
    {
        return None;
    }
    // "I noted it in the changelog"
    let wrote = clause.predicates.iter().any(|p| {
        let verb = prose.tokens.get(p.verb);
        let own = p.subject == Subject::Agent && !p.negated;
        own && (verb
            .is_some_and(|t| prose.is(t, words!["noted", "documented", "described", "mentioned"]))
            || p.action == Action::Of(Family::Create))
    });
    let behind = tokens.get(at + 1..)?.iter().take(3).any(|t| prose.is(t, HOLDS));
    let there = tokens.get(..at)?.iter().take(3).any(|t| prose.is(t, words!["there", "there's"]));
    let inside = at > 0 && tokens.get(..at)?.iter().any(|t| prose.is(t, words!["in", "to"]));
    (behind || there || (wrote && inside)).then_some(document)
}
