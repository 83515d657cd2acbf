use std::sync::atomic::AtomicBool;

use counterfoil_ledger::{AppendError, Approved, Expected, Lasts};

use super::server::Stop;
use super::*;

#[test]
fn a_ledger_is_begun_written_read_and_verified() {
    let Some(schema) = schema() else { return };
    let ledger = schema.open(Durability::Batch);
    for number in 1..=600 {
        execute(&ledger, "s", &id(number), format!("result {number}").as_bytes());
    }
    let found = ledger.verify(&Expected::default(), &mut |_| {}).unwrap();
    assert_eq!(found.broken, None);
    assert_eq!((found.events, found.signed, found.results), (1200, 1200, 600));
    drop(ledger);
    let ledger = schema.open(Durability::Batch);
    assert_eq!(ledger.checkpoint().unwrap().size(), 1200);
    let found = PostgresLedger::verify_at(&schema.address(), &Expected::default(), &mut |_| {});
    assert_eq!(found.unwrap().broken, None);
}

#[test]
fn replicas_never_exceed_a_quota() {
    let Some(schema) = schema() else { return };
    let replicas = [0, 1, 2].map(|_| schema.open(Durability::Batch));
    let opened_by: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(&replicas)
            .map(|(replica, ledger)| {
                scope.spawn(move || {
                    let pending: Vec<_> = (0..200)
                        .map(|n| {
                            ledger.open_execution("s", opened(&id(replica * 1000 + n)), Some(100))
                        })
                        .collect();
                    let outcomes = pending.into_iter().map(|pending| pending.wait());
                    outcomes
                        .filter(|outcome| match outcome {
                            Ok(_) => true,
                            Err(AppendError::QuotaExhausted { limit: 100 }) => false,
                            Err(error) => panic!("{error}"),
                        })
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| u32::try_from(thread.join().unwrap()).unwrap()).collect()
    });
    assert_eq!(opened_by.iter().sum::<u32>(), 100, "{opened_by:?}");
    assert_eq!(replicas[1].calls_made("s"), Ok(100));
    let found = replicas[2].verify(&Expected::default(), &mut |_| {}).unwrap();
    assert_eq!((found.broken, found.events), (None, 100));
}

#[test]
fn replicas_use_an_approval_once_and_an_id_once() {
    let Some(schema) = schema() else { return };
    let replicas = [0, 1].map(|_| schema.open(Durability::Full));
    for round in 0..20 {
        let session = format!("s{round}");
        let approved = Approved {
            arguments_digest: Digest::of_bytes(b"arguments"),
            tool: "read_file".to_owned(),
            by: "ada".to_owned(),
            reason: None,
            lasts: Lasts::Once,
            until: Some(NOW + 1000),
        };
        let digest = approved.arguments_digest;
        let draft = Draft::Approved(approved);
        let place = replicas[0].append(&session, draft, Vec::new()).wait().unwrap().session_seq;
        let standing = replicas[1].standing_approval(&session, digest, NOW).unwrap();
        assert_eq!(standing.map(|(place, _)| place), Some(place));
        let call = |number: u32| {
            let mut opened = opened(&id(number));
            opened.permit =
                PermitBasis::Approval { who: "ada".to_owned(), reason: None, uses: Some(place) };
            opened
        };
        // One for each approval, and another for which both replicas use the same id.
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..)
                .zip(&replicas)
                .map(|(replica, ledger)| {
                    let (session, first) = (&session, call(round * 10 + replica));
                    scope.spawn(move || {
                        let second = opened(&id(round * 10 + 9));
                        let first = ledger.open_execution(session, first, None);
                        let second = ledger.open_execution(session, second, None);
                        (first.wait().map(|_| ()), second.wait().map(|_| ()))
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let (mut first, mut second): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
        first.sort_by_key(|outcome| outcome.is_err());
        second.sort_by_key(|outcome| outcome.is_err());
        assert_eq!(first, [Ok(()), Err(AppendError::ApprovalUsed)]);
        let id = id(round * 10 + 9);
        assert_eq!(second, [Ok(()), Err(AppendError::RepeatedExecutionId { id })]);
        assert_eq!(replicas[0].standing_approval(&session, digest, NOW).unwrap(), None);
    }
}

#[test]
fn a_replica_that_was_refused_goes_on_from_what_others_wrote() {
    let Some(schema) = schema() else { return };
    let [one, other] = [0, 1].map(|_| schema.open(Durability::Batch));
    one.open_execution("s", opened(&id(1)), Some(1)).wait().unwrap();
    let refused = other.open_execution("s", opened(&id(2)), Some(1)).wait();
    assert_eq!(refused, Err(AppendError::QuotaExhausted { limit: 1 }));
    one.open_execution("s", opened(&id(3)), Some(2)).wait().unwrap();
    let refused = other.open_execution("s", opened(&id(4)), Some(2)).wait();
    assert_eq!(refused, Err(AppendError::QuotaExhausted { limit: 2 }));
    let event = other.open_execution("s", opened(&id(5)), Some(3)).wait().unwrap();
    assert_eq!((event.seq, event.session_seq), (2, 3));
    assert_eq!(one.calls_made("s"), Ok(3));
}

/// Writes until `stop` is set. Returns the ids that were acknowledged, and those whose outcome is
/// unknown.
fn write_until(ledger: &Ledger, first: u32, stop: &AtomicBool) -> (Vec<String>, Vec<String>) {
    let (mut acknowledged, mut unknown) = (Vec::new(), Vec::new());
    let mut number = first;
    while !stop.load(Ordering::SeqCst) {
        let pending: Vec<_> = (0..20)
            .map(|_| {
                number += 1;
                (id(number), ledger.open_execution("s", opened(&id(number)), None))
            })
            .collect();
        for (id, pending) in pending {
            match pending.wait() {
                Ok(_) => acknowledged.push(id),
                Err(AppendError::Unknown(_)) => unknown.push(id),
                Err(error) => panic!("{id}: {error}"),
            }
        }
    }
    (acknowledged, unknown)
}

/// Every acknowledged event is there exactly once; any other is one whose outcome is unknown.
fn nothing_is_lost(ledger: &Ledger, outcomes: Vec<(Vec<String>, Vec<String>)>) {
    let there: std::collections::BTreeSet<String> =
        ledger.recent(None, usize::MAX / 2).unwrap().into_iter().collect();
    let (mut acknowledged, mut unknown) = (Vec::new(), Vec::new());
    for (known, unsure) in outcomes {
        acknowledged.extend(known);
        unknown.extend(unsure);
    }
    assert!(acknowledged.iter().all(|id| there.contains(id)), "an acknowledged call is lost");
    let maybe = there.iter().filter(|id| unknown.contains(id)).count();
    assert_eq!(there.len(), acknowledged.len() + maybe, "a call is there that nobody was told of");
    let found = ledger.verify(&Expected::default(), &mut |_| {}).unwrap();
    assert_eq!((found.broken, found.events), (None, u64::try_from(there.len()).unwrap()));
    assert_eq!(ledger.calls_made("s"), Ok(found.events));
}

/// Two replicas write while something happens to them or their server. Returns the ids of each.
fn under_load(replicas: &[Ledger; 2], happens: impl FnOnce()) -> Vec<(Vec<String>, Vec<String>)> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(replicas)
            .map(|(replica, ledger)| {
                let stop = &stop;
                scope.spawn(move || write_until(ledger, replica * 1_000_000, stop))
            })
            .collect();
        happens();
        stop.store(true, Ordering::SeqCst);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn a_server_that_is_restarted_under_load_loses_nothing() {
    let Some(mut server) = start(&[]) else { return };
    let url = server.schema("restarted");
    let folder = tempfile::tempdir().unwrap();
    let open = || Ledger::from(open_at(&url, &folder.path().join("key"), Durability::Batch));
    let replicas = [open(), open()];
    let outcomes = under_load(&replicas, || {
        for how in [Stop::Fast, Stop::AtOnce, Stop::Fast] {
            std::thread::sleep(Duration::from_millis(300));
            server.stop(how);
            server.start_again().unwrap();
        }
        std::thread::sleep(Duration::from_millis(300));
    });
    nothing_is_lost(&replicas[0], outcomes);
}

#[test]
fn connections_that_are_ended_anywhere_lose_and_double_nothing() {
    // A separate server, because all connections are terminated.
    let Some(server) = start(&["fsync=off"]) else { return };
    let url = server.schema("ended");
    let folder = tempfile::tempdir().unwrap();
    let open = || Ledger::from(open_at(&url, &folder.path().join("key"), Durability::Batch));
    let replicas = [open(), open()];
    let outcomes = under_load(&replicas, || {
        // Hits the writers anywhere: between statements, in one, or in the commit.
        for round in 0..60 {
            let what = if round % 2 == 0 { "COMMIT" } else { "" };
            server.sql(&format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE application_name = 'counterfoil' AND query LIKE '%{what}%'
                   AND query NOT LIKE '%LISTEN%'"
            ));
        }
    });
    nothing_is_lost(&replicas[1], outcomes);
}

#[test]
fn an_unacknowledged_commit_is_found_again() {
    let Some(mut server) = start(&[]) else { return };
    let url = server.schema("unheard");
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::from(open_at(&url, &folder.path().join("key"), Durability::Batch));
    ledger.open_execution("s", opened(&id(1)), None).wait().unwrap();
    // A deferred check makes the commit itself slow.
    server.sql(
        "SET search_path = unheard;
         CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$;
         CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION slow();",
    );
    let pending = ledger.open_execution("s", opened(&id(2)), None);
    std::thread::sleep(Duration::from_millis(400));
    server.stop(Stop::AtOnce);
    server.start_again().unwrap();
    let event = pending.wait().unwrap();
    assert_eq!((event.seq, event.session_seq), (1, 2));
    assert_eq!(ledger.events("s").unwrap().len(), 2);
}

#[test]
fn a_ledger_that_was_cut_is_not_gone_on_with() {
    let Some(schema) = schema() else { return };
    let ledger = schema.open(Durability::Batch);
    for number in 0..3 {
        ledger.open_execution("s", opened(&id(number)), None).wait().unwrap();
    }
    schema.sql("ALTER TABLE events DISABLE TRIGGER ALL; DELETE FROM events WHERE seq = 2;");
    let error = ledger.open_execution("s", opened(&id(9)), None).wait().unwrap_err();
    assert!(error.to_string().contains("it has 2 events, but had 3 before"), "{error}");
}

#[test]
fn listeners_hear_of_what_any_replica_writes() {
    let Some(schema) = schema() else { return };
    let folder = tempfile::tempdir().unwrap();
    let pairs = [
        [schema.open(Durability::Batch), schema.open(Durability::Batch)],
        [open(folder.path(), Durability::Batch), open(folder.path(), Durability::Batch)],
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for [one, other] in pairs {
        let mut changes = one.changes().unwrap();
        assert_eq!(changes.size(), 0);
        for (count, ledger) in [(1, &other), (2, &one)] {
            ledger.open_execution("s", opened(&id(count)), None).wait().unwrap();
            let size = runtime.block_on(async {
                tokio::time::timeout(Duration::from_secs(20), async {
                    while changes.size() < u64::from(count) {
                        changes.next().await.unwrap();
                    }
                    changes.size()
                })
                .await
            });
            assert_eq!(size, Ok(u64::from(count)));
        }
    }
}
