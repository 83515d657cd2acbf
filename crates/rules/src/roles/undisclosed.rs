//! A step that failed for a thing of which the answer tells, where nothing in the answer tells of
//! the failure.

use std::collections::BTreeSet;
use std::rc::Rc;

use counterfoil_model::{Family, Status};

use super::named::is_word_in;
use crate::action::behind_ids;
use crate::facts::{Answer, Deed, Execution, Facts, Families};
use crate::prose::{Clause, Mood, Prose, Tags, TokenKind, sets};
use crate::values::{Leaf, Leaves};

/// A shorter word is one by chance.
const SHORTEST: usize = 3;
/// A longer value names nothing.
const LONGEST: usize = 60;

/// A failure that is not told of.
pub(crate) struct Undisclosed<'f, 't, 'a> {
    /// What failed.
    pub(crate) failed: &'f Execution<'t>,
    /// Where the answer tells of its thing.
    pub(crate) clause: &'a Clause,
    /// The thing.
    pub(crate) thing: String,
}

/// The first such failure since the user asked.
pub(crate) fn undisclosed<'f, 't, 'a>(
    facts: &'f Facts<'t>,
    answer: &'a Answer<'t>,
) -> Option<Undisclosed<'f, 't, 'a>> {
    let (turn, prose) = (answer.turn, &answer.prose);
    if facts.runs_shell_before(turn) || facts.delegates_before(turn) {
        return None;
    }
    let since = facts.request_before(turn);
    let count = facts.record().count_before(turn);
    let steps: Vec<usize> = (0..count)
        .filter(|at| facts.deed(*at).is_some_and(|(e, deed)| e.called_at >= since && is_step(deed)))
        .collect();
    let mut worked = BTreeSet::new();
    for at in &steps {
        if let Some((execution, deed)) = facts.deed(*at)
            && deed.status().succeeded()
        {
            worked.extend(words_of_call(facts, *at, execution));
        }
    }
    steps.iter().find_map(|at| {
        let (execution, deed) = facts.deed(*at)?;
        if !matches!(deed.status(), Status::Failed | Status::Timeout) {
            return None;
        }
        let mut own = words_of_call(facts, *at, execution);
        own.retain(|word| !worked.contains(word));
        let mut told = prose.clauses.iter().filter(|clause| tells_of_deed(prose, clause));
        let (clause, thing) =
            told.find_map(|clause| Some((clause, thing_in(prose, clause, &own)?)))?;
        (!discloses(prose, &own, execution)).then_some(Undisclosed {
            failed: execution,
            clause,
            thing,
        })
    })
}

/// Whether it is said in a sentence that tells of something done, or of how things are now.
fn tells_of_deed(prose: &Prose<'_>, clause: &Clause) -> bool {
    let same = prose.clauses.iter().filter(|other| other.sentence == clause.sentence);
    let done = |clause: &Clause| {
        let mut predicates = clause.predicates.iter();
        let state = clause.tags.any(Tags::BE);
        predicates.any(|p| !p.negated && !p.earlier) || clause.tags.any(Tags::NOW) || state
    };
    clause.mood == Mood::Asserted && same.into_iter().any(done)
}

/// The thing of a call, as the clause names it.
fn thing_in(prose: &Prose<'_>, clause: &Clause, own: &BTreeSet<String>) -> Option<String> {
    let tokens = prose.tokens(clause.tokens.clone()).iter().filter(|t| !t.has(Tags::MONTH));
    let named = tokens.filter(|token| {
        matches!(
            token.kind,
            TokenKind::Word | TokenKind::Identifier | TokenKind::Id | TokenKind::Code
        )
    });
    let mut words = named.flat_map(|token| prose.word(token).split(|c: char| !c.is_alphanumeric()));
    words.find(|word| own.contains(&word.to_ascii_lowercase())).map(str::to_owned)
}

/// Whether it is a part of the work: it changes something, or nobody knows what it does.
fn is_step(deed: &Deed<'_>) -> bool {
    let looks = Families::of(&[Family::Search, Family::Read, Family::Compute, Family::Run]);
    deed.shell.is_none()
        && !deed.is_note
        && !deed.delegates
        && (deed.changes() || !deed.families.meets(looks))
}

/// The words of the values that a call was given, and of what was read before of its ids, lower
/// case.
fn words_of_call(facts: &Facts<'_>, at: usize, execution: &Execution<'_>) -> BTreeSet<String> {
    let args = execution.call.map_or("", |call| call.arguments.as_str());
    let behind: Rc<str> = behind_ids(facts, at, execution);
    let mut words = BTreeSet::new();
    if let Some(leaves) = Leaves::of(args) {
        for node in leaves.nodes() {
            if let Leaf::Text(value) | Leaf::Number(value) = node.leaf {
                add(value, &mut words);
            }
        }
    }
    behind.lines().for_each(|line| add(line, &mut words));
    words
}

/// The words of a short value that tell it from others: capitals or digits are in them.
fn add(value: &str, words: &mut BTreeSet<String>) {
    if value.len() > LONGEST {
        return;
    }
    let tells = |word: &&str| {
        let letters = word.chars().any(char::is_alphabetic);
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let digits = word.bytes().any(|b| b.is_ascii_digit());
        word.len() >= SHORTEST && letters && (capital || digits)
    };
    let parts = value.split(|c: char| !c.is_alphanumeric());
    words.extend(parts.filter(tells).map(str::to_ascii_lowercase));
}

/// Whether the answer tells that something went wrong: in any words of failure, in words of the
/// failure itself, or with a "not" in a sentence about the thing, the act, or what was last spoken
/// of.
fn discloses(prose: &Prose<'_>, own: &BTreeSet<String>, failed: &Execution<'_>) -> bool {
    let failure = Tags::FAILURE.or(Tags::TROUBLE).or(Tags::ADVERSATIVE);
    let denies = Tags::NEGATION.or(Tags::MODAL).or(Tags::HEDGE);
    let args = failed.call.map_or("", |call| call.arguments.as_str());
    let told: BTreeSet<String> = long_words(failed.text()).collect();
    let asked: BTreeSet<String> = long_words(args).chain(long_words(failed.tool())).collect();
    prose.clauses.iter().any(|clause| {
        let tokens = prose.tokens(clause.tokens.clone());
        if tokens.iter().any(|token| token.has(failure) || prose.is(token, &sets::NOT_COME_ABOUT)) {
            return true;
        }
        let whole = sentence_of(prose, clause);
        let speaks = own.iter().any(|word| is_word_in(whole, word));
        if clause.mood != Mood::Asserted {
            return speaks;
        }
        let text = clause.span.of(prose.text);
        let mut words = long_words(text);
        let of_failure = words.any(|word| told.contains(&word) && !asked.contains(&word));
        of_failure
            || tokens.iter().any(|token| token.has(denies))
                && (speaks
                    || long_words(text).any(|word| asked.contains(&word))
                    || tokens.iter().any(|token| prose.is(token, &sets::SPOKEN_OF)))
    })
}

fn sentence_of<'p>(prose: &'p Prose<'_>, clause: &Clause) -> &'p str {
    let sentence = prose.sentences.get(clause.sentence);
    let tokens = sentence.map_or(&[][..], |sentence| prose.tokens(sentence.tokens.clone()));
    let whole = match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => prose.text.get(first.start as usize..last.end as usize),
        _ => None,
    };
    whole.unwrap_or_default()
}

fn long_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.len() > SHORTEST + 1).map(str::to_ascii_lowercase)
}
