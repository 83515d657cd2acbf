//! Which parts of each session a bundle contains, and which are missing.

use std::collections::{BTreeMap, BTreeSet};

use super::verification::{BundleVerification, Placed, shown};
use super::{Bundle, BundleSession};

/// The events of one session.
struct Places<'e> {
    session: &'e str,
    seqs: BTreeSet<u64>,
    last: &'e Placed,
}

pub(super) fn check(bundle: &Bundle, events: &[Placed], found: &mut BundleVerification) {
    let all = places(events, found);
    let names: BTreeSet<&str> = bundle.sessions.iter().map(|one| one.session.as_str()).collect();
    if names.len() != bundle.sessions.len() {
        found.broken("a session is listed twice");
    }
    for whole in &bundle.sessions {
        check_whole(whole, all.iter().find(|of| of.session == whole.session), found);
    }
    for Places { session, seqs, .. } in all.iter().filter(|of| !names.contains(of.session)) {
        let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { continue };
        let (session, here) = (shown(session), seqs.len());
        found.open(format!(
            "session {session}: the bundle has {here} of its events {first} to {last}; there may \
             be others"
        ));
    }
}

/// The sessions in order of their first event here.
fn places<'e>(events: &'e [Placed], found: &mut BundleVerification) -> Vec<Places<'e>> {
    let mut all: Vec<Places<'e>> = Vec::new();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        let session = event.session.as_str();
        match numbers.get(session).and_then(|number| all.get_mut(*number)) {
            None => {
                numbers.insert(session, all.len());
                let seqs = BTreeSet::from([event.session_seq]);
                all.push(Places { session, seqs, last: event });
            }
            Some(of) => {
                if event.session_seq <= of.last.session_seq {
                    let session = shown(session);
                    found.broken(format!("session {session}: its events are not in order"));
                }
                of.seqs.insert(event.session_seq);
                of.last = event;
            }
        }
    }
    all
}

/// Checks that nothing is missing between the two places of a session.
fn check_whole(
    BundleSession { session, first, last }: &BundleSession,
    here: Option<&Places<'_>>,
    found: &mut BundleVerification,
) {
    let session = shown(session);
    let whole = here.filter(|of| {
        let ends = of.seqs.first() == Some(first) && of.seqs.last() == Some(last);
        ends && of.seqs.len() as u64 == last - first + 1
    });
    let Some(of) = whole else {
        return found.broken(format!(
            "session {session}: its events in the bundle are not exactly {first} to {last}"
        ));
    };
    found.holds(format!("session {session}: its events {first} to {last} are all in the bundle"));
    if *first > 1 {
        found.open(format!("session {session}: its events before {first} are not in the bundle"));
    }
    if !of.last.ends {
        let what = "its last event does not end the session, which may have continued";
        found.open(format!("session {session}: {what}"));
    }
}
