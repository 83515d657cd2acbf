//! What is told as finished, where the latest word of the record is that it is still open.

use std::collections::BTreeSet;

use super::assertion::{Assertion, clauses};
use super::lexis::{OPEN_STATES, WAITING, is_small};
use super::session::stems;
use super::stem::stem;
use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Clause, Prose, Tags, sets};
use crate::values::Leaf;

/// A longer text is no state.
const LONGEST: usize = 48;
/// So many states are read.
const MOST: usize = 64;
/// A label has fewer words.
const FEW_WORDS: usize = 6;

/// A clause that tells of an end that the record does not have yet.
pub(crate) struct Unfinished<'p> {
    pub(crate) clause: &'p Clause,
    /// The word of the clause, as it has it.
    pub(crate) told: String,
    /// The state of the record.
    pub(crate) state: String,
    /// The execution that has it.
    pub(crate) at: usize,
}

/// A state that the record has.
#[derive(Debug)]
pub(super) struct State {
    at: usize,
    value: String,
    /// The stems of its words that say that it is open.
    open: BTreeSet<String>,
    /// The stems of its other words, and of the name of its member.
    about: BTreeSet<String>,
    /// The stems of the name of its member.
    name: BTreeSet<String>,
    /// The words of the thing that is in it.
    thing: BTreeSet<String>,
}

pub(crate) fn unfinished<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Option<Unfinished<'p>> {
    let before = facts.before(answer.turn);
    let states = before.states.get_or_init(|| states(facts, answer.turn));
    if states.iter().all(|state| state.open.is_empty()) {
        return None;
    }
    let said = clauses(answer);
    states.iter().filter(|state| !state.open.is_empty()).find_map(|state| {
        if said.iter().any(|said| discloses(said, state)) {
            return None;
        }
        said.iter().filter(|told| told.asserted && !told.denies).find_map(|told| {
            let word = told.stems.iter().find(|(stem, token)| {
                is_told_finished(&answer.prose, told.clause, *token)
                    && !states
                        .iter()
                        .any(|other| other.open.is_empty() && other.about.contains(stem))
            });
            let (word, _) = word?;
            let row = row_of(&answer.prose, told.clause);
            let same = said.iter().filter(|near| {
                near.clause.sentence == told.clause.sentence
                    || row.is_some() && row_of(&answer.prose, near.clause) == row
            });
            let speaks = |near: &Assertion<'_>| {
                near.stems
                    .iter()
                    .any(|(stem, _)| state.thing.contains(stem) || state.name.contains(stem))
            };
            let of_it = state.about.contains(word) || same.into_iter().any(speaks);
            of_it.then(|| Unfinished {
                clause: told.clause,
                told: told.word_of(word, &answer.prose).to_owned(),
                state: state.value.clone(),
                at: state.at,
            })
        })
    })
}

/// Whether a word says that something is over: "approved", "is live".
fn is_told_finished(prose: &Prose<'_>, clause: &Clause, at: usize) -> bool {
    let Some(token) = prose.tokens.get(at) else { return false };
    let tokens = prose.tokens(clause.tokens.start..at);
    let verbal = Tags::BE.or(Tags::HAVE).or(Tags::BEEN);
    let is = tokens.iter().any(|token| token.tags.any(verbal));
    let plain = || clause.tokens.len() < FEW_WORDS || tokens.iter().any(|t| t.is(':'));
    !token.quoted
        && !clause.tags.any(Tags::FAILURE.or(Tags::TROUBLE))
        && (prose.is(token, &sets::FINISHED) && (is || plain())
            || prose.is(token, &sets::GOING) && is)
}

/// Whether a clause tells that it is open.
fn discloses(said: &Assertion<'_>, state: &State) -> bool {
    said.stems.iter().any(|(stem, _)| state.open.contains(stem) || WAITING.contains(stem))
}

/// The latest states that the results before a message have of each thing.
fn states(facts: &Facts<'_>, turn: usize) -> Vec<State> {
    let since = facts.request_before(turn);
    let mut states = Vec::new();
    let mut known: Vec<(String, String)> = Vec::new();
    for at in (0..facts.record().count_before(turn)).rev() {
        let Some((execution, _)) = facts.deed(at) else { continue };
        if execution.called_at < since || states.len() > MOST {
            break;
        }
        let Some(leaves) = facts.leaves(at) else { continue };
        let args = execution.arguments();
        let (nodes, children) = (leaves.nodes(), leaves.by_parent());
        for node in nodes {
            let Leaf::Text(value) = node.leaf else { continue };
            if !is_state(node.name) || value.len() > LONGEST {
                continue;
            }
            if states.len() > MOST {
                break;
            }
            let own = children.get(node.parent).into_iter().flatten();
            let siblings = own.filter_map(|at| nodes.get(*at));
            let first = siblings.clone().find_map(|other| match other.leaf {
                Leaf::Text(id) | Leaf::Number(id) if other.name != node.name => Some(id),
                _ => None,
            });
            let key = (first.unwrap_or_default().to_owned(), node.name.to_owned());
            if known.contains(&key) {
                continue;
            }
            known.push(key);
            let mut thing: BTreeSet<String> = telling(args);
            for other in siblings {
                if let Leaf::Text(value) | Leaf::Number(value) = other.leaf
                    && other.name != node.name
                {
                    thing.extend(telling(value));
                }
            }
            let words: Vec<String> = stems(value).collect();
            let open = words.iter().filter(|w| OPEN_STATES.contains(*w)).cloned().collect();
            let name: BTreeSet<String> = stems(node.name).collect();
            let mut about = name.clone();
            about.extend(words.iter().filter(|w| !is_small(w)).flat_map(|word| {
                let plain = word.strip_prefix("un").map(str::to_owned);
                std::iter::once(word.clone()).chain(plain)
            }));
            states.push(State { at, value: value.to_owned(), open, about, name, thing });
        }
    }
    states
}

/// The row of a table in which a clause stands.
fn row_of(prose: &Prose<'_>, clause: &Clause) -> Option<usize> {
    match prose.block_of(prose.sentences.get(clause.sentence)?)?.kind {
        BlockKind::Cell { row, .. } => Some(row),
        _ => None,
    }
}

/// Whether a member of this name has a state.
pub(super) fn is_state(name: &str) -> bool {
    let last = super::session::parts(name).last().unwrap_or_default();
    let states = ["status", "state", "stage", "phase", "conclusion"];
    states.iter().any(|state| last.eq_ignore_ascii_case(state))
}

/// The words of a text that tell things apart: with a capital or a digit, or parts of a name in code.
fn telling(text: &str) -> BTreeSet<String> {
    const FEW: usize = 3;
    let marked = |c: char| c.is_uppercase() || c.is_ascii_digit();
    let runs = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/')));
    let inner = |run: &str| run.trim_matches(['.', '-', '_', '/']).contains(['.', '-', '_', '/']);
    let words = runs.flat_map(|run| {
        let named = inner(run);
        let parts = run.split(|c: char| !c.is_alphanumeric());
        parts.filter(move |part| {
            named && part.len() > FEW || part.len() >= FEW && part.contains(marked)
        })
    });
    words.map(stem).collect()
}
