//! Decisions of people on calls: made once, revoked, read in pieces and proved, in every kind of
//! store.

use counterfoil_ledger::{
    AppendError, Approved, Bundle, BundleVerification, Declined, Event, Lasts, Pending, Provable,
};

use super::*;

fn digest() -> Digest {
    opened(&id(0)).arguments_digest
}

fn approved(lasts: Lasts) -> Draft {
    Draft::Approved(Approved {
        arguments_digest: digest(),
        tool: "read_file".to_owned(),
        by: "ada".to_owned(),
        reason: None,
        lasts,
        until: Some(NOW + 1000),
    })
}

fn declined(by: &str) -> Draft {
    Draft::Declined(Declined {
        arguments_digest: digest(),
        tool: "read_file".to_owned(),
        by: by.to_owned(),
        reason: Some("it was shipped".to_owned()),
    })
}

/// Two writers of one ledger, of every kind of store.
fn pairs() -> Vec<([Ledger; 2], Store)> {
    let pair = |store: Store| ([0, 1].map(|_| store.open(Durability::Batch)), store);
    stores().into_iter().map(pair).collect()
}

#[test]
fn of_two_decisions_at_once_one_is_made() {
    for (ledgers, _store) in pairs() {
        for round in 0..20 {
            let session = format!("s{round}");
            let denied = Draft::Rejected(rejected(&id(round)));
            let seen = ledgers[0].append(&session, denied, Vec::new()).wait().unwrap().session_seq;
            let outcomes: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = [approved(Lasts::Once), declined("bob")]
                    .into_iter()
                    .zip(&ledgers)
                    .map(|(draft, ledger)| {
                        let session = &session;
                        scope.spawn(move || ledger.append_decision(session, draft, seen).wait())
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let made: Vec<&Event> = outcomes.iter().flatten().collect();
            let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
            assert_eq!(refused.collect::<Vec<_>>(), [&AppendError::DecidedMeanwhile]);
            assert_eq!(made[0].session_seq, seen + 1);
            let agreed = matches!(made[0].draft, Draft::Approved(_));
            for ledger in &ledgers {
                let approval = ledger.standing_approval(&session, digest(), NOW).unwrap();
                let refusal = ledger.standing_refusal(&session, digest()).unwrap();
                assert_eq!((approval.is_some(), refusal.is_some()), (agreed, !agreed));
            }
        }
    }
}

/// Pending decisions of one writer are written as one group.
#[test]
fn decisions_of_one_group_know_of_each_other() {
    for (ledgers, _store) in pairs() {
        let ledger = &ledgers[0];
        let together: Vec<Pending<Event>> = (0..10)
            .map(|n| ledger.append_decision("s", declined(&format!("p{n}")), 0))
            .chain([ledger.append_decision("t", declined("eve"), 0)])
            .collect();
        let made: Vec<bool> = together.into_iter().map(|pending| pending.wait().is_ok()).collect();
        let mut expected = vec![false; 11];
        (expected[0], expected[10]) = (true, true);
        assert_eq!(made, expected, "the first of each session");
        // A writer who has seen the decision may decide again; one who has not may not.
        let again = |seen| ledgers[1].append_decision("s", declined("bob"), seen).wait();
        assert_eq!(again(0), Err(AppendError::DecidedMeanwhile));
        assert_eq!(again(1).unwrap().session_seq, 2);
        assert_eq!(again(1), Err(AppendError::DecidedMeanwhile));
    }
}

#[test]
fn a_refusal_ends_what_was_agreed_to() {
    for ([one, other], _store) in pairs() {
        let standing = || other.standing_approval("s", digest(), NOW).unwrap().map(|(at, _)| at);
        let refused = || one.standing_refusal("s", digest()).unwrap().map(|declined| declined.by);
        let place = |draft| one.append("s", draft, Vec::new()).wait().unwrap().session_seq;
        assert_eq!((standing(), refused()), (None, None));
        let once = place(approved(Lasts::Once));
        let always = place(approved(Lasts::Session));
        assert_eq!((standing(), refused()), (Some(once), None));
        let mut call = opened(&id(1));
        let who = "ada".to_owned();
        call.permit = PermitBasis::Approval { who, reason: None, uses: Some(once) };
        other.open_execution("s", call, None).wait().unwrap();
        assert_eq!((standing(), refused()), (Some(always), None));
        place(declined("bob"));
        assert_eq!((standing(), refused().as_deref()), (None, Some("bob")));
        assert_eq!(other.standing_refusal("t", digest()).unwrap(), None, "another session");
        let elsewhere = Digest::of_bytes(b"other arguments");
        assert_eq!(other.standing_refusal("s", elsewhere).unwrap(), None);
        let later = place(approved(Lasts::Once));
        assert_eq!((standing(), refused()), (Some(later), None));
        assert_eq!(other.standing_approval("s", digest(), NOW + 1001).unwrap(), None, "too old");
    }
}

#[test]
fn events_are_read_piece_by_piece() {
    for ([ledger, other], _store) in pairs() {
        for number in 0..6 {
            execute(&ledger, &format!("s{}", number % 2), &id(number), b"done");
        }
        let all = other.events_from(0, u64::MAX).unwrap();
        assert!(all.iter().map(|event| event.seq).eq(0..12));
        for (from, limit, expected) in
            [(0, 2, 0..2), (2, 7, 2..9), (11, 9, 11..12), (12, 9, 12..12)]
        {
            let some = other.events_from(from, limit).unwrap();
            assert!(some.iter().map(|event| event.seq).eq(expected), "{from} {limit}");
        }
        assert_eq!(other.events_from(u64::MAX, 1).unwrap(), []);
        assert_eq!(other.events_from(0, 0).unwrap(), []);
        let of = other.events("s1").unwrap();
        assert_eq!(of.len(), 6);
        for (after, limit, expected) in
            [(0, 2, &of[..2]), (1, 3, &of[1..4]), (4, u64::MAX, &of[4..]), (u64::MAX, 9, &[])]
        {
            assert_eq!(other.events_of("s1", after, limit).unwrap(), expected, "{after} {limit}");
        }
        assert_eq!(other.events_of("nobody", 0, 9).unwrap(), []);
        assert_eq!(other.last_events("s1", 2).unwrap(), of[4..]);
        assert_eq!(other.last_events("s1", 99).unwrap(), of);
    }
}

#[test]
fn a_bundle_proves_what_is_recorded() {
    for ([one, other], _store) in pairs() {
        execute(&one, "s", &id(1), b"before");
        one.append("s", declined("bob"), Vec::new()).wait().unwrap();
        one.rotate_key().unwrap();
        execute(&other, "t", &id(2), b"elsewhere");
        execute(&other, "s", &id(3), b"after");
        let key = other.public_key().fingerprint();
        let session = |since| Provable::Session { name: "s".to_owned(), since };
        let cases = [
            (session(None), 5),
            (session(Some(NOW)), 5),
            (Provable::Executions(vec![id(3), id(2), id(3)]), 4),
        ];
        for (wanted, events) in cases {
            let proved = other.prove(&wanted).unwrap();
            assert_eq!((proved.events.len(), proved.keys.len()), (events, 2), "{wanted:?}");
            let bundle = Bundle::create(&other, &wanted, true).unwrap().to_line().unwrap();
            let found = BundleVerification::run(&bundle, Some(&key)).unwrap();
            assert!(found.is_sound(), "{wanted:?}: {:?}", found.rows);
            let forged = bundle.replacen("read_file", "edit_file", 1);
            assert!(
                !BundleVerification::run(&forged, Some(&key)).unwrap().is_sound(),
                "{wanted:?}"
            );
        }
        assert_eq!(other.prove(&session(Some(NOW + 1))).unwrap().events, []);
        assert!(Bundle::create(&other, &Provable::Executions(vec![id(3), id(9)]), false).is_err());
    }
}
