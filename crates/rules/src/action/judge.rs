//! Judges a claimed action against the record.

use counterfoil_model::{Family, Object, ObjectKind};

use super::elsewhere::{
    is_in_history, is_indicated, is_seen_there, may_be_automatic, may_be_meant, may_be_written,
    receipt_vouches, was_there_before,
};
use super::extract::{ActionClaim, action_claims};
use super::objects::mentions;
use super::search::{Found, Search};
use super::several::failed_of_several;
use super::unseen::{Mentioned, unseen_object};
use super::verdict::{ActionVerdict, NOT_OWN};
use super::words::{head, stem};
use crate::facts::{Facts, kindred, vouching};
use crate::values::AnyCase;

/// All claims of completed side effects, judged once for all rules.
pub(crate) fn actions<'f>(facts: &'f Facts<'_>) -> &'f [(ActionClaim, ActionVerdict)] {
    facts.judged().actions.get_or_init(|| {
        let claims: Vec<ActionClaim> = facts.answers().iter().flat_map(action_claims).collect();
        let mentioned = Mentioned::new(facts, &claims);
        let judged = claims.into_iter().map(|claimed| {
            let verdict = match unseen_object(facts, &claimed, &mentioned) {
                Some(object) => ActionVerdict::Unseen(object),
                None => judge(facts, &claimed),
            };
            let unproven = matches!(
                verdict,
                ActionVerdict::Absent | ActionVerdict::Unseen(_) | ActionVerdict::Elsewhere(_)
            );
            let verdict = match claimed.earlier && unproven {
                true => ActionVerdict::NotCheckable("the sentence may be about an earlier time"),
                false => verdict,
            };
            (claimed, verdict)
        });
        judged.collect()
    })
}

/// Judges a claimed action against what was done before it. The first of these that yields an
/// answer decides: deeds of its kind, other evidence in the record, and finally the absence of any.
fn judge(facts: &Facts<'_>, claimed: &ActionClaim) -> ActionVerdict {
    let search = Search::new(facts, claimed, vouching(claimed.family));
    let found = search.run();
    // The failure of another kind of action says little about this one.
    let loose = || match found.loose.verdict() {
        Some(ActionVerdict::Failed(at)) if !is_of_its_kind(&search, at) => {
            Some(ActionVerdict::NotCheckable("a call of another kind failed"))
        }
        verdict => verdict,
    };
    match found.exact.verdict().or_else(loose) {
        Some(ActionVerdict::Failed(at)) => {
            // "It was paid out" may be about any time, unless the failed call was for exactly that.
            let named =
                || facts.deed(at).is_some_and(|(_, deed)| search.is_named_after_thing(deed));
            let unclear = claimed.past && search.ids.is_empty() && !named()
                || is_reason(&search, at)
                || is_indicated(&search, if claimed.past { 0 } else { at + 1 })
                || may_be_written(&search, at + 1)
                || may_be_meant(&search, Some(at));
            match unclear {
                true => {
                    ActionVerdict::NotCheckable("a call failed, but a later call may have done it")
                }
                false => ActionVerdict::Failed(at),
            }
        }
        Some(possible) => failed_of_several(&search).map_or(possible, ActionVerdict::Failed),
        None => match doubt(&search, &found) {
            Some(reason) => ActionVerdict::NotCheckable(reason),
            None => by_absence(&search, &found),
        },
    }
}

/// Why the action may have been done although no call of its kind is recorded.
fn doubt(search: &Search<'_, '_>, found: &Found) -> Option<&'static str> {
    if search.claimed.as_found || was_there_before(search) {
        Some("this may already have been the case")
    } else if may_be_meant(search, None) {
        Some("a call of another kind may have done it")
    } else if found.cut {
        Some("there are too many earlier calls to check, and one may have done it")
    } else if is_indicated(search, 0) {
        Some("a result mentions it, but no call did it")
    } else if may_be_automatic(search) {
        Some("the system may have sent it when a call succeeded")
    } else if is_seen_there(search) {
        Some("a result shows the state that the claim describes")
    } else if is_in_history(search) {
        Some("a look-up that the agent names shows it")
    } else if receipt_vouches(search) {
        Some("a receipt mentions it, but no call did it")
    } else {
        None
    }
}

/// Whether the failed call was of the claimed kind, or is named after the object.
fn is_of_its_kind(search: &Search<'_, '_>, at: usize) -> bool {
    let claimed = search.claimed;
    search.facts.deed(at).is_some_and(|(execution, deed)| {
        let names_id = || search.ids.iter().any(|id| mentions(execution.arguments(), id));
        if deed.edits_files() {
            // A file edit is described by the words of its content.
            let speaks =
                |thing: &String| AnyCase::new(head(thing)).occurs_in(execution.arguments());
            let code = |object: &Object| mentions(execution.arguments(), object);
            let nothing = claimed.things.is_empty() && claimed.claim.objects.is_empty();
            let edits = matches!(claimed.family, Family::Create | Family::Update | Family::Delete);
            return edits
                && (nothing
                    || names_id()
                    || claimed.things.iter().any(speaks)
                    || claimed.claim.objects.iter().any(code));
        }
        let named = |word: &String| {
            let mut things = claimed.things.iter().map(String::as_str).chain([stem(&claimed.verb)]);
            word.len() > 3 && things.any(|thing| head(thing) == head(word))
        };
        deed.families.meets(kindred(claimed.family))
            || deed.words().iter().any(named)
            || deed.shell.is_none() && names_id()
    })
}

/// "LR-3 was approved today", when a call failed with these words: someone else did it.
fn is_reason(search: &Search<'_, '_>, failed: usize) -> bool {
    let claimed = search.claimed;
    let failure = search.facts.deed(failed).map_or("", |(execution, _)| execution.text());
    let reports = |been: &str| AnyCase::new(&format!("{been} {}", claimed.verb)).occurs_in(failure);
    let state = || claimed.state && AnyCase::new(&claimed.verb).occurs_in(failure);
    !claimed.is_own()
        && (state() || ["was", "were", "been", "is", "already"].into_iter().any(reports))
}

/// The verdict if nothing of the kind is recorded.
fn by_absence(search: &Search<'_, '_>, found: &Found) -> ActionVerdict {
    let Search { facts, claimed, .. } = *search;
    let turn = claimed.claim.turn;
    let names_files = search.ids.iter().any(|o| o.kind == ObjectKind::Path);
    let elsewhere = found.exact.elsewhere.or(found.loose.elsewhere);
    if let Some(elsewhere) = elsewhere.filter(|_| !names_files) {
        return ActionVerdict::Elsewhere(elsewhere);
    }
    let edits = matches!(claimed.family, Family::Create | Family::Update | Family::Delete);
    // Text that the user pasted may have been changed in the message itself.
    let pasted = || search.count() == 0 && edits && facts.was_given_text(turn);
    let in_message = || (claimed.textual && search.ids.is_empty()) || pasted();
    let reasons = [
        (!claimed.direct, NOT_OWN),
        (!facts.is_complete_before(turn), "the log may lack calls or results"),
        (facts.is_opaque_before(turn), "a call with unknown effects may have done it"),
        (!names_files && in_message(), "the claim may be about the text of the answer"),
    ];
    let reason = reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason));
    reason.map_or(ActionVerdict::Absent, ActionVerdict::NotCheckable)
}
