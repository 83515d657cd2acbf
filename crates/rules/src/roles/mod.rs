//! Role binding: a thing that a claim names is compared with what stands in the same role of the
//! call that did it. Where the call was made for another thing of the same kind, and nothing in it
//! or behind it speaks of the one that is named, the claim names the wrong one.
//!
//! Kinds come from the session itself, not from lists of words: two names are of one kind where the
//! record has both under one member's name, two numbers where the same word stands before them.

mod bound;
mod named;

pub(crate) use named::is_word_in;

use crate::action::{ActionClaim, ActionVerdict};
use crate::facts::{Answer, Deed, Execution, Facts};
use crate::prose::Clause;

use self::bound::Bound;
use self::named::{Kind, Named, named_in};

/// So many calls before a claim are looked at.
const MOST_CALLS: usize = 64;

/// A thing that a claim names, where the call was made for another one.
pub(crate) struct OtherTarget {
    /// As the claim has it.
    pub(crate) named: String,
    /// What stands in its role.
    pub(crate) instead: String,
    /// The call, by its place in the record.
    pub(crate) at: usize,
}

/// What a claim names that the call which did it was not made for.
pub(crate) fn other_target(
    facts: &Facts<'_>,
    said: &ActionClaim,
    verdict: ActionVerdict,
) -> Option<OtherTarget> {
    let ActionVerdict::Supported(Some(at)) = verdict else { return None };
    let (execution, deed) = facts.deed(at)?;
    let turn = said.claim.turn;
    if deed.shell.is_some() || deed.opaque || deed.delegates || !deed.changes() {
        return None;
    }
    if facts.runs_shell_before(turn) || facts.delegates_before(turn) {
        return None;
    }
    let answers = facts.answers();
    let answer = answers.get(answers.partition_point(|answer| answer.turn < turn))?;
    let clause = clause_of(answer, said)?;
    let bound = Bound::of(facts, at, execution);
    let named = named_in(&answer.prose, clause);
    let other = named.iter().find_map(|named| {
        let instead = instead(facts, answer, named, &bound, turn)?;
        Some(OtherTarget { named: named.text.clone(), instead, at })
    })?;
    Some(other)
}

/// The clause in which a claim stands.
fn clause_of<'a>(answer: &'a Answer<'_>, said: &ActionClaim) -> Option<&'a Clause> {
    let start = said.claim.span.start;
    let clauses = &answer.prose.clauses;
    let last = clauses.partition_point(|clause| clause.span.start <= start).checked_sub(1)?;
    clauses.get(last).filter(|clause| start < clause.span.end)
}

/// What stands in the role of a named thing, where the record shows that it is another one.
fn instead(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    named: &Named,
    bound: &Bound,
    turn: usize,
) -> Option<String> {
    if bound.speaks_of(named) || is_in_other_call(facts, named, turn) {
        return None;
    }
    let instead = match &named.kind {
        Kind::Numbered { head, .. } => bound.other_number(head)?,
        Kind::Environment(own) => bound.other_environment(*own)?,
        Kind::Name => bound.other_name(facts, named, turn)?,
    };
    // Whoever tells of both knows which is which.
    let told = match &named.kind {
        Kind::Numbered { .. } => {
            let tail = instead.rsplit(' ').next().unwrap_or_default();
            named::is_word_in(answer.prose.text, tail)
        }
        _ => named::mentions(answer.prose.text, &instead),
    };
    (!told).then_some(instead)
}

/// Whether another call that may have changed something speaks of it.
fn is_in_other_call(facts: &Facts<'_>, named: &Named, turn: usize) -> bool {
    let may = |deed: &Deed<'_>| deed.changes() || deed.families.is_empty();
    let speaks = |execution: &Execution<'_>| {
        let args = execution.arguments();
        named.stands_in(args) || named.stands_in(execution.text())
    };
    let calls = facts.deeds_before(turn).take(MOST_CALLS);
    calls.filter(|(_, deed)| may(deed)).any(|(execution, _)| speaks(execution))
}
