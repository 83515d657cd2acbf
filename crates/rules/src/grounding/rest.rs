//! Things of a list that are all told as done, where the calls did only some of them.

use std::collections::BTreeSet;

use super::assertion::{Assertion, clauses};
use crate::facts::{Answer, Deed, Facts};
use crate::prose::{Clause, Prose, TokenKind, sets};
use crate::values::{Leaf, Leaves, whole};

/// So many calls before an answer are looked at.
const MOST_CALLS: usize = 48;
/// A longer list nobody works through.
const MOST: usize = 40;

/// A tool that changes something, and the values that it was given.
pub(super) type Used = (String, BTreeSet<String>);

/// A list of which a tool was used for some items.
#[derive(Debug)]
pub(super) struct Begun {
    tool: String,
    done: usize,
    of: usize,
    /// The first that was left out.
    left: String,
    /// The execution that has the list.
    at: usize,
}

/// What was left out of a list.
pub(crate) struct Rest<'p> {
    pub(crate) clause: &'p Clause,
    pub(crate) tool: String,
    pub(crate) done: usize,
    pub(crate) of: usize,
    /// The first that was left out.
    pub(crate) left: String,
    /// The execution that has the list.
    pub(crate) at: usize,
}

pub(crate) fn rest<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Option<Rest<'p>> {
    if facts.runs_shell_before(answer.turn) || facts.delegates_before(answer.turn) {
        return None;
    }
    let prose = &answer.prose;
    let said = clauses(answer);
    let all: Vec<&Assertion<'p>> = said
        .iter()
        .filter(|said| said.asserted && !said.denies && is_of_all(prose, said))
        .collect();
    if all.is_empty() || said.iter().any(|said| excepts(prose, said)) {
        return None;
    }
    let since = facts.request_before(answer.turn);
    let count = facts.record().count_before(answer.turn);
    let before = facts.before(answer.turn);
    let used = before.used.get_or_init(|| used(facts, since, count));
    let begun = before.begun.get_or_init(|| {
        (0..count).rev().take(MOST_CALLS).flat_map(|at| begun(facts, at, used)).collect()
    });
    begun.iter().find_map(|begun| {
        let Begun { tool, done, of, left, at } = begun;
        let told = |said: &&&Assertion<'p>| counts(prose, said, *of) && !counts(prose, said, *done);
        let clause = all.iter().find(told)?.clause;
        let (tool, left) = (tool.clone(), left.clone());
        Some(Rest { clause, tool, done: *done, of: *of, left, at: *at })
    })
}

/// The lists of a result of which a tool was used for some items and not for others.
fn begun(facts: &Facts<'_>, at: usize, used: &[Used]) -> Vec<Begun> {
    let looked = facts.deed(at).is_some_and(|(_, deed)| !deed.changes());
    let leaves = facts.leaves(at).filter(|_| looked);
    let lists = leaves.iter().flat_map(|leaves| lists(leaves));
    let begun = lists.filter_map(|items| {
        let (tool, left) = left(&items, used)?;
        let done = items.len() - left.len();
        Some(Begun { tool, done, of: items.len(), left: left.first()?.last()?.clone(), at })
    });
    begun.collect()
}

/// "all five", "every one of them".
fn is_of_all(prose: &Prose<'_>, said: &Assertion<'_>) -> bool {
    let tokens = prose.tokens(said.clause.tokens.clone());
    let in_all = |at: usize| {
        at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|t| prose.is_word(t, "in"))
    };
    let mut tokens = tokens.iter().enumerate();
    tokens.any(|(at, token)| prose.is(token, &sets::ALL_OF_THEM) && !in_all(at))
}

fn excepts(prose: &Prose<'_>, said: &Assertion<'_>) -> bool {
    let tokens = prose.tokens(said.clause.tokens.clone());
    tokens.iter().any(|token| prose.is(token, &sets::EXCEPTING))
}

/// Whether the sentence of a clause, or the one before it, tells that there are so many.
fn counts(prose: &Prose<'_>, said: &Assertion<'_>, count: usize) -> bool {
    let sentence = said.clause.sentence;
    (sentence.saturating_sub(1)..=sentence).any(|sentence| {
        let tokens = prose.sentences.get(sentence).map(|s| prose.tokens(s.tokens.clone()));
        let tokens = tokens.unwrap_or_default();
        tokens.iter().enumerate().any(|(at, token)| {
            let plain = matches!(token.kind, TokenKind::Word | TokenKind::Number);
            let next = tokens.get(at + 1).map(|next| prose.word(next));
            let measure = next.is_some_and(|word| sets::SPANS.list.contains(&word));
            let both = count == 2 && prose.is_word(token, "both");
            both || plain && !measure && whole(prose.word(token)).is_some_and(|n| n == count as u64)
        })
    })
}

/// The values that each changing tool was given.
fn used(facts: &Facts<'_>, since: usize, count: usize) -> Vec<Used> {
    let mut used: Vec<Used> = Vec::new();
    let may_change = |deed: &Deed<'_>| deed.changes() || deed.families.is_empty();
    for at in 0..count {
        let Some((execution, deed)) = facts.deed(at) else { continue };
        if execution.called_at < since || !may_change(deed) {
            continue;
        }
        let args = execution.arguments();
        let values = Leaves::of(args).map(|leaves| values(&leaves, 0)).unwrap_or_default();
        match used.iter_mut().find(|(tool, _)| tool == execution.tool()) {
            Some((_, known)) => known.extend(values),
            None => used.push((execution.tool().to_owned(), values.into_iter().collect())),
        }
    }
    used
}

/// The lists of a result: of each item its values.
fn lists(leaves: &Leaves<'_>) -> Vec<Vec<Vec<String>>> {
    let nodes = leaves.nodes();
    let children = leaves.by_parent();
    let of = |(at, _): (usize, &_)| {
        let own = children.get(at).into_iter().flatten();
        let items = own.filter_map(|place| Some((*place, nodes.get(*place)?)));
        let read = |(place, node): (usize, &crate::values::Node<'_>)| match node.leaf {
            Leaf::Text(value) | Leaf::Number(value) => vec![value.to_owned()],
            _ => values(leaves, place),
        };
        items.map(read).filter(|item: &Vec<String>| !item.is_empty()).collect::<Vec<_>>()
    };
    let few = |leaf: Leaf<'_>| matches!(leaf, Leaf::List(count) if (3..=MOST).contains(&count));
    let lists = nodes.iter().enumerate().filter(|(_, node)| few(node.leaf));
    lists.map(of).filter(|items| (3..=MOST).contains(&items.len())).collect()
}

fn values(leaves: &Leaves<'_>, at: usize) -> Vec<String> {
    let leaf = |leaf: Leaf<'_>| match leaf {
        Leaf::Text(value) | Leaf::Number(value) if value.len() < 80 => Some(value.to_owned()),
        _ => None,
    };
    leaves.within(at).filter_map(|(_, node)| leaf(node.leaf)).collect()
}

/// The tool that was used for some of the items and not for the others, with those.
fn left<'i>(items: &'i [Vec<String>], used: &[Used]) -> Option<(String, Vec<&'i Vec<String>>)> {
    // What all items have tells none of them.
    let own = |item: &[String], value: &String| {
        !items.iter().any(|other| other.as_slice() != item && other.contains(value))
    };
    used.iter().find_map(|(tool, values)| {
        let done = |item: &Vec<String>| {
            item.iter().any(|value| values.contains(value) && own(item, value))
        };
        let left: Vec<&Vec<String>> = items.iter().filter(|item| !done(item)).collect();
        let some = items.len() - left.len();
        (some >= 2 && !left.is_empty()).then(|| (tool.clone(), left))
    })
}
