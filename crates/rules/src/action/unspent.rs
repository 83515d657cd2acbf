//! A call that no claim of an answer accounts for, and that may be what a clause tells of in words
//! that nobody knows.

use std::collections::BTreeSet;

use counterfoil_model::{Claim, Family};

use super::judge::ActionVerdict;
use super::word_stem::word_stem;
use crate::facts::{Answer, Facts, Families};
use crate::prose::{Lexicon, Tags, TokenKind, sets};

/// So many calls before an answer are looked at.
const MOST_CALLS: usize = 48;
/// So many words of what a tool is for make it what is told of.
const FEWEST: usize = 2;

/// What a call is for.
#[derive(Debug)]
pub(crate) struct Purpose {
    /// The stems of the tool's name and of what it says that it does.
    words: BTreeSet<String>,
    /// The ids in its result.
    ids: BTreeSet<String>,
}

/// Whether a look-up that came out well is named after the verb: "the page that I opened", after
/// `web_open`. In `mail_search` nothing is mailed: the verb is another word.
pub(crate) fn is_named_after(facts: &Facts<'_>, verb: &str, turn: usize) -> bool {
    let wanted = word_stem(verb);
    let verbal = |word: &&String| Lexicon::english().get(word).is_some_and(|e| e.verb.is_some());
    let mut deeds = facts.deeds_before(turn).take(MOST_CALLS);
    deeds.any(|(_, deed)| {
        let mut verbs = deed.words().iter().filter(verbal);
        let only = verbs.next().filter(|_| verbs.next().is_none());
        let named = only.is_some_and(|only| word_stem(only) == wanted);
        named && !deed.changes() && deed.status().succeeded()
    })
}

/// Whether a successful call that may have changed something, and that no other claim of the answer
/// accounts for, shares a word with the sentence of a claim.
pub(crate) fn may_be_unspent(facts: &Facts<'_>, answer: &Answer<'_>, claim: &Claim) -> bool {
    let words = words(answer, claim);
    if words.is_empty() {
        return false;
    }
    let told = |stem: &&String| words.contains(*stem);
    facts.unspent(claim.turn, || unspent(facts, claim.turn)).iter().any(|purpose| {
        purpose.words.iter().filter(told).count() >= FEWEST
            || purpose.ids.iter().any(|id| told(&id))
    })
}

/// The calls that account for what a message tells.
fn spent(facts: &Facts<'_>, turn: usize) -> BTreeSet<usize> {
    let told = facts.actions().filter(|(said, _)| said.claim.turn == turn);
    let calls = told.filter_map(|(_, verdict)| match verdict {
        ActionVerdict::Possible(at) => Some(at),
        _ => None,
    });
    calls.collect()
}

/// What each call since the user asked is for that may have changed something, came out well, and
/// accounts for nothing that is stated.
fn unspent(facts: &Facts<'_>, turn: usize) -> Vec<Purpose> {
    let spent = spent(facts, turn);
    let since = facts.request_before(turn);
    let looks = Families::of(&[Family::Search, Family::Read, Family::Compute]);
    let purpose = |at: usize| {
        let (execution, deed) = facts.deed(at)?;
        let may = deed.changes() || !deed.families.meets(looks);
        let well = deed.status().succeeded() && deed.is_plain_call();
        if execution.called_at < since || !may || !well {
            return None;
        }
        let tool = facts.transcript().catalog.get(execution.tool());
        let words = stems(execution.tool()).chain(stems(tool.map_or("", |t| &t.description)));
        let words = words.filter(|stem| !is_small(stem)).collect();
        Some(Purpose { words, ids: ids(execution.text()) })
    };
    let count = facts.record().count_before(turn);
    let recent = (0..count).rev().take(MOST_CALLS);
    recent.filter(|at| !spent.contains(at)).filter_map(purpose).collect()
}

/// The stems of the sentence of a claim, and of the one before it where it only says "it".
fn words(answer: &Answer<'_>, claim: &Claim) -> BTreeSet<String> {
    let prose = &answer.prose;
    let at = prose.clauses.partition_point(|clause| clause.span.end <= claim.span.start);
    let Some(clause) = prose.clauses.get(at) else { return BTreeSet::new() };
    let tokens = prose.tokens(clause.tokens.clone());
    let refers = tokens.iter().any(|token| token.tags.any(Tags::THIRD.or(Tags::THING)));
    let first = clause.sentence.saturating_sub(usize::from(refers));
    let sentences = prose.sentences.get(first..=clause.sentence).unwrap_or_default();
    let tokens = sentences.iter().flat_map(|s| prose.tokens(s.tokens.clone()));
    let plain = tokens.filter(|t| !matches!(t.kind, TokenKind::Symbol(_) | TokenKind::Number));
    let tells = |stem: &String| !is_small(stem) || stem.bytes().any(|b| b.is_ascii_digit());
    plain.flat_map(|t| stems(prose.word(t))).filter(tells).collect()
}

/// The ids in a result: words with digits.
fn ids(text: &str) -> BTreeSet<String> {
    const LONGEST: usize = 4096;
    let end = text.floor_char_boundary(text.len().min(LONGEST));
    let words = text.get(..end).unwrap_or_default().split(|c: char| !c.is_alphanumeric());
    let id = |word: &&str| {
        let letters = word.bytes().any(|b| b.is_ascii_alphabetic());
        word.bytes().any(|b| b.is_ascii_digit()) && word.len() > if letters { 1 } else { 2 }
    };
    words.filter(id).map(str::to_lowercase).collect()
}

/// Words that tell nothing of what a tool is for.
fn is_small(word: &str) -> bool {
    let small = Tags::PREPOSITION.or(Tags::ADVERB).or(Tags::PARTICLE).or(Tags::NOW);
    let entry = || Lexicon::english().get(word);
    word.len() < 3
        || sets::SMALL_WORDS.list.contains(&word)
        || entry().is_some_and(|entry| entry.tags.any(small))
}

/// The stems of the words of a text; those of names in code, too.
fn stems(text: &str) -> impl Iterator<Item = String> {
    parts(text).map(word_stem)
}

/// The words of a text, those of names in code one by one.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.flat_map(|run| {
        let mut rest = run;
        std::iter::from_fn(move || {
            let mut small = false;
            let begins =
                |c: char| std::mem::replace(&mut small, c.is_lowercase()) && c.is_uppercase();
            let cut = rest.find(begins).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(cut);
            rest = behind;
            (!part.is_empty()).then_some(part)
        })
    })
}
