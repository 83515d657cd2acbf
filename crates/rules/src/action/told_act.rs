//! Which completed verbs of a clause are acts that the agent tells of, and why the others are not.

use counterfoil_model::Family;

use super::extract::{
    Told, came_by_act, is_own, is_own_already, is_settled, opens_with_done, stands,
};
use super::family::family_of;
use super::no_act::{
    has_lasted, is_about_a_kind, is_aside, is_attribute, is_by_another, is_consequence,
    is_definition, is_denied_in_row, is_excepted, is_heading, is_kept_output, is_label,
    is_looked_at, is_of_a_moment, is_ready, is_talk, is_turned_down,
};
use crate::prose::{
    Action, BlockKind, Clause, Language, Mood, Predicate, Prose, Sentence, is_agenda,
};

/// An act that the agent tells of.
pub(crate) struct ToldAct<'p, 't> {
    pub(super) prose: &'p Prose<'t>,
    pub(super) clause: &'p Clause,
    pub(super) predicate: &'p Predicate,
    pub(super) sentence: &'p Sentence,
    /// What kind of text it stands in.
    pub(super) block: Option<BlockKind>,
    /// The verb as written, lower case.
    pub(super) verb: String,
    pub(super) family: Family,
    pub(super) told: Told,
    /// Says how a thing is found, whoever brought that about.
    pub(super) as_found: bool,
}

/// Why a verb with these words around it tells of no act of the agent: the first that holds speaks.
pub(crate) const NO_ACTS: [(&str, fn(&ToldAct<'_, '_>) -> bool); 14] = [
    ("among what is left out", |act| is_excepted(act.prose, act.predicate)),
    ("follows from something else", |act| is_consequence(act.prose, act.clause, act.predicate)),
    ("was turned down, as it says", |act| is_turned_down(act.prose, act.clause, act.predicate)),
    ("says what a word stands for", |act| is_definition(act.prose, act.clause)),
    ("heads what is said behind it", |act| is_heading(act.prose, act.clause, act.predicate)),
    ("of a command's output", |act| is_kept_output(act.prose, act.predicate, act.family)),
    ("says what a thing is like", |act| is_attribute(act.prose, act.predicate)),
    ("of things of a kind", |act| is_about_a_kind(act.prose, act.clause, act.predicate)),
    ("of a moment in an explanation", |act| is_of_a_moment(act.prose, act.clause, act.predicate)),
    ("in passing, and of nobody", |act| is_aside(act.prose, act.predicate)),
    ("ready to be done", |act| is_ready(act.prose, act.predicate)),
    ("of this conversation only", |act| is_talk(act.prose, act.predicate, &act.verb)),
    ("how long something has been so", |act| has_lasted(act.prose, act.predicate)),
    ("opened to be read", |act| is_looked_at(act.prose, act.predicate, &act.verb)),
];

impl<'p, 't> ToldAct<'p, 't> {
    /// What a verb tells of; otherwise why it is no act of the agent.
    pub(super) fn of(
        prose: &'p Prose<'t>,
        clause: &'p Clause,
        predicate: &'p Predicate,
    ) -> Result<Self, &'static str> {
        let sentence = prose.sentences.get(clause.sentence).ok_or("in no sentence")?;
        let block = prose.block_of(sentence).map(|block| block.kind);
        if predicate.negated {
            return Err("said not to be done");
        }
        if block == Some(BlockKind::Quote) {
            return Err("quoted");
        }
        if is_label(prose, predicate, block) {
            return Err("a label");
        }
        let settled = predicate.earlier && is_settled(prose, predicate);
        if predicate.earlier && !settled && !is_own_already(prose, predicate) {
            return Err("of an earlier time");
        }
        let verb = prose.tokens.get(predicate.verb).map(|t| prose.word(t).to_ascii_lowercase());
        let verb = verb.ok_or("no verb")?;
        let family = family_of(prose, predicate, &verb).ok_or("of no known kind of act")?;
        if !family.changes_state() {
            return Err("changes nothing: rules about looking, running and checking ask of it");
        }
        if is_by_another(prose, predicate) {
            return Err("done by somebody else");
        }
        let told = is_own(predicate, opens_with_done(prose))
            .or_else(|| stands(prose, clause, predicate, family))
            .ok_or("how things are, and nobody is said to have brought it about")?;
        let as_found = settled || (told == Told::State && !came_by_act(prose, predicate, family));
        let act = Self { prose, clause, predicate, sentence, block, verb, family, told, as_found };
        match NO_ACTS.iter().find(|(_, holds)| holds(&act)) {
            Some((reason, _)) => Err(reason),
            None => Ok(act),
        }
    }
}

/// Why no verb of a clause is asked whether it tells of an act.
pub(super) fn left_whole(prose: &Prose<'_>, clause: &Clause) -> Option<&'static str> {
    if clause.mood != Mood::Asserted {
        return Some("in a clause that is not asserted");
    }
    if is_agenda(prose, clause) {
        return Some("to be done");
    }
    is_denied_in_row(prose, clause).then_some("denied in its row")
}

/// The completed verbs of a clause as they are written, with the kind of act that each tells of;
/// otherwise why it tells of none.
pub(crate) fn told_acts(
    prose: &Prose<'_>,
    clause: &Clause,
) -> Vec<(String, Result<Family, &'static str>)> {
    let read = |predicate: &Predicate| {
        if let Some(reason) = left_whole(prose, clause) {
            return Err(reason);
        }
        match prose.language_of(clause) {
            Language::English => ToldAct::of(prose, clause, predicate).map(|act| act.family),
            _ => match predicate.action {
                Action::Of(family) if family.changes_state() => Ok(family),
                _ => Err("of no known kind of act"),
            },
        }
    };
    let of = |predicate: &Predicate| {
        let verb = prose.tokens.get(predicate.verb)?;
        Some((prose.word(verb).to_owned(), read(predicate)))
    };
    clause.predicates.iter().filter_map(of).collect()
}
