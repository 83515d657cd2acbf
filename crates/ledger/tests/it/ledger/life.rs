use std::sync::Arc;

use counterfoil_ledger::{AppendError, Draft, Durability};
use counterfoil_model::{Digest, Status};

use super::*;

#[test]
fn a_receipt_is_what_its_events_add_up_to() {
    let stores = [Durability::Full, Durability::Batch, Durability::Os]
        .map(|durability| stores().into_iter().map(move |store| (store.open(durability), store)));
    for (ledger, _store) in stores.into_iter().flatten() {
        let id = id(1);
        let first = ledger.open_execution("s1", opened(&id), None).wait().unwrap();
        let open = ledger.receipt(&id).unwrap().unwrap();
        assert_eq!((open.status, open.ended_at, open.seq), (Status::Open, None, 1));
        let result = b"two lines\nof text";
        let draft = Draft::Closed(closed(&id, result));
        let last = ledger.append("s1", draft, vec![result.to_vec()]).wait().unwrap();
        let shown = Digest::of_bytes(b"shown");
        let draft = Draft::Shown {
            execution_id: id.clone(),
            digest: shown,
            filters: vec!["head".to_owned()],
            recorded_bytes: 9,
            shown_bytes: 5,
        };
        let end = ledger.append("s1", draft, Vec::new()).wait().unwrap();
        let receipt = ledger.receipt(&id).unwrap().unwrap();
        let mut expected = open;
        expected.status = Status::Completed;
        expected.ended_at = Some(NOW + 40);
        expected.duration_us = Some(39_500);
        expected.exit_code = Some(0);
        expected.attempts = 1;
        expected.raw_digest = Some(Digest::of_bytes(result));
        expected.recorded_digest = Some(Digest::of_bytes(result));
        expected.shown_digest = Some(shown);
        expected.filters = vec!["head".to_owned()];
        expected.digest = end.digest;
        assert_eq!(receipt, expected);
        assert_eq!((last.previous, end.previous), (first.digest, last.digest));
        assert_eq!(ledger.result(&Digest::of_bytes(result)).unwrap().unwrap(), result);
        assert_eq!(ledger.events("s1").unwrap(), [first, last, end]);
        assert_eq!(ledger.sessions().unwrap(), ["s1"]);
        let exported = ledger.export(&id).unwrap().unwrap();
        assert_eq!(exported.verify(&ledger.public_key()), Ok(()));
    }
}

#[test]
fn what_may_not_follow_is_refused() {
    for store in stores() {
        let ledger = store.open(Durability::Os);
        execute(&ledger, "s", &id(1), b"done");
        ledger.append("s", Draft::Rejected(rejected(&id(2))), Vec::new()).wait().unwrap();
        let rolled_back = |number| {
            let mut draft = closed(&id(number), b"done");
            draft.status = Status::RolledBack;
            Draft::Closed(draft)
        };
        let cases = [
            (Draft::Opened(opened(&id(1))), AppendError::RepeatedExecutionId { id: id(1) }),
            (Draft::Rejected(rejected(&id(2))), AppendError::RepeatedExecutionId { id: id(2) }),
            (Draft::Closed(closed(&id(1), b"done")), AppendError::ClosedExecution { id: id(1) }),
            (Draft::Closed(closed(&id(2), b"done")), AppendError::ClosedExecution { id: id(2) }),
            (Draft::Closed(closed(&id(3), b"done")), AppendError::UnknownExecution { id: id(3) }),
            (
                message("never stored"),
                AppendError::MissingResult { digest: Digest::of_bytes(b"never stored") },
            ),
        ];
        let before = ledger.checkpoint().unwrap();
        for (draft, expected) in cases {
            let name = format!("{draft:?}");
            assert_eq!(ledger.append("s", draft, Vec::new()).wait(), Err(expected), "{name}");
        }
        let never = ledger.append("s", rolled_back(2), Vec::new()).wait();
        assert_eq!(never, Err(AppendError::ClosedExecution { id: id(2) }));
        assert_eq!(ledger.checkpoint().unwrap(), before, "a refused event leaves nothing");
        ledger.append("s", rolled_back(1), Vec::new()).wait().unwrap();
        let twice = ledger.append("s", rolled_back(1), Vec::new()).wait();
        assert_eq!(twice, Err(AppendError::ClosedExecution { id: id(1) }));
        assert_eq!(ledger.receipt(&id(1)).unwrap().unwrap().status, Status::RolledBack);
    }
}

#[test]
fn quotas_count_first_attempts() {
    for store in stores() {
        let ledger = store.open(Durability::Os);
        let open = |number: u32, retry_of: Option<u32>| {
            let mut opened = opened(&id(number));
            opened.links.retry_of = retry_of.map(id);
            ledger.open_execution("s", opened, Some(2)).wait().map(|event| event.session_seq)
        };
        let exhausted = Err(AppendError::QuotaExhausted { limit: 2 });
        assert_eq!(open(1, None), Ok(1));
        assert_eq!(open(2, Some(1)), Ok(2));
        assert_eq!(open(3, None), Ok(3));
        assert_eq!(open(4, None), exhausted);
        assert_eq!(open(5, Some(3)), Ok(4));
        assert_eq!(open(4, None), exhausted);
        assert_eq!(ledger.calls_made("s"), Ok(2));
        assert_eq!(ledger.calls_made("another"), Ok(0));
        let none = ledger.open_execution("another", opened(&id(9)), Some(0)).wait();
        assert_eq!(none, Err(AppendError::QuotaExhausted { limit: 0 }));
        assert_eq!(ledger.sessions().unwrap(), ["s"]);
    }
}

#[test]
fn a_dropped_future_loses_nothing() {
    for store in stores() {
        let ledger = store.open(Durability::Batch);
        drop(ledger.append("s", Draft::Opened(opened(&id(1))), Vec::new()));
        drop(ledger);
        let ledger = store.open(Durability::Batch);
        assert_eq!(ledger.events("s").unwrap().len(), 1);
    }
}

#[test]
fn many_sessions_at_once_have_no_gaps() {
    for store in stores() {
        let ledger = Arc::new(store.open(Durability::Batch));
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let ledger = ledger.clone();
                scope.spawn(move || {
                    let pending: Vec<_> = (0..100)
                        .map(|n| {
                            let session = format!("s{}", n % 3);
                            let draft = Draft::Opened(opened(&id(thread * 1000 + n)));
                            ledger.append(&session, draft, Vec::new())
                        })
                        .collect();
                    pending.into_iter().for_each(|pending| drop(pending.wait().unwrap()));
                });
            }
        });
        for session in ledger.sessions().unwrap() {
            let seqs: Vec<_> =
                ledger.events(&session).unwrap().iter().map(|event| event.session_seq).collect();
            let count = u64::try_from(seqs.len()).unwrap();
            assert_eq!(seqs, (1..=count).collect::<Vec<_>>());
        }
        assert_eq!(ledger.checkpoint().unwrap().size(), 400);
    }
}
