//! The decisions of people on calls, for every kind of database.

use counterfoil_model::Digest;

use super::event::Lasts;
use super::event::{Approved, Declined, Draft, Event};
use super::read::ReadLedgerError;

/// The prior approval that is valid for a call now: its place in the session, and the approval. An
/// approval for one call is void once a call has used it; any approval is void once a person has
/// declined the call later. `decided` has the decisions of the session in order; `is_used` returns
/// whether a call has used the approval at a place.
pub(super) fn standing_approval(
    decided: Vec<Event>,
    digest: Digest,
    now: i64,
    mut is_used: impl FnMut(u64) -> Result<bool, ReadLedgerError>,
) -> Result<Option<(u64, Approved)>, ReadLedgerError> {
    let mut standing = None;
    for event in decided {
        let place = event.session_seq;
        match event.draft {
            Draft::Approved(approved) if standing.is_none() => {
                let is_valid = approved.holds_for(digest, now)
                    && (approved.lasts == Lasts::Session || !is_used(place)?);
                if is_valid {
                    standing = Some((place, approved));
                }
            }
            Draft::Declined(declined) if declined.arguments_digest == digest => standing = None,
            _ => {}
        }
    }
    Ok(standing)
}

/// The decision that declines a call, unless it was approved later.
pub(super) fn standing_refusal(decided: Vec<Event>, digest: Digest) -> Option<Declined> {
    let mut standing = None;
    for event in decided {
        match event.draft {
            Draft::Approved(approved) if approved.arguments_digest == digest => standing = None,
            Draft::Declined(declined) if declined.arguments_digest == digest => {
                standing = Some(declined);
            }
            _ => {}
        }
    }
    standing
}

/// Whether a person decided on the call after a place of the session.
pub(super) fn is_decided(decided: &[Event], digest: Digest, seen: u64) -> bool {
    let mut later = decided.iter().filter(|event| event.session_seq > seen);
    later.any(|event| event.draft.decides() == Some(digest))
}
