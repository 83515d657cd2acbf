//! What the agent says it found, where every look-up for it failed or found nothing.

use counterfoil_model::{Claim, ClaimKind, Object, ObjectKind};

use super::own_work::{LOOK_BACK, is_told, own};
use crate::facts::{Answer, Deed, Execution, Facts, Upshot, broke_off};
use crate::prose::{Clause, Prose, Tags, Token, TokenKind, Words};
use crate::values::AnyCase;

/// So many letters tell a noun from others.
const LETTERS: usize = 5;
/// Verbs that say that a look-up gave something.
const FOUND: &Words = words![
    "found",
    "located",
    "retrieved",
    "fetched",
    "obtained",
    "pulled",
    "checked",
    "reviewed",
    "confirmed",
    "verified",
    "loaded",
    "looked",
];

/// What anything has.
const VAGUE: [&str; 8] =
    ["detail", "information", "status", "history", "list", "data", "record", "result"];
/// Words that tell of trouble.
const ADMITS: &Words = words![
    "unfortunately",
    "sorry",
    "timed",
    "timeout",
    "unavailable",
    "unreachable",
    "down",
    "denied",
    "refused",
    "offline",
    "responding",
    "respond",
    "retry",
    "again",
];

/// "I found your two bookings", where every look-up failed or found nothing: each with the place of such a call.
pub(crate) fn failed_look_ups(facts: &Facts<'_>) -> Vec<(Claim, usize)> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let prose = &answer.prose;
        let told = prose.clauses.iter().filter(|clause| is_told(prose, clause));
        let mut claimed = told.filter_map(|clause| Some((clause, found_in(prose, clause)?)));
        let Some(first) = claimed.next() else { continue };
        if !is_plain(facts, answer) {
            continue;
        }
        for (clause, (things, tried)) in std::iter::once(first).chain(claimed) {
            let Some(at) = failed_for(facts, answer.turn, &things) else { continue };
            let text = facts.deed(at).map_or("", |(execution, _)| execution.text());
            // "I checked the calendar", where there was nothing.
            if tried && !broke_off(text) {
                continue;
            }
            let objects = things.into_iter().take(1);
            let objects = objects.map(|text| Object { kind: ObjectKind::Noun, text }).collect();
            found.push((prose.claim(clause, ClaimKind::Provenance, objects, answer.turn), at));
        }
    }
    found
}

/// What a clause says was found, by its nouns, how they begin; and whether it may have been looked
/// for in vain.
fn found_in(prose: &Prose<'_>, clause: &Clause) -> Option<(Vec<String>, bool)> {
    let act = own(clause).find(|p| {
        prose.tokens.get(p.verb).is_some_and(|verb| !verb.quoted && prose.is(verb, FOUND))
    })?;
    let object = prose.tokens(act.object_tokens.clone());
    // "found that it is down", "found an error", "found no booking"
    let open = Tags::TROUBLE.or(Tags::FAILURE).or(Tags::NEGATION).or(Tags::QUESTION);
    let said =
        |t: &Token| t.has(open.or(Tags::RELATIVE)) || prose.is(t, words!["out", "whether", "if"]);
    if object.first().is_none_or(said) || object.iter().take(5).any(|t| t.has(open)) {
        return None;
    }
    // "two trips under your name": where they were found is not what was found.
    let ends = Tags::BE.or(Tags::HAVE).or(Tags::RELATIVE).or(Tags::PREPOSITION);
    let leads_on = |t: &Token| prose.is(t, words!["of", "for"]);
    let phrase = object.iter().take_while(|t| !t.has(ends) || leads_on(t));
    let small = Tags::PREPOSITION.or(Tags::DETERMINER).or(Tags::USER_OWN).or(Tags::AGENT_OWN);
    let small = small.or(Tags::ADVERB).or(Tags::COORDINATE).or(Tags::THING).or(Tags::AGENT);
    let noun = |t: &&Token| t.kind == TokenKind::Word && !t.quoted && !t.has(small);
    let words = phrase.filter(noun).map(|t| prose.word(t).to_ascii_lowercase());
    let told =
        |word: &String| word.len() >= 4 && !VAGUE.iter().any(|vague| word.starts_with(vague));
    let heads = words.filter(told).map(|mut word| {
        word.truncate(word.floor_char_boundary(LETTERS));
        word
    });
    let tried = words!["checked", "reviewed", "looked", "verified", "confirmed"];
    let tried = prose.tokens.get(act.verb).is_some_and(|verb| prose.is(verb, tried));
    Some((heads.take(6).collect(), tried))
}

/// Whether the record is whole and speaks for itself, and the answer admits no failure.
fn is_plain(facts: &Facts<'_>, answer: &Answer<'_>) -> bool {
    let turn = answer.turn;
    let count = facts.record().count_before(turn);
    let doubt = Tags::FAILURE.or(Tags::TROUBLE);
    let admits = |clause: &Clause| {
        let tokens = answer.prose.tokens(clause.tokens.clone());
        clause.tags.any(doubt) || tokens.iter().any(|t| answer.prose.is(t, ADMITS))
    };
    (1..=LOOK_BACK).contains(&count)
        && facts.is_complete_before(turn)
        && !answer.prose.clauses.iter().any(admits)
        && facts.deeds_before(turn).all(|(_, deed)| deed.is_plain_call())
}

/// A call for the things that failed or found nothing, where none of them worked: of those whose tools are named after
/// them, or else of all.
fn failed_for(facts: &Facts<'_>, turn: usize, things: &[String]) -> Option<usize> {
    let named = |deed: &Deed<'_>| {
        let mut words = deed.words().iter();
        words.any(|word| things.iter().any(|thing| word.starts_with(thing.as_str())))
    };
    let count = facts.record().count_before(turn);
    let deeds = || (0..count).rev().filter_map(|at| Some((at, facts.deed(at)?)));
    let any = deeds().any(|(_, (_, deed))| named(deed));
    let mut asked = deeds().filter(|(_, (_, deed))| !any || named(deed));
    let vain = |deed: &Deed<'_>| deed.failed() || deed.upshot() == Upshot::NothingFound;
    let (last, _) = asked.next().filter(|(_, (_, deed))| vain(deed))?;
    // What another call gave may speak of it.
    let spoken = |(_, (execution, deed)): (usize, (&Execution<'_>, &Deed<'_>))| {
        !vain(deed) && things.iter().any(|thing| AnyCase::new(thing).stands_in(execution.text()))
    };
    (asked.all(|(_, (_, deed))| vain(deed)) && !deeds().any(spoken)).then_some(last)
}
