//! An order of two calls that is told the other way round.

use std::collections::BTreeSet;

use counterfoil_model::Family;

use super::assertion::{Assertion, clauses};
use super::lexis::{is_same_thing, is_small};
use super::session::stems;
use crate::facts::{Answer, Facts, Families};
use crate::prose::{Clause, Prose, Tags, TokenKind, Words, sets};

/// So many calls are told apart.
const MOST_CALLS: usize = 24;

/// A clause that tells of the second call as the first.
pub(crate) struct Reversed<'p> {
    pub(crate) clause: &'p Clause,
    /// What is told as the first, and as the second.
    pub(crate) first: usize,
    pub(crate) second: usize,
}

/// A call by the words that only it has.
#[derive(Debug)]
pub(super) struct Step {
    at: usize,
    tool: String,
    words: BTreeSet<String>,
    changes: bool,
}

pub(crate) fn reversed<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Option<Reversed<'p>> {
    let prose = &answer.prose;
    let said = clauses(answer);
    let leads: Vec<(usize, Link)> =
        said.iter().enumerate().filter_map(|(at, said)| Some((at, link(prose, said)?))).collect();
    if leads.is_empty() || facts.delegates_before(answer.turn) {
        return None;
    }
    let before = facts.before(answer.turn);
    let steps = before.steps.get_or_init(|| steps(facts, answer.turn));
    if !(2..=MOST_CALLS).contains(&steps.len()) {
        return None;
    }
    leads.into_iter().find_map(|(at, link)| {
        let said_at = said.get(at)?;
        // Of what the speaker did, in the order in which they did it.
        let main = match link {
            Link::First => said_at,
            Link::Follows => said.get(at.checked_sub(1)?)?,
        };
        let told = prose.tokens(main.clause.tokens.clone());
        let bare = told.iter().take(2).any(|token| token.tags.any(Tags::COMPLETED));
        if !(main.by_agent || bare) || !main.asserted || main.denies {
            return None;
        }
        let (first, second) = match link {
            // "I checked it first": before all that changed anything.
            Link::First => {
                let first = best(steps, &said, at)?;
                let earliest = steps.iter().find(|step| step.changes && step.at != first.at)?;
                (first, earliest)
            }
            // "I checked it, and only then booked it", "I checked it before I booked it".
            Link::Follows => (best(steps, &said, at.checked_sub(1)?)?, best(steps, &said, at)?),
        };
        (first.at > second.at && first.tool != second.tool).then_some(Reversed {
            clause: said_at.clause,
            first: first.at,
            second: second.at,
        })
    })
}

/// How a clause tells when something was done.
enum Link {
    /// Before everything else.
    First,
    /// After what the clause before it tells.
    Follows,
}

fn link(prose: &Prose<'_>, said: &Assertion<'_>) -> Option<Link> {
    let tokens = prose.tokens(said.clause.tokens.clone());
    let leads = |words: &Words| tokens.iter().take(4).any(|token| prose.is(token, words));
    if leads(&sets::BEFORE) && tokens.len() > 1 || leads(&sets::THEN) {
        return Some(Link::Follows);
    }
    let first = tokens.iter().position(|token| prose.is(token, &sets::FIRST))?;
    // "the first commit" is none.
    let mut behind = tokens.get(first + 1..)?.iter();
    let alone = behind.next().is_none_or(|next| {
        matches!(next.kind, TokenKind::Symbol(_)) || next.tags.any(Tags::AGENT.or(Tags::COMPLETED))
    });
    (said.asserted && !said.denies && alone).then_some(Link::First)
}

/// The calls of the session, each by the words that no other has.
fn steps(facts: &Facts<'_>, turn: usize) -> Vec<Step> {
    let count = facts.record().count_before(turn);
    let since = facts.request_before(turn);
    let looks = Families::of(&[Family::Search, Family::Read, Family::Compute]);
    let mut steps: Vec<Step> = (0..count)
        .filter_map(|at| {
            let (execution, deed) = facts.deed(at).filter(|(e, _)| e.called_at >= since)?;
            let description =
                facts.transcript().catalog.get(execution.tool()).map_or("", |t| &*t.description);
            let args = execution.arguments();
            let words = stems(execution.tool()).chain(stems(description)).chain(stems(args));
            let words = words.filter(|word| !is_small(word)).collect();
            let tool = execution.tool().to_owned();
            Some(Step { at, tool, words, changes: deed.changes() || !deed.families.meets(looks) })
        })
        .collect();
    let all: Vec<BTreeSet<String>> = steps.iter().map(|step| step.words.clone()).collect();
    for (nth, step) in steps.iter_mut().enumerate() {
        let others = all.iter().enumerate().filter(|(other, _)| *other != nth);
        let others: BTreeSet<&String> = others.flat_map(|(_, words)| words).collect();
        step.words.retain(|word| !others.contains(word));
    }
    steps
}

/// The one call of which a clause tells more than of any other.
fn best<'s>(steps: &'s [Step], said: &[Assertion<'_>], at: usize) -> Option<&'s Step> {
    let said = said.get(at)?;
    let score = |step: &Step| {
        let told = |word: &&String| said.stems.iter().any(|(stem, _)| is_same_thing(word, stem));
        step.words.iter().filter(told).count()
    };
    let best = steps.iter().max_by_key(|step| score(step))?;
    let most = score(best);
    let only = steps.iter().filter(|step| score(step) == most).count() == 1;
    (most > 0 && only).then_some(best)
}
