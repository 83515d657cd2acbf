use counterfoil_model::{Family, Object, ObjectKind};

use super::each::each;
use super::extract::ActionClaim;
use super::instead::{another_failed, is_reason};
use super::made_good::is_made_good;
use super::matter::{is_act_of_sender, is_recorded_payment};
use super::objects::mentions;
use super::otherwise::{done_otherwise, may_be_written};
use super::search::{Found, Search, starts_something};
use super::state::{
    dated_in_record, is_word_of_record, made_by, marked_in_record, state_of_record,
};
use super::tie::{head, stem};
use crate::facts::{Deed, Execution, Facts, Families, of_name, vouching};

/// What the record says about a claimed action; executions by their place in the record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ActionVerdict {
    /// It shows a deed that may have been it.
    Possible(usize),
    /// It shows that it was tried and failed, or was refused.
    Failed(usize),
    /// It shows a deed of this kind, but on something else.
    Elsewhere(usize),
    /// It shows nothing of the kind, and would, had it happened.
    Absent,
    /// It cannot show it.
    NotCheckable,
}

/// How many of the latest results are searched for a state of record.
pub(super) const LOOK_BACK: usize = 200;

/// Judges a claimed action against what was done before it was claimed.
pub(crate) fn judge(facts: &Facts<'_>, said: &ActionClaim) -> ActionVerdict {
    let mut accepted = vouching(said.family);
    if said.verb.starts_with("buil") {
        accepted = accepted.with(Family::Build);
    }
    // "let them know by a task": with a task for them as well as with a message.
    if said.paraphrased {
        accepted = Families::changing();
    }
    if said.verb == "merged" {
        accepted = accepted.with(Family::Update);
    }
    if starts_something(said) {
        accepted = accepted.with(Family::Run);
    }
    let verdict = judge_as_one(facts, said, accepted);
    let ActionVerdict::Possible(at) = verdict else { return verdict };
    let failed = || another_failed(facts, said, accepted, at);
    let made = || made_by(facts, said, &identifying(&said.patients)).is_some();
    each(facts, said, accepted)
        .or_else(|| failed().then_some(ActionVerdict::NotCheckable))
        .filter(|_| !made())
        .unwrap_or(verdict)
}

/// The first of these that can tell decides: what was done before the claim, what was done in other
/// ways, what the record says, and last that it says nothing.
fn judge_as_one(facts: &Facts<'_>, said: &ActionClaim, accepted: Families) -> ActionVerdict {
    let search = Search::of(facts, said, accepted);
    let found = search.run();
    by_deeds(&search, &found)
        .or_else(|| done_otherwise(facts, said, facts.record().count_before(search.window)))
        .or_else(|| by_record(&search))
        .or_else(|| is_done_unseen(facts, said).then_some(ActionVerdict::NotCheckable))
        .unwrap_or_else(|| by_absence(&search, &found))
}

/// What the deeds say that may have been it.
fn by_deeds(search: &Search<'_, '_>, found: &Found) -> Option<ActionVerdict> {
    let Search { facts, said, .. } = *search;
    // "I've charged your card", where that failed, and the seats are held.
    let declined = found.declined.filter(|_| said.is_own());
    let held = |failed: &usize| found.loose.success_now.is_none_or(|at| at < *failed);
    if let Some(failed) = declined.filter(held) {
        return Some(ActionVerdict::Failed(failed));
    }
    let verdict = found.exact.verdict().or_else(|| found.loose.verdict())?;
    let ActionVerdict::Failed(at) = verdict else { return Some(verdict) };
    let nobody_knows = found.kept
        || is_word_of_record(facts, said)
        || is_reason_of_failure(facts, said, at)
        || is_made_good(facts, said, search.accepted, at);
    if nobody_knows {
        return Some(ActionVerdict::NotCheckable);
    }
    made_by(facts, said, &search.ids)
        .map(ActionVerdict::Possible)
        .or_else(|| done_otherwise(facts, said, at + 1))
        .or_else(|| may_be_written(facts, said, at + 1).then_some(ActionVerdict::NotCheckable))
        .or(Some(verdict))
}

/// What the record says of how things stand.
fn by_record(search: &Search<'_, '_>) -> Option<ActionVerdict> {
    let Search { facts, said, ref ids, .. } = *search;
    if said.as_found || is_act_of_sender(facts, said) {
        return Some(ActionVerdict::NotCheckable);
    }
    if receipt_vouches(facts, search.accepted, ids) {
        return Some(ActionVerdict::NotCheckable);
    }
    state_of_record(facts, said, ids)
        .or_else(|| dated_in_record(facts, said))
        .or_else(|| marked_in_record(facts, said, ids))
        .map(ActionVerdict::Possible)
}

/// Whether the record may not show who did it, or when: an agent that was asked to pass a message on, a
/// payment within another call.
fn is_done_unseen(facts: &Facts<'_>, said: &ActionClaim) -> bool {
    said.paraphrased && facts.delegates_before(said.claim.turn)
        || said.family == Family::Pay && is_recorded_payment(facts, said)
}

/// What it means that nothing of the kind is recorded.
fn by_absence(search: &Search<'_, '_>, found: &Found) -> ActionVerdict {
    let Search { facts, said, .. } = *search;
    let turn = said.claim.turn;
    let files: Vec<&Object> =
        search.ids.iter().copied().filter(|o| o.kind == ObjectKind::Path).collect();
    let elsewhere = found.exact.elsewhere.or(found.loose.elsewhere);
    if found.cut {
        return ActionVerdict::NotCheckable;
    }
    if let Some(elsewhere) = elsewhere.filter(|_| files.is_empty()) {
        return ActionVerdict::Elsewhere(elsewhere);
    }
    let edits = matches!(said.family, Family::Create | Family::Update | Family::Delete);
    // What the user pasted may have been changed in the message.
    let pasted = || search.count() == 0 && edits && facts.was_given_text(turn);
    let in_message = || (said.textual && search.ids.is_empty()) || pasted();
    let unclear = files.is_empty() && (found.passed_over || in_message());
    let shown = facts.is_complete_before(turn) && !facts.is_opaque_before(turn);
    match said.direct && shown && !unclear {
        true => ActionVerdict::Absent,
        false => ActionVerdict::NotCheckable,
    }
}

/// "LR-3 was approved today", where a call of another kind failed with these words: somebody else
/// did it.
fn is_reason_of_failure(facts: &Facts<'_>, said: &ActionClaim, at: usize) -> bool {
    let act = head(stem(&said.verb));
    let named = |deed: &Deed<'_>| deed.words().iter().any(|word| head(word) == act);
    facts.deed(at).is_some_and(|(e, deed)| !named(deed) && is_reason(said, e.text()))
}

/// Whether a receipt that came with the log vouches.
fn receipt_vouches(facts: &Facts<'_>, accepted: Families, ids: &[&Object]) -> bool {
    facts.transcript().receipts.iter().flatten().any(|receipt| {
        let result = || receipt.result.as_ref().map(ToString::to_string).unwrap_or_default();
        receipt.status.succeeded()
            && of_name(&receipt.tool).meets(accepted)
            && (ids.is_empty() || receipt.result.is_none() || {
                let result = result();
                ids.iter().any(|id| mentions(&result, id))
            })
    })
}

/// The things by which one object is told from another. `v3` is one of many.
pub(super) fn identifying(objects: &[Object]) -> Vec<&Object> {
    let tells = |o: &&Object| match o.kind {
        ObjectKind::Id => o.text.len() > 2,
        kind => kind == ObjectKind::Path,
    };
    objects.iter().filter(tells).collect()
}

pub(super) fn args<'t>(execution: &Execution<'t>) -> &'t str {
    execution.arguments()
}
