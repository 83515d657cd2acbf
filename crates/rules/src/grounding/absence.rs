//! What is told not to be there, where a result has it under that name.

use std::collections::BTreeSet;

use super::assertion::{Assertion, clauses};
use super::lexis::is_small;
use super::session::stems;
use super::stem::stem;
use crate::facts::{Answer, Execution, Facts};
use crate::prose::{Clause, Prose, Tags, Token, TokenKind, sets};
use crate::values::{Leaf, Leaves, Node};

/// So many calls before an answer are looked at.
const MOST_CALLS: usize = 24;

/// A clause that denies what a result has.
pub(crate) struct Denied<'p> {
    pub(crate) clause: &'p Clause,
    /// What is denied.
    pub(crate) thing: String,
    /// What the result has.
    pub(crate) held: String,
    /// The execution.
    pub(crate) at: usize,
}

pub(crate) fn denied<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Vec<Denied<'p>> {
    let prose = &answer.prose;
    let said = clauses(answer);
    let found = said.iter().filter(|said| said.asserted && said.denies && !said.by_agent);
    found
        .filter_map(|said| {
            let things = things(prose, said)?;
            let (at, held) = shown(facts, answer.turn, &things)?;
            let thing = said.word_of(things.last()?, prose).to_owned();
            Some(Denied { clause: said.clause, thing, held, at })
        })
        .collect()
}

/// The stems of what a clause says that there is none of: "no critical advisories", "nothing
/// critical".
fn things(prose: &Prose<'_>, said: &Assertion<'_>) -> Option<Vec<String>> {
    let tokens = prose.tokens(said.clause.tokens.clone());
    // "Allergies: none"
    if let Some(at) = tokens.iter().position(|token| prose.is_word(token, "none"))
        && let Some(label) = label(prose, said.clause.tokens.start + at)
    {
        return Some(label);
    }
    let none = |token: &Token| prose.is(token, &sets::NO_SUCH);
    let at = tokens.iter().position(none)?;
    let rest = tokens.get(at + 1..)?;
    let limits = |token: &Token| prose.is(token, &sets::OF_SOME) || prose.is(token, &sets::NOT_ALL);
    // "No seat was assigned": an act that was not done.
    let acts = |token: &Token| {
        token.verb.is_some()
            && token.tags.any(Tags::PARTICIPLE)
            && !prose.is(token, &sets::SEARCH_VERBS)
            && !prose.is(token, &sets::ON_RECORD)
    };
    if tokens.iter().any(|token| limits(token) || acts(token)) {
        return None;
    }
    let ends = |token: &Token| {
        let verbal = Tags::BE.or(Tags::HAVE).or(Tags::DO).or(Tags::PREPOSITION).or(Tags::RELATIVE);
        let word = prose.word(token);
        let past = token.has(Tags::PAST) || word.ends_with("ed") || is_small(word);
        token.kind != TokenKind::Word || token.tags.any(verbal) || past
    };
    let phrase = rest.iter().take_while(|token| !ends(token)).take(4);
    let count = phrase.clone().count();
    // "no boats with a sail": of some of them.
    if rest.get(count).is_some_and(|next| prose.is(next, &sets::OF_WHICH)) {
        return None;
    }
    let stems: Vec<String> = phrase.map(|token| stem(prose.word(token))).collect();
    (!stems.is_empty() && stems.iter().any(|stem| !is_small(stem))).then_some(stems)
}

/// The stems of the label before a "none".
fn label(prose: &Prose<'_>, none: usize) -> Option<Vec<String>> {
    let sentence = prose.before_in_sentence(none);
    let mark = |token: &Token| token.is('*') || token.is('_');
    let mut before: Vec<&Token> = sentence.iter().filter(|token| !mark(token)).collect();
    if !before.pop()?.is(':') || before.len() > 3 || before.is_empty() {
        return None;
    }
    let stems = before.iter().filter(|token| token.kind == TokenKind::Word);
    Some(stems.map(|token| stem(prose.word(token))).collect())
        .filter(|s: &Vec<String>| !s.is_empty())
}

/// The result that has it, and what it has.
fn shown(facts: &Facts<'_>, turn: usize, things: &[String]) -> Option<(usize, String)> {
    let count = facts.record().count_before(turn);
    let mut latest = (0..count).rev().take(MOST_CALLS);
    let mut found = None;
    let clear = latest.any(|at| {
        let Some((execution, deed)) = facts.deed(at) else { return false };
        if deed.shell.is_some() || !deed.status().succeeded() {
            return false;
        }
        let Some(leaves) = Leaves::of(execution.text()) else { return false };
        match holds(execution, &leaves, things) {
            Some(Ok(held)) => {
                found.get_or_insert((at, held));
                false
            }
            // Another result says that there is none.
            Some(Err(())) => true,
            None => false,
        }
    });
    found.filter(|_| !clear)
}

/// Whether a result has the things, or has their place and nothing in it.
fn holds(
    execution: &Execution<'_>,
    leaves: &Leaves<'_>,
    things: &[String],
) -> Option<Result<String, ()>> {
    let nodes = leaves.nodes();
    let asked: BTreeSet<String> = stems(execution.tool()).filter(|word| !is_small(word)).collect();
    let noun = things.last()?;
    // The member of that name.
    let named: Vec<&Node<'_>> =
        nodes.iter().filter(|node| !node.name.is_empty() && is_named(node.name, things)).collect();
    if !named.is_empty() {
        let mut full = named.iter().filter_map(|node| full(node.leaf));
        let empty = named.iter().any(|node| full_or_empty(node.leaf) == Some(false));
        return if empty { Some(Err(())) } else { full.next().map(Ok) };
    }
    // The list that a tool of that name gave.
    if asked.contains(noun) || is_for(&asked, things) {
        let lists = || {
            nodes.iter().filter_map(|node| match node.leaf {
                Leaf::List(count) => Some(count),
                _ => None,
            })
        };
        let which: Vec<&String> =
            things.iter().filter(|thing| !asked.contains(*thing) && !is_small(thing)).collect();
        let longest = lists().max()?;
        if longest == 0 {
            return Some(Err(()));
        }
        // What is beside the name of the tool says which ones, or is another word for them.
        let listed = |thing: &&String| nodes.iter().any(|node| is_word(node.leaf, thing));
        return (which.len() < things.len() && which.iter().all(listed) || is_for(&asked, things))
            .then(|| Ok(format!("{longest} of them")));
    }
    // "nothing critical": the one word that a member has.
    let [thing] = things else {
        let first = things.first().filter(|thing| !is_small(thing))?;
        let listed = nodes.iter().find(|node| is_word(node.leaf, first))?;
        return is_about(nodes, noun).then(|| full(listed.leaf)).flatten().map(Ok);
    };
    nodes.iter().find(|node| is_word(node.leaf, thing)).and_then(|node| full(node.leaf)).map(Ok)
}

/// `find_duplicates`, for "no duplicate accounts".
fn is_for(asked: &BTreeSet<String>, things: &[String]) -> bool {
    things.first().is_some_and(|first| asked.contains(first))
}

/// Whether a list of the result has that name.
fn is_about(nodes: &[Node<'_>], noun: &str) -> bool {
    nodes.iter().any(|node| stems(node.name).any(|stem| stem == noun))
}

fn is_named(name: &str, things: &[String]) -> bool {
    let own: Vec<String> = stems(name).collect();
    own.last() == things.last() && own.iter().all(|stem| things.contains(stem))
}

/// Whether a value is this one word.
fn is_word(leaf: Leaf<'_>, thing: &str) -> bool {
    matches!(leaf, Leaf::Text(text) if !text.contains(' ') && stem(text) == *thing)
}

/// What a value has, unless it says that there is nothing.
fn full(leaf: Leaf<'_>) -> Option<String> {
    match (full_or_empty(leaf)?, leaf) {
        (true, Leaf::Text(text) | Leaf::Number(text)) => Some(text.to_owned()),
        (true, Leaf::List(count)) => Some(format!("{count} of them")),
        (true, Leaf::Flag(_)) => Some("true".to_owned()),
        _ => None,
    }
}

fn full_or_empty(leaf: Leaf<'_>) -> Option<bool> {
    let none = ["", "none", "no", "null", "n/a", "na", "-", "nil", "false", "unknown"];
    if let Leaf::Text(text) | Leaf::Number(text) = leaf
        && text.parse::<f64>().is_ok_and(|value| value == 0.0)
    {
        return Some(false);
    }
    match leaf {
        Leaf::Text(text) | Leaf::Number(text) => {
            Some(!none.contains(&text.trim().to_lowercase().as_str()))
        }
        Leaf::Flag(on) => Some(on),
        Leaf::Void => Some(false),
        Leaf::List(count) => Some(count > 0),
        Leaf::Object => None,
    }
}
