//! Old events are dropped, and the rest still verifies.

use counterfoil_ledger::{
    AppendError, Expected, HeldAgainst, ReadLedgerError, Retention, Verification,
};

use super::*;

fn kept(retention: Retention) -> LedgerSettings {
    LedgerSettings { retention, ..settings(Durability::Os) }
}

#[test]
fn old_events_go_in_whole_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let clock = SetClock::at(NOW);
    let path = folder.path().join("ledger.db");
    let day = Duration::from_secs(24 * 3600);
    let retention = Retention { events_for: Some(day), ..Retention::default() };
    let open = || {
        let randomness = Arc::new(Counted::default());
        Ledger::open(&path, kept(retention.clone()), clock.clone(), randomness).unwrap().0
    };
    let ledger = open();
    let executions = |ledger: &Ledger, numbers: std::ops::Range<u32>| {
        for n in numbers {
            let session = if n % 2 == 0 { "even" } else { "odd" };
            execute(ledger, session, &id(n), format!("result {n}").as_bytes());
        }
    };
    execute(&ledger, "short", &id(10_000), b"gone");
    executions(&ledger, 0..200);
    let early = ledger.checkpoint().unwrap();
    clock.set(NOW + 2 * 24 * 3600 * 1000);
    executions(&ledger, 200..300);
    let late = ledger.checkpoint().unwrap();
    drop(ledger);
    let ledger = open();
    let expect = |checkpoint: &counterfoil_ledger::Checkpoint| Expected {
        checkpoint: Some(checkpoint.clone()),
        public_keys: vec![ledger.public_key()],
    };
    let found = ledger.verify(&expect(&late), &mut |_| {}).unwrap();
    let expected = Verification {
        first: 256,
        events: 346,
        sessions: 2,
        checkpoints: 3,
        signed: 602,
        results: 173,
        results_dropped: 0,
        clock_went_back: 0,
        checkpoint: HeldAgainst::Fits,
        public_key: HeldAgainst::Fits,
        broken: None,
    };
    assert_eq!(found, expected);
    let found = ledger.verify(&expect(&early), &mut |_| {}).unwrap();
    assert_eq!(found, Verification { checkpoint: HeldAgainst::Fits, ..expected });
    // Dropped events are gone; the rest continues where it was, and can be proved.
    assert_eq!(ledger.receipt(&id(0)), Ok(None));
    assert_eq!(ledger.sessions().unwrap(), ["even", "odd"]);
    assert_eq!(ledger.calls_made("even"), Ok(150));
    executions(&ledger, 300..302);
    assert_eq!(ledger.events("odd").unwrap().last().unwrap().session_seq, 302);
    for number in [130, 255, 301] {
        let exported = ledger.export(&id(number)).unwrap().unwrap();
        assert_eq!(exported.verify(&ledger.public_key()), Ok(()), "{number}");
    }
    let (now, proof) = ledger.consistency(late.size()).unwrap();
    assert!(proof.holds((late.size(), &late.root()), (now.size(), &now.root())));
    assert_eq!(ledger.consistency(3), Err(ReadLedgerError::Dropped { cut: 256 }));
    // Again, a day later.
    clock.set(NOW + 4 * 24 * 3600 * 1000);
    execute(&ledger, "odd", &id(900), b"new");
    ledger.retain().unwrap();
    let found = ledger.verify(&Expected::default(), &mut |_| {}).unwrap();
    assert_eq!((found.first, found.broken), (512, None));
    assert_eq!(ledger.events("odd").unwrap().last().unwrap().session_seq, 304);
    assert_eq!(ledger.calls_made("odd"), Ok(152));
}

#[test]
fn old_results_go_and_those_in_use_stay() {
    let folder = tempfile::tempdir().unwrap();
    let clock = SetClock::at(NOW);
    let hour = Duration::from_secs(3600);
    let retention = Retention { results_for: Some(hour), ..Retention::default() };
    let path = folder.path().join("ledger.db");
    let randomness = Arc::new(Counted::default());
    let ledger = Ledger::open(&path, kept(retention), clock.clone(), randomness).unwrap().0;
    for (number, result) in [(1, "old"), (2, "used again"), (3, "old, too")] {
        execute(&ledger, "s", &id(number), result.as_bytes());
    }
    clock.set(NOW + 2 * 3600 * 1000);
    execute(&ledger, "s", &id(4), b"used again");
    execute(&ledger, "s", &id(5), b"new");
    ledger.retain().unwrap();
    let stored = |text: &str| ledger.result(&Digest::of_bytes(text.as_bytes())).unwrap().is_some();
    let texts = ["old", "used again", "old, too", "new"];
    assert_eq!(texts.map(stored), [false, true, false, true]);
    let found = ledger.verify(&Expected::default(), &mut |_| {}).unwrap();
    assert_eq!((found.results, found.results_dropped, found.broken), (2, 2, None));
    let draft = Draft::Closed(closed(&id(6), b"old"));
    ledger.open_execution("s", opened(&id(6)), None).wait().unwrap();
    let missing = AppendError::MissingResult { digest: Digest::of_bytes(b"old") };
    assert_eq!(ledger.append("s", draft, Vec::new()).wait(), Err(missing));
}

#[test]
fn the_oldest_results_go_when_there_are_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let retention = Retention { results_bytes: Some(250), ..Retention::default() };
    let path = folder.path().join("ledger.db");
    let (clock, randomness) = (SetClock::at(NOW), Arc::new(Counted::default()));
    let ledger = Ledger::open(&path, kept(retention), clock, randomness).unwrap().0;
    let result = |number: u32| format!("{number:0100}").into_bytes();
    (1..=5).for_each(|number| execute(&ledger, "s", &id(number), &result(number)));
    ledger.retain().unwrap();
    let stored = |number| ledger.result(&Digest::of_bytes(&result(number))).unwrap().is_some();
    assert_eq!([1, 2, 3, 4, 5].map(stored), [false, false, false, true, true]);
    assert!(ledger.verify(&Expected::default(), &mut |_| {}).unwrap().holds());
}
