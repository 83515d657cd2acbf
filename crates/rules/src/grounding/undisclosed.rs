//! A step that failed for a thing of which the answer tells, where nothing in the answer tells of
//! the failure.

use std::collections::BTreeSet;
use std::rc::Rc;

use counterfoil_model::{Family, Status};

use super::assertion::{is_asserted, is_denial};
use super::lexis::is_small;
use super::stem::stem;
use crate::action::behind_ids;
use crate::facts::{Answer, Deed, Execution, Facts, Families};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, sets};
use crate::values::{Leaf, Leaves};

/// A shorter word is one by chance.
const SHORTEST: usize = 3;
/// A longer value names nothing.
const LONGEST: usize = 60;
/// A clause with fewer words belongs to the one before it.
const FEW_WORDS: usize = 6;

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
    if facts.delegates_before(turn) {
        return None;
    }
    let since = facts.request_before(turn);
    let request = facts.transcript().messages.get(since).map_or("", |asked| asked.text.as_str());
    let count = facts.record().count_before(turn);
    let steps: Vec<usize> = (0..count)
        .filter(|at| facts.deed(*at).is_some_and(|(e, deed)| e.called_at >= since && is_step(deed)))
        .collect();
    let failed = |at: &&usize| {
        let status = facts.deed(**at).map(|(_, deed)| deed.status());
        matches!(status, Some(Status::Failed | Status::Timeout))
    };
    let mut failed = steps.iter().filter(failed).peekable();
    failed.peek()?;
    let worked = words_that_worked(facts, &steps);
    failed.find_map(|at| {
        let (execution, deed) = facts.deed(*at)?;
        // A command line behind it may have done it after all.
        if (*at..count).any(|later| facts.deed(later).is_some_and(|(_, d)| d.shell.is_some())) {
            return None;
        }
        if is_tried_again(facts, *at, &steps) {
            return None;
        }
        let mut own = words_of_call(facts, *at, execution);
        own.retain(|word| !worked.contains(word));
        let mut acts: BTreeSet<String> = words_of_tool(deed).collect();
        acts.retain(|word| !worked.contains(word));
        let mut told = prose
            .clauses
            .iter()
            .filter(|clause| is_asserted(prose, clause) && !clause.tags.any(Tags::NEGATION));
        let (clause, thing) =
            told.find_map(|clause| Some((clause, thing_in(prose, clause, &own, &acts)?)))?;
        own.extend(acts);
        (!discloses(prose, &own, execution, request)).then_some(Undisclosed {
            failed: execution,
            clause,
            thing,
        })
    })
}

/// The words of the steps that came out well.
fn words_that_worked(facts: &Facts<'_>, steps: &[usize]) -> BTreeSet<String> {
    let mut worked = BTreeSet::new();
    for at in steps {
        if let Some((execution, deed)) = facts.deed(*at)
            && deed.status().succeeded()
        {
            worked.extend(words_of_call(facts, *at, execution));
            worked.extend(words_of_tool(deed));
        }
    }
    worked
}

/// Whether a later call of the same tool for the same thing came out well: the same first argument.
fn is_tried_again(facts: &Facts<'_>, at: usize, steps: &[usize]) -> bool {
    let of = |at: usize| {
        let (execution, deed) = facts.deed(at)?;
        let leaves = Leaves::of(execution.call?.arguments.as_str())?;
        let first = leaves.nodes().iter().find_map(|node| match node.leaf {
            Leaf::Text(value) | Leaf::Number(value) => Some(value.to_owned()),
            _ => None,
        });
        Some((execution.tool(), first?, deed.status().succeeded()))
    };
    let Some((tool, thing, _)) = of(at) else { return false };
    let later = steps.iter().filter(|later| **later > at);
    later
        .filter_map(|later| of(*later))
        .any(|(other, same, worked)| worked && other == tool && same == thing)
}

/// The thing of a call, as the clause names it; where the clause tells of something done, also the act
/// itself, and all of several things.
fn thing_in(
    prose: &Prose<'_>,
    clause: &Clause,
    own: &BTreeSet<String>,
    acts: &BTreeSet<String>,
) -> Option<String> {
    let tokens = prose.tokens(clause.tokens.clone()).iter().filter(|t| !t.has(Tags::MONTH));
    let named = tokens.clone().filter(|token| {
        matches!(
            token.kind,
            TokenKind::Word | TokenKind::Identifier | TokenKind::Id | TokenKind::Code
        )
    });
    let mut words = named.flat_map(|token| prose.word(token).split(|c: char| !c.is_alphanumeric()));
    let found = words.clone().find(|word| own.contains(&word.to_ascii_lowercase()));
    let ended = |token: &&Token| {
        token.tags.any(Tags::COMPLETED.or(Tags::DONE)) || prose.word(token).ends_with("ed")
    };
    let whole = prose.sentences.get(clause.sentence).map(|s| prose.tokens(s.tokens.clone()));
    let mut whole = whole.unwrap_or_default().iter();
    let done = whole
        .any(|token| ended(&token) || token.tags.any(Tags::BE) || prose.is(token, &sets::FINISHED));
    let there = tokens.clone().take(2).any(|token| prose.is(token, &sets::EXISTS));
    let done = done || there || tokens.clone().any(|token| token.tags.any(Tags::NOW));
    if !done {
        return None;
    }
    let denies = |token: &Token| token.has(Tags::FAILURE) || is_denial(prose, token);
    // Where anything is denied, only what is named is told.
    if prose.tokens.iter().any(denies) {
        return found.map(str::to_owned);
    }
    let all = tokens.clone().find(|token| prose.is(token, &sets::ALL_OF_THEM));
    // "… drained, all four."
    let short = clause.tokens.len() < FEW_WORDS;
    let told = tokens.clone().any(|token| ended(&token) || prose.is(token, &sets::FINISHED));
    let all = all.filter(|_| short || told);
    found
        .or_else(|| words.find(|word| acts.contains(&stem(word))))
        .or_else(|| all.map(|token| prose.word(token)))
        .map(str::to_owned)
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
    let args = execution.arguments();
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

/// The stems of what a tool is for, by its name.
fn words_of_tool(deed: &Deed<'_>) -> impl Iterator<Item = String> {
    deed.words().iter().filter(|word| !is_small(word)).map(|word| stem(word))
}

/// The words of a short value that tell it from others: capitals or digits are in them.
fn add(value: &str, words: &mut BTreeSet<String>) {
    if value.len() > LONGEST {
        return;
    }
    let tells = |word: &&str| {
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.len() >= SHORTEST && (capital || digits > 0) || digits > 1
    };
    let parts = value.split(|c: char| !c.is_alphanumeric());
    words.extend(parts.filter(tells).map(str::to_ascii_lowercase));
}

/// Whether the answer tells that something went wrong: in any words of failure that the user did not
/// use first, in words of the failure itself, or with a "not" in a clause about the thing, the act, or
/// what was last spoken of.
fn discloses(
    prose: &Prose<'_>,
    own: &BTreeSet<String>,
    failed: &Execution<'_>,
    request: &str,
) -> bool {
    let denies = Tags::NEGATION.or(Tags::MODAL).or(Tags::HEDGE).or(Tags::ADVERSATIVE);
    let args = failed.arguments();
    let told: BTreeSet<String> = long_words(failed.text()).collect();
    let asked: BTreeSet<String> = long_words(args).chain(long_words(failed.tool())).collect();
    prose.clauses.iter().any(|clause| {
        let tokens = prose.tokens(clause.tokens.clone());
        let fails = |token: &Token| {
            token.has(Tags::FAILURE.or(Tags::TROUBLE)) && !is_word_in(request, prose.word(token))
                || prose.is(token, &sets::NOT_COME_ABOUT)
                    && !asked.contains(&stem(prose.word(token)))
                    && !own.contains(&stem(prose.word(token)))
        };
        if tokens.iter().any(fails) {
            return true;
        }
        let text = clause.span.of(prose.text);
        let speaks = own.iter().any(|word| is_word_in(text, word));
        if clause.mood != Mood::Asserted {
            return speaks;
        }
        let words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
        let mut words = words.flat_map(|token| long_words(prose.word(token)));
        if words.any(|word| told.contains(&word) && !asked.contains(&word)) {
            return true;
        }
        let open = |token: &Token| token.has(denies) || prose.is(token, &sets::NOT_YET);
        tokens.iter().any(open)
            && (speaks
                || own.iter().any(|word| is_word_in(sentence_of(prose, clause), word))
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

/// Whether a word stands in a text by itself, in any case.
fn is_word_in(text: &str, word: &str) -> bool {
    let mut parts = text.split(|c: char| !c.is_alphanumeric());
    parts.any(|part| part.eq_ignore_ascii_case(word))
}
