//! The state of a thing that is named by its id, held against what the latest result says of it:
//! "`TR-2051` has been completed", where that is in transit.

use std::collections::HashMap;

use counterfoil_model::Family;

use super::judge::Wrong;
use super::state::{Seconds, Stage, first_letter, seconds};
use crate::action::{ActionClaim, ActionVerdict};
use crate::facts::{Answer, Facts, Families};
use crate::prose::{BlockKind, Clause, Mood, Prose, Tags, Token, TokenKind};
use crate::values::{Leaf, Leaves, holds};

/// So many bytes of results before an answer are searched for the thing.
const REACH: usize = 64 * 1024;
/// So many of the latest calls are looked at.
const LOOK_BACK: usize = 64;
/// The members that give a state.
const STATES: [&str; 3] = ["status", "state", "stage"];
/// So many ids of one answer are looked up.
const MOST: usize = 24;

/// Words for a stage that say so only of a thing named by its id.
const MORE: [(&str, Stage); 22] = [
    ("approved", Stage::Done),
    ("accepted", Stage::Done),
    ("granted", Stage::Done),
    ("closed", Stage::Done),
    ("resolved", Stage::Done),
    ("finished", Stage::Done),
    ("refunded", Stage::Done),
    ("arrived", Stage::Arrived),
    ("refused", Stage::Failed),
    ("denied", Stage::Failed),
    ("under review", Stage::Waiting),
    ("in review", Stage::Waiting),
    ("in progress", Stage::Waiting),
    ("open", Stage::Waiting),
    ("submitted", Stage::Waiting),
    ("requested", Stage::Waiting),
    ("received", Stage::Waiting),
    ("awaiting", Stage::Waiting),
    ("on hold", Stage::Waiting),
    ("draft", Stage::Waiting),
    ("scheduled", Stage::Waiting),
    ("processing", Stage::Waiting),
];

/// The states that an answer says of things by their ids, and that the latest results about those
/// exclude.
pub(super) fn states_of_ids<'t>(facts: &Facts<'t>, answer: &Answer<'t>) -> Vec<Wrong<'t>> {
    let prose = &answer.prose;
    let said = prose.clauses.iter().filter_map(|clause| said(prose, clause));
    let mut known: HashMap<&str, Option<String>> = HashMap::new();
    let judged = said.take(MOST).filter_map(|(thing, stage, word)| {
        let noun = prose.word(thing);
        let id = match thing.kind {
            TokenKind::Id => noun.trim_start_matches('#').to_owned(),
            _ => {
                let find = || only_id(facts, answer.turn, noun);
                known.entry(noun).or_insert_with(find).clone()?
            }
        };
        let (status, held) = held(facts, answer.turn, &id)?;
        let span = word.span();
        // An act of which this is told is judged as such.
        let judged = |(said, verdict): (&ActionClaim, ActionVerdict)| {
            let open = matches!(verdict, ActionVerdict::Supported(_) | ActionVerdict::NotCheckable);
            said.claim.turn == answer.turn && said.claim.span.contains(span) && !open
        };
        // "a work order is open (WO-8846)": in other words elsewhere.
        let told = || told_of(facts, answer.turn, &id, prose.word(word));
        // "closed as cancelled"
        let both = || holds(prose.text, &status);
        let open = held.excludes(stage) && !facts.actions().any(judged) && !told() && !both();
        open.then(|| Wrong { text: span.of(prose.text), span, held: format!("`{id}` {status}") })
    });
    judged.collect()
}

/// Whether a result that is about a thing says the word for the state of it, outside of its members.
fn told_of(facts: &Facts<'_>, turn: usize, id: &str, word: &str) -> bool {
    /// So many bytes before the id and behind it.
    const AROUND: usize = 60;
    facts.deeds_before(turn).take(LOOK_BACK).any(|(execution, _)| {
        let text = execution.text();
        let mut places = text.match_indices(id).take(4);
        places.any(|(at, _)| {
            let from = text.floor_char_boundary(at.saturating_sub(AROUND));
            let until = text.ceil_char_boundary((at + id.len() + AROUND).min(text.len()));
            let near = text.get(from..until).unwrap_or_default();
            near.contains(&format!("is {}", word.to_ascii_lowercase()))
        })
    })
}

/// The thing, by its id or its noun, the stage, and the word for it, of a clause that says the one
/// of the other.
fn said<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<(&'p Token, Stage, &'p Token)> {
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::EARLIER);
    let doubt = doubt.or(Tags::USER).or(Tags::THIRD).or(Tags::AGENT);
    if clause.mood != Mood::Asserted || clause.tags.any(doubt) {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let sentence = prose.sentences.get(clause.sentence)?;
    let whole = prose.tokens(sentence.tokens.clone());
    let cell = matches!(prose.block_of(sentence)?.kind, BlockKind::Cell { .. });
    let link = Tags::BE.or(Tags::BEEN);
    let rests = |t: &Token| prose.is(t, words!["remains", "stays"]);
    let known = cell || whole.iter().any(|t| t.kind == TokenKind::Id);
    // "If you agree, the order is cancelled."
    let supposed = || {
        let clauses = prose.clauses_of(clause.sentence);
        clauses.iter().any(|c| c.mood == Mood::Conditional)
    };
    if !known && (!clause.tags.any(link) && !tokens.iter().any(rests) || supposed()) {
        return None;
    }
    let small = Tags::ADVERB.or(Tags::NOW).or(Tags::SUCCESS);
    let stages =
        tokens.iter().enumerate().filter(|(_, t)| !t.quoted && stage_at(prose, t).is_some());
    let mut stages = stages.map(|(at, _)| at);
    let at = stages.find(|at| {
        let before = tokens.get(..*at).unwrap_or_default();
        let mut led = before.iter().rev().skip_while(|t| t.has(small) && !t.has(link));
        let lead = led.next();
        let to = led.next().is_some_and(|t| prose.is(t, words!["to"]));
        let linked =
            lead.is_some_and(|t| t.has(link) || rests(t) || prose.is(t, words!["has", "as"]));
        let alone = before.iter().all(|t| matches!(t.kind, TokenKind::Symbol(_)));
        !to && (linked || alone)
    })?;
    let word = tokens.get(at)?;
    let stage = stage_at(prose, word)?;
    // "was pending": and is no longer.
    let past = tokens.iter().take(at).any(|t| t.has(Tags::PAST_BE));
    if past && stage == Stage::Waiting {
        return None;
    }
    match ids_of(prose, clause, at)?.as_slice() {
        [id] => Some((id, stage, word)),
        [] if !known => Some((noun_before(prose, tokens.get(..at)?)?, stage, word)),
        _ => None,
    }
}

/// The ids of which a clause tells the state that stands at one of its tokens; nothing where it is of
/// something else: "my check of order X is complete".
fn ids_of<'p>(prose: &'p Prose<'_>, clause: &Clause, at: usize) -> Option<Vec<&'p Token>> {
    let sentence = prose.sentences.get(clause.sentence)?;
    let tokens = prose.tokens(clause.tokens.clone());
    let is_id = |t: &&Token| t.kind == TokenKind::Id && !t.quoted;
    let before = prose.tokens(sentence.tokens.start..clause.tokens.start + at);
    let of = |t: &Token| t.has(Tags::PREPOSITION.or(Tags::AGENT_OWN).or(Tags::COORDINATE));
    let (mut ids, mut plain) = (Vec::new(), true);
    for token in tokens.iter().take(at) {
        plain &= !ids.is_empty() || !of(token) || token.has(Tags::THING);
        if is_id(&token) {
            ids.push(token);
        }
    }
    if !ids.is_empty() && !plain {
        return None;
    }
    if ids.is_empty() && tokens.first().is_some_and(|t| t.is(':')) {
        ids = before.iter().filter(is_id).collect();
    }
    if ids.is_empty() {
        ids = in_row(prose, clause.sentence);
    }
    Some(ids)
}

/// "The claim remains": the noun of which alone a state is told.
fn noun_before<'p>(prose: &Prose<'_>, before: &'p [Token]) -> Option<&'p Token> {
    let small = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::ADVERB).or(Tags::NOW);
    let rests = |t: &Token| prose.is(t, words!["remains", "stays"]);
    let verb = before.iter().position(|t| t.has(Tags::BE.or(Tags::HAVE)) || rests(t))?;
    let mut words = before.get(..verb)?.iter().filter(|t| !t.has(small) && !t.is(','));
    let noun = words.next().filter(|t| t.kind == TokenKind::Word && !t.quoted)?;
    (words.next().is_none() && !noun.has(Tags::THING.or(Tags::COORDINATE))).then_some(noun)
}

/// The one id that results have under a noun: `"claim": "SK-88"`, `"claim_id": "SK-88"`.
fn only_id(facts: &Facts<'_>, turn: usize, noun: &str) -> Option<String> {
    let noun = noun.to_ascii_lowercase();
    let called = |name: &str| {
        let rest = name.to_ascii_lowercase();
        let rest = rest.strip_prefix(noun.as_str()).map(|rest| rest.trim_start_matches('_'));
        rest.is_some_and(|rest| matches!(rest, "" | "id" | "no" | "number" | "ref"))
    };
    let mut only: Option<String> = None;
    for document in facts.given().documents(&noun, turn, REACH) {
        for node in document.nodes().iter().filter(|node| called(node.name)) {
            let (Leaf::Text(id) | Leaf::Number(id)) = node.leaf else { continue };
            let digits = id.bytes().any(|b| b.is_ascii_digit()) && !id.contains(' ');
            if !digits || only.as_deref().is_some_and(|known| known != id) {
                return None;
            }
            only = Some(id.to_owned());
        }
    }
    only
}

/// The ids in the first cell of the row that a sentence is a cell of.
fn in_row<'p>(prose: &'p Prose<'_>, sentence: usize) -> Vec<&'p Token> {
    let place = |at: usize| match prose.block_of(prose.sentences.get(at)?)?.kind {
        BlockKind::Cell { row, column } => Some((row, column)),
        _ => None,
    };
    let Some((row, _)) = place(sentence).filter(|(_, column)| *column > 0) else {
        return Vec::new();
    };
    let first = (0..sentence).rev().take(8).find(|at| place(*at) == Some((row, 0)));
    let tokens = first.and_then(|at| prose.sentences.get(at)).map(|s| s.tokens.clone());
    let tokens = prose.tokens(tokens.unwrap_or_default());
    tokens.iter().filter(|t| t.kind == TokenKind::Id).collect()
}

/// The stage that a word names, or the words that begin with it.
fn stage_at(prose: &Prose<'_>, token: &Token) -> Option<Stage> {
    if token.kind != TokenKind::Word {
        return None;
    }
    stage_of(prose.text.get(token.start as usize..)?)
}

fn stage_of(text: &str) -> Option<Stage> {
    const SECONDS: Seconds = seconds(&MORE);
    let begins = |word: &str| {
        let head = text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        head && !text.get(word.len()..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    };
    let more = || {
        first_letter(text, &SECONDS)?;
        MORE.iter().find(|(word, _)| begins(word)).map(|(_, stage)| *stage)
    };
    Stage::of(text).or_else(more)
}

/// The state that the latest result about an id gives, and its stage; none where something was done
/// with it since.
fn held(facts: &Facts<'_>, turn: usize, id: &str) -> Option<(String, Stage)> {
    if is_stale(facts, turn, id) {
        return None;
    }
    let documents = facts.given().documents(id, turn, REACH);
    let status = documents.iter().find_map(|document| status_of(document, id))?;
    let stage = stage_of(&status.replace(['_', '-'], " "))?;
    Some((status.to_owned(), stage))
}

/// Whether something was done with the thing since a result last gave a state of it.
fn is_stale(facts: &Facts<'_>, turn: usize, id: &str) -> bool {
    for (execution, deed) in facts.deeds_before(turn).take(LOOK_BACK) {
        let text = execution.text();
        if holds(text, id) && STATES.iter().any(|state| text.contains(state)) {
            return false;
        }
        let asked = execution.call.is_some_and(|call| holds(call.arguments.as_str(), id));
        let reads = deed.families.meets(Families::of(&[Family::Read, Family::Search]));
        if asked && !reads && deed.status().succeeded() {
            return true;
        }
    }
    false
}

/// The status of the one object that has the id among its own members.
fn status_of<'t>(document: &Leaves<'t>, id: &str) -> Option<&'t str> {
    let nodes = document.nodes();
    // What an object is about stands first in it; others may only refer to it.
    let is_first = |at: usize, parent: usize| {
        !nodes.iter().enumerate().take(at).any(|(i, node)| node.parent == parent && i != parent)
    };
    let mut own = nodes
        .iter()
        .enumerate()
        .filter(|(at, node)| node.leaf.is_id(id) && is_first(*at, node.parent));
    let object = own.next().map(|(_, node)| node.parent)?;
    if own.any(|(_, node)| node.parent != object) {
        return None;
    }
    let mut states =
        nodes.iter().filter(|node| node.parent == object && STATES.contains(&node.name));
    let status = match states.next()?.leaf {
        Leaf::Text(text) => text,
        _ => return None,
    };
    states.next().is_none().then_some(status)
}
