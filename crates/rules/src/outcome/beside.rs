//! Checks that are named next to the words about their outcome: before them, after them, or as the
//! means of verifying something.

use std::ops::Range;

use counterfoil_model::Family;

use super::trouble::clears;
use super::verdict::{
    check_at, ends_before, is_fraction, is_part, is_qualified, is_wished, passing_at,
};
use crate::prose::{Action, Clause, Mood, Prose, Subject, Tags, Token, TokenKind, Voice};

/// A check that is named earlier in the sentence: "Tests: 12/12 passing", "I ran the tests and
/// everything passed", "the suite was run and has passed".
pub(super) fn check_before(prose: &Prose<'_>, index: usize) -> Vec<(Family, usize)> {
    let before = prose.clauses.get(index).and_then(|clause| Some((clause, before(prose, index)?)));
    let Some((clause, (before, adjacent))) = before else { return Vec::new() };
    let tokens = prose.tokens(clause.tokens.clone());
    let first = |is: &dyn Fn(&Token) -> bool| tokens.first().is_some_and(is);
    let mark =
        |t: &Token| t.is(':') || t.is('→') || t.is('—') || t.is('–') || t.is(';') || t.is('(');
    let labelled = first(&mark);
    // "…, which passes"; "confirmed with `pytest` that nothing broke"
    let apart = !adjacent || first(&|t| t.is(','));
    let head = tokens.iter().find(|t| t.kind == TokenKind::Word);
    let completes =
        clause.mood == Mood::Relative && head.is_some_and(|t| t.has(Tags::RELATIVE) && apart);
    let everything = tokens
        .iter()
        .take(3)
        .any(|t| prose.is(t, words!["everything", "all", "they", "it", "both"]));
    // "All pass (9/9)": stated twice.
    let again =
        first(&|t| t.is('(')) && passing_at(prose, prose.tokens(before.tokens.clone())).is_some();
    if before.sentence != clause.sentence
        || (clause.mood != Mood::Asserted && !completes)
        || !(labelled || everything || completes)
        || again
        || before.mood != Mood::Asserted
        || !says_that_it_passes(prose, clause)
    {
        return Vec::new();
    }
    // "pytest -k quotes: green": the whole label.
    let label = prose.sentences.get(clause.sentence).map_or(0, |s| s.tokens.start);
    let short = labelled && clause.tokens.start - label <= 8;
    let from = if short { label } else { before.tokens.start };
    named_check(prose, from..before.tokens.end, labelled).into_iter().collect()
}

/// The clause before, and whether it is directly before: a lone comma is a clause of its own.
fn before<'p>(prose: &'p Prose<'_>, index: usize) -> Option<(&'p Clause, bool)> {
    let colon = prose.clauses.get(index).and_then(|clause| prose.tokens.get(clause.tokens.start));
    let colon = colon.is_some_and(|t| t.is(':'));
    let worded = |c: &Clause| {
        let comma = prose.tokens.get(c.tokens.start).is_some_and(|t| t.is(','));
        // "I ran them after the fix: all pass"
        let dated = colon && c.mood == Mood::Conditional && c.predicates.is_empty();
        !(dated || (comma && c.tokens.len() == 1))
    };
    let near = (0..index).rev().take(2).filter_map(|at| Some((at, prose.clauses.get(at)?)));
    let found = near.into_iter().find(|(_, clause)| worded(clause));
    found.map(|(at, clause)| (clause, at + 1 == index))
}

/// "all green", "no errors": a verdict without exception.
fn says_that_it_passes(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let clear = clears(prose, tokens);
    let verdict = passing_at(prose, tokens).or(clear);
    let denied = tags![NEGATION, FAILURE];
    let plain = |t: &Token| !t.has(Tags::MODAL) && (clear.is_some() || !t.has(denied));
    tokens.iter().all(plain)
        && !is_fraction(prose, tokens)
        && !is_qualified(prose, clause)
        && verdict.is_some_and(|at| !ends_before(prose, clause.tokens.start + at))
}

/// The check that the words before a verdict name.
fn named_check(prose: &Prose<'_>, words: Range<usize>, labelled: bool) -> Option<(Family, usize)> {
    let from = words.start;
    let named = prose.tokens(words);
    let doubt = tags![NEGATION, FAILURE, MODAL, INTEND];
    if named.iter().any(|t| t.has(doubt)) {
        return None;
    }
    let types = |at: usize| {
        let alone = named.len() <= 2 && matches!(prose.word(named.get(at)?), "Types" | "types");
        (alone && labelled).then_some(Family::Lint)
    };
    (0..named.len()).find_map(|at| {
        let family = check_at(prose, named, at).or_else(|| types(at))?;
        (!is_part(prose, named, at) && !is_wished(prose, named, at)).then_some((family, from + at))
    })
}

/// "verified", "confirmed", "validated": whether the verb implies success.
fn proves(prose: &Prose<'_>, verb: usize) -> bool {
    prose
        .tokens
        .get(verb)
        .is_some_and(|t| prose.is(t, words!["verified", "confirmed", "validated"]))
}

/// "I ran the test suite", "the suite was executed", "verified it with the unit tests": the check,
/// the index of its noun, and whether it is said to prove something.
pub(super) fn check_run(prose: &Prose<'_>, clause: &Clause) -> Option<(Family, usize, bool)> {
    clause.predicates.iter().filter(|p| !p.negated && !p.earlier).find_map(|p| {
        let runs = p.action == Action::Of(Family::Run);
        let proven = p.action == Action::Of(Family::Read) && proves(prose, p.verb);
        let checks = matches!(p.action, Action::Of(Family::Read | Family::Test));
        let named = |at: usize| {
            let token = prose.tokens.get(at)?;
            if token.kind == TokenKind::Code {
                return check_at(prose, prose.tokens(at..at + 1), 0).map(|family| (family, at));
            }
            let family = token.noun.filter(|f| matches!(f, Family::Test | Family::Lint))?;
            (!is_part(prose, &prose.tokens, at)).then_some((family, at))
        };
        let (family, at) = match (p.voice, p.subject) {
            (Voice::Active, Subject::Agent) if runs => {
                p.object_tokens.clone().take(5).find_map(named)
            }
            (Voice::Active, Subject::Agent) if checks => {
                means_of(prose, p.object_tokens.clone())?.find_map(named)
            }
            (Voice::PerfectPassive | Voice::PastPassive, Subject::Thing) if runs => {
                p.subject_tokens.clone().find_map(named)
            }
            (Voice::Active, _) => None,
            _ if proven => means_of(prose, p.object_tokens.clone())?.find_map(named),
            _ => None,
        }?;
        Some((family, at, proven))
    })
}

/// "with", "by running": the tokens after such a word, which name the means.
fn means_of(prose: &Prose<'_>, object: Range<usize>) -> Option<Range<usize>> {
    let means = words!["with", "using", "through", "via", "by"];
    let of = |at: usize| prose.tokens.get(at);
    let at = object.clone().find(|&at| of(at).is_some_and(|t| prose.is(t, means)))?;
    let running =
        of(at + 1).is_some_and(|t| t.has(Tags::GERUND) && t.verb == Some(Action::Of(Family::Run)));
    let from = at + 1 + usize::from(running);
    let gerund = !running && of(at + 1).is_some_and(|t| t.has(Tags::GERUND) && t.noun.is_none());
    (!gerund).then_some(from..object.end.min(from + if running { 6 } else { 4 }))
}
