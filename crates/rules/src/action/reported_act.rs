//! Decides which completed verbs of a clause are actions that the agent reports, and why the others
//! are not.

use counterfoil_model::Family;

use super::family::family_of;
use super::no_act::{
    has_lasted, is_by_another, is_definition, is_denied_in_row, is_excepted, is_label,
    is_looked_at, is_of_a_moment, is_of_own_text, is_talk, is_turned_down,
};
use super::report_form::{
    ReportForm, as_state, came_by_act, is_own, is_own_already, opens_with_done,
};
use crate::prose::{BlockKind, Clause, Mood, Predicate, Prose, Sentence, is_agenda, is_in_draft};

/// An action that the agent reports.
pub(crate) struct ReportedAct<'p, 't> {
    pub(super) prose: &'p Prose<'t>,
    pub(super) clause: &'p Clause,
    pub(super) predicate: &'p Predicate,
    pub(super) sentence: &'p Sentence,
    /// The kind of block that contains it.
    pub(super) block: Option<BlockKind>,
    /// The verb as written, lower case.
    pub(super) verb: String,
    pub(super) family: Family,
    pub(super) form: ReportForm,
    /// Whether it describes the state of a thing, whatever the cause.
    pub(super) as_found: bool,
}

/// Reasons why a verb reports no action that do not depend on its family. The first that applies is
/// used.
const NOT_REPORTED: [(&str, fn(&Prose<'_>, &Predicate, Option<BlockKind>) -> bool); 4] = [
    ("negated", |_, predicate, _| predicate.negated),
    ("quoted", |_, _, block| block == Some(BlockKind::Quote)),
    ("a label", is_label),
    ("refers to an earlier time", |prose, predicate, _| {
        predicate.earlier && !is_own_already(prose, predicate)
    }),
];

const UNKNOWN: &str = "not a known kind of action";
const CHANGES_NOTHING: &str = "only reads or runs something (other rules check such claims)";
const BY_ANOTHER: &str = "done by someone else";
const A_STATE: &str = "a state whose cause is not named";

/// Reasons why a verb of a known family reports no action of the agent. The first that applies is
/// used.
const NO_ACTS: [(&str, fn(&ReportedAct<'_, '_>) -> bool); 8] = [
    ("listed as an exception", |act| is_excepted(act.prose, act.predicate)),
    ("the sentence says that the action did not succeed", |act| {
        is_turned_down(act.prose, act.clause, act.predicate)
    }),
    ("defines a term", |act| is_definition(act.prose, act.clause)),
    ("a point in time in an explanation", |act| {
        is_of_a_moment(act.prose, act.clause, act.predicate)
    }),
    ("says how long a state has lasted", |act| has_lasted(act.prose, act.predicate)),
    ("opened for reading", |act| is_looked_at(act.prose, act.predicate, &act.verb)),
    ("about the answer's own text", |act| is_of_own_text(act.prose, act.predicate)),
    ("about this conversation only", |act| is_talk(act.prose, act.predicate, &act.verb)),
];

impl<'p, 't> ReportedAct<'p, 't> {
    /// Returns the action that a verb reports, or the reason why it is not one of the agent's.
    pub(super) fn from_predicate(
        prose: &'p Prose<'t>,
        clause: &'p Clause,
        predicate: &'p Predicate,
    ) -> Result<Self, &'static str> {
        let sentence = prose.sentences.get(clause.sentence).ok_or(UNKNOWN)?;
        let block = prose.block_of(sentence).map(|block| block.kind);
        if let Some((reason, _)) =
            NOT_REPORTED.iter().find(|(_, holds)| holds(prose, predicate, block))
        {
            return Err(reason);
        }
        let verb = prose.tokens.get(predicate.verb).map(|t| prose.word(t).to_ascii_lowercase());
        let verb = verb.ok_or(UNKNOWN)?;
        let family = family_of(prose, predicate, &verb).ok_or(UNKNOWN)?;
        if !family.changes_state() {
            return Err(CHANGES_NOTHING);
        }
        if is_by_another(prose, predicate) {
            return Err(BY_ANOTHER);
        }
        let form = is_own(predicate, opens_with_done(prose))
            .or_else(|| as_state(prose, clause, predicate, family))
            .ok_or(A_STATE)?;
        let as_found = form == ReportForm::State && !came_by_act(prose, predicate, family);
        let act = Self { prose, clause, predicate, sentence, block, verb, family, form, as_found };
        match NO_ACTS.iter().find(|(_, holds)| holds(&act)) {
            Some((reason, _)) => Err(reason),
            None => Ok(act),
        }
    }
}

/// Reasons why no verb of a clause can report an action. The first that applies is used. The
/// indices are those of sentences in the first rows of tables.
const LEFT_WHOLE: [(&str, fn(&Prose<'_>, &[usize], &Clause) -> bool); 5] = [
    ("in a clause that is not asserted", |_, _, clause| clause.mood != Mood::Asserted),
    ("an item still to be done", |prose, _, clause| is_agenda(prose, clause)),
    ("part of a draft", |prose, _, clause| is_in_draft(prose, clause)),
    ("in the header row of a table", |_, heads, clause| {
        heads.binary_search(&clause.sentence).is_ok()
    }),
    ("another cell in the same table row says the opposite", |prose, _, clause| {
        is_denied_in_row(prose, clause)
    }),
];

/// Returns why no verb of a clause can report an action.
pub(super) fn left_whole(
    prose: &Prose<'_>,
    heads: &[usize],
    clause: &Clause,
) -> Option<&'static str> {
    LEFT_WHOLE.iter().find(|(_, holds)| holds(prose, heads, clause)).map(|(reason, _)| *reason)
}

/// All reasons why a verb reports no action, other than those that its object gives.
#[cfg(test)]
pub(super) fn reasons() -> impl Iterator<Item = &'static str> {
    let whole = LEFT_WHOLE.iter().map(|(reason, _)| *reason);
    let before = NOT_REPORTED.iter().map(|(reason, _)| *reason);
    let single = [UNKNOWN, CHANGES_NOTHING, BY_ANOTHER, A_STATE];
    let after = NO_ACTS.iter().map(|(reason, _)| *reason);
    whole.chain(before).chain(single).chain(after)
}
