//! Calls that failed beside those that worked.

use counterfoil_model::Object;

use super::extract::ActionClaim;
use super::judge::args;
use super::objects::mentions;
use super::tie::{head, stem};
use crate::facts::{Deed, Facts, Families};
use crate::values::holds;

/// So many of the latest executions are looked at.
const LOOK_BACK: usize = 64;

/// Whether a call that may have been for the act did not come out well, beside the one at `done` that
/// seems to vouch for it: one that alone was given what the claim names, or that is named after the
/// act and was not made good.
pub(super) fn another_failed(
    facts: &Facts<'_>,
    said: &ActionClaim,
    accepted: Families,
    done: usize,
) -> bool {
    let Some((vouches, worked)) = facts.deed(done) else { return false };
    let count = facts.record().count_before(said.claim.turn);
    let recent = || (count.saturating_sub(LOOK_BACK)..count).filter_map(|at| facts.deed(at));
    let mut failed = recent().filter(|(execution, deed)| {
        let meant = deed.families.meets(accepted) || deed.tool == worked.tool;
        let ended = execution.outcome.is_some() && !deed.is_note;
        meant && ended && !deed.status_for(accepted).succeeded()
    });
    // "…, and approved it", where `approve_invoice` failed.
    let act = head(stem(&said.verb));
    let named = |deed: &Deed<'_>| deed.words().iter().any(|word| head(word) == act);
    let made_good = |failed: &Deed<'_>| {
        recent().any(|(_, deed)| deed.tool == failed.tool && deed.status().succeeded())
    };
    failed.any(|(execution, deed)| {
        let alone = |object: &Object| {
            mentions(args(execution), object)
                && !mentions(args(vouches), object)
                && !mentions(vouches.text(), object)
        };
        said.claim.objects.iter().any(alone) || (named(deed) && !made_good(deed))
    })
}

/// Whether a failure says in the claim's words how something stands.
pub(super) fn is_reason(said: &ActionClaim, failure: &str) -> bool {
    let told = || {
        let been = ["was", "were", "been", "is", "already"];
        been.iter().any(|been| holds(failure, &format!("{been} {}", said.verb)))
    };
    // "You're now booked on it" is no reason.
    let to_user = said.claim.text.split(|c: char| !c.is_alphabetic()).next() == Some("You");
    !said.is_own() && !to_user && (told() || (said.state && holds(failure, &said.verb)))
}
