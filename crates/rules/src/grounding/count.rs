//! So many of a kind, where a list has another number of them.

use std::collections::BTreeMap;

use super::assertion::{Assertion, clauses};
use super::session::parts;
use super::stem::stem;
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Prose, Token, TokenKind, sets};
use crate::values::{Leaf, Leaves, Node, each_figure, whole};

/// So many calls before an answer are looked at.
const MOST_CALLS: usize = 24;
/// The kind stands so many words behind the number at most.
const REACH: usize = 5;

/// A number of things that is another one in a list.
pub(crate) struct Miscounted<'p> {
    pub(crate) clause: &'p Clause,
    pub(crate) told: u64,
    pub(crate) kind: String,
    pub(crate) held: u64,
    pub(crate) at: usize,
}

/// How many there are of each kind, by the stem of its name.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Of a list of that name, or of a state of things in lists.
    of: BTreeMap<String, Vec<u64>>,
    /// Every number that results have as such.
    numbers: Vec<u64>,
    at: BTreeMap<String, usize>,
}

pub(crate) fn miscounted<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Option<Miscounted<'p>> {
    let prose = &answer.prose;
    let said = clauses(answer);
    let told = said.iter().filter(|said| said.asserted && !said.denies);
    let mut told = told.flat_map(|said| numbered(prose, said).into_iter().map(move |n| (said, n)));
    let first = told.next()?;
    let before = facts.before(answer.turn);
    let counts = before.counts.get_or_init(|| counts(facts, answer.turn));
    std::iter::once(first).chain(told).find_map(|(said, (number, kind))| {
        let held = counts.of.get(&kind)?;
        let sum: u64 = held.iter().sum();
        let right = held.contains(&number) || sum == number || counts.numbers.contains(&number);
        // Of some of a list there may be fewer.
        let state = kind.starts_with('=');
        let wrong = !right && (state || held.iter().all(|most| number > *most));
        let at = *counts.at.get(&kind)?;
        wrong.then(|| Miscounted {
            clause: said.clause,
            told: number,
            kind: said.word_of(kind.trim_start_matches('='), prose).to_owned(),
            held: sum,
            at,
        })
    })
}

/// The numbers of a clause, each with the stems behind it: as names of lists, and of states (`=`).
fn numbered(prose: &Prose<'_>, said: &Assertion<'_>) -> Vec<(u64, String)> {
    let tokens = prose.tokens(said.clause.tokens.clone());
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let plain = matches!(token.kind, TokenKind::Word | TokenKind::Number);
        let Some(number) = whole(prose.word(token)).filter(|_| plain) else { continue };
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let part = |t: &Token| {
            prose.is(t, &sets::ROUGHLY)
                || prose.is(t, &sets::NUMBERED)
                || prose.is(t, &sets::PART_OF)
        };
        // "Weststrasse 40"
        let named = before.is_some_and(|t| t.capital && t.tags.is_empty() && at > 1);
        if number < 2 || named || before.is_some_and(part) {
            continue;
        }
        let behind = tokens.iter().skip(at + 1).take(REACH);
        let ends = |t: &&Token| {
            matches!(t.kind, TokenKind::Symbol(_) | TokenKind::Number)
                || prose.is(t, &sets::PART_OF)
                || whole(prose.word(t)).is_some()
        };
        for token in behind.take_while(|t| !ends(t)) {
            let stem = stem(prose.word(token));
            found.push((number, stem.clone()));
            found.push((number, format!("={stem}")));
        }
    }
    found
}

fn counts(facts: &Facts<'_>, turn: usize) -> Counts {
    let mut counts = Counts::default();
    let count = facts.record().count_before(turn);
    for at in (0..count).rev().take(MOST_CALLS) {
        let Some(execution) = facts.record().executions().get(at) else { continue };
        each_figure(execution.text(), |figure| {
            if let Ok(number) = u64::try_from(figure.0 / 100) {
                counts.numbers.push(number);
            }
        });
        let Some(leaves) = facts.leaves(at) else { continue };
        counts.read(&leaves, at);
    }
    counts
}

impl Counts {
    fn read(&mut self, leaves: &Leaves<'_>, at: usize) {
        let nodes = leaves.nodes();
        let mut states: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for node in nodes {
            match node.leaf {
                Leaf::List(count) if !node.name.is_empty() && !is_any(node.name) => {
                    let name = parts(node.name).last().map(stem).unwrap_or_default();
                    self.of.entry(name.clone()).or_default().push(count as u64);
                    self.at.insert(name, at);
                }
                Leaf::Text(value) if is_state(value) && is_row(nodes, node.parent) => {
                    *states.entry((node.name, value)).or_default() += 1;
                }
                _ => {}
            }
        }
        for ((_, value), count) in states {
            let name = format!("={}", stem(value));
            self.of.entry(name.clone()).or_default().push(count);
            self.at.insert(name, at);
        }
    }
}

/// A list of whatever there is.
fn is_any(name: &str) -> bool {
    sets::ANY_LIST.list.contains(&name.to_lowercase().as_str())
}

/// One word in small letters: a state, a kind.
fn is_state(value: &str) -> bool {
    value.len() > 3 && value.chars().all(|c| c.is_ascii_lowercase())
}

/// Whether an object is an item of a list.
fn is_row(nodes: &[Node<'_>], object: usize) -> bool {
    let list = nodes.get(object).and_then(|node| nodes.get(node.parent));
    list.is_some_and(|list| matches!(list.leaf, Leaf::List(_)))
}
