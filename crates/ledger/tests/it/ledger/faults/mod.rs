//! Disks that lose unsynced data, fail, or are full.

mod disk;
mod vfs;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use counterfoil_ledger::{AppendError, Event, Expected, SqliteLedger};

use super::*;
use disk::{Failure, Operation, SharedDisk, WatchedLog, lock};

/// A reproducible coin toss.
fn coin(seed: u64) -> impl FnMut() -> bool {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 63 == 1
    }
}

/// A ledger on a recorded disk.
fn open_on(disk: &SharedDisk, folder: &Path, durability: Durability) -> Ledger {
    let log = WatchedLog::open(disk, &folder.join("ledger.db-log"));
    let (clock, randomness) = (SetClock::at(NOW), Arc::new(Counted::default()));
    let path = folder.join("ledger.db");
    SqliteLedger::open_on(&path, log, settings(durability), clock, randomness).unwrap().0.into()
}

/// Runs executions of several kinds, and records each acknowledgement on the disk.
fn work(ledger: &Ledger, disk: &SharedDisk, executions: std::ops::Range<u32>) -> Vec<Event> {
    let mut acknowledged = Vec::new();
    for number in executions {
        let session = format!("s{}", number % 2);
        let result = format!("result {number} ").repeat(200).into_bytes();
        let pending = [
            ledger.open_execution(&session, opened(&id(number)), None),
            ledger.append(&session, Draft::Closed(closed(&id(number), &result)), vec![result]),
        ];
        for pending in pending {
            let event = pending.wait().unwrap();
            lock(disk).operations.push(Operation::Acknowledged { seq: event.seq });
            acknowledged.push(event);
        }
        // Reading moves everything into the tables first.
        if number % 7 == 6 {
            assert!(ledger.receipt(&id(number)).unwrap().is_some());
        }
    }
    acknowledged
}

/// Writes the files as found after the failure, and the key, which was synced when it was created.
fn restore(from: &Path, files: BTreeMap<String, Vec<u8>>, to: &Path) {
    for (name, bytes) in files {
        let path = to.join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    std::fs::copy(from.join("ledger.db.key"), to.join("ledger.db.key")).unwrap();
}

#[test]
fn a_machine_that_stops_loses_nothing_that_was_acknowledged() {
    let cases = [(Durability::Full, 40, 40), (Durability::Batch, 40, 40), (Durability::Os, 40, 40)];
    for (durability, executions, points_wanted) in cases {
        let folder = tempfile::tempdir().unwrap();
        let disk = vfs::watch(folder.path());
        let ledger = open_on(&disk, folder.path(), durability);
        let begun = lock(&disk).operations.len();
        let events = work(&ledger, &disk, 0..executions);
        let disk = lock(&disk);
        let synced = |o: &&Operation| matches!(o, Operation::Sync { .. });
        assert!(disk.operations[begun..].iter().any(|o| synced(&o)), "{durability:?}");
        let points = begun..=disk.operations.len();
        let step = (points.end() - points.start()) / points_wanted + 1;
        for (round, point) in points.step_by(step).chain([disk.operations.len()]).enumerate() {
            let seed = u64::try_from(round).unwrap();
            let found = tempfile::tempdir().unwrap();
            restore(folder.path(), disk.after_power_loss(point, coin(seed)), found.path());
            let after = open(found.path(), durability);
            let verification = after.verify(&Expected::default(), &mut |_| {}).unwrap();
            assert_eq!(verification.broken, None, "{durability:?} after {point}");
            let acknowledged = disk.operations[..point].iter().filter_map(|o| match o {
                Operation::Acknowledged { seq } => Some(*seq),
                _ => None,
            });
            let kept = verification.events;
            if durability != Durability::Os {
                for seq in acknowledged {
                    assert!(seq < kept, "{durability:?} after {point}: {seq} of {kept}");
                }
            }
            for session in after.sessions().unwrap() {
                for event in after.events(&session).unwrap() {
                    let at = usize::try_from(event.seq).unwrap();
                    // Events that were written but not acknowledged may be there as well.
                    if let Some(original) = events.get(at) {
                        assert_eq!(event, *original);
                    }
                }
            }
        }
    }
}

#[test]
fn a_disk_that_fails_refuses_and_recovers() {
    for failure in [Failure::Write, Failure::Sync, Failure::Full] {
        for durability in [Durability::Full, Durability::Batch, Durability::Os] {
            if (failure, durability) == (Failure::Sync, Durability::Os) {
                // It syncs only when the log moves into the file.
                continue;
            }
            for until in [0, 1, 5, 9] {
                let folder = tempfile::tempdir().unwrap();
                let disk = vfs::watch(folder.path());
                let ledger = open_on(&disk, folder.path(), durability);
                let before = work(&ledger, &disk, 0..3);
                {
                    let mut disk = lock(&disk);
                    disk.failure = failure;
                    disk.until_failure = Some(until);
                }
                let mut acknowledged = before;
                let mut refused = 0;
                for number in 100..112 {
                    match ledger.open_execution("s0", opened(&id(number)), None).wait() {
                        Ok(event) => acknowledged.push(event),
                        Err(AppendError::Storage(_)) => refused += 1,
                        Err(other) => panic!("{other}"),
                    }
                    // Moving events into the tables for a reader may fail as well.
                    drop(ledger.receipt(&id(number)));
                }
                let case = format!("{failure:?}, {durability:?}, after {until}");
                assert!(refused > 0, "{case}");
                // The disk recovers, and the same ledger continues.
                lock(&disk).until_failure = None;
                acknowledged.extend(work_on(&ledger, 200));
                for ledger in [ledger, open(folder.path(), durability)] {
                    let found = ledger.verify(&Expected::default(), &mut |_| {}).unwrap();
                    assert_eq!(found.broken, None, "{case}");
                    let mut events = ledger.events("s0").unwrap();
                    events.extend(ledger.events("s1").unwrap());
                    for event in &acknowledged {
                        assert!(events.contains(event), "{case}: {} is lost", event.seq);
                    }
                }
            }
        }
    }
}

fn work_on(ledger: &Ledger, number: u32) -> Option<Event> {
    Some(ledger.open_execution("s0", opened(&id(number)), None).wait().unwrap())
}

#[test]
fn a_torn_tail_is_reported_and_cut() {
    let folder = tempfile::tempdir().unwrap();
    let disk = vfs::watch(folder.path());
    let ledger = open_on(&disk, folder.path(), Durability::Full);
    let before = work(&ledger, &disk, 0..2);
    let synced = lock(&disk).operations.len();
    work(&ledger, &disk, 2..3);
    let found = tempfile::tempdir().unwrap();
    // Only part of the next write arrived.
    let mut files = lock(&disk).after_power_loss(synced + 1, || true);
    let Operation::Write { offset, .. } = lock(&disk).operations[synced] else { unreachable!() };
    let log = files.get_mut("ledger.db-log").unwrap();
    log.truncate(usize::try_from(offset).unwrap() + 60);
    restore(folder.path(), files, found.path());
    let path = found.path().join("ledger.db");
    let open = || {
        let randomness = Arc::new(Counted::default());
        Ledger::open(&path, settings(Durability::Full), SetClock::at(NOW), randomness).unwrap()
    };
    let (ledger, notices) = open();
    assert_eq!(
        notices,
        ["the last 60 bytes of the log were an incomplete write and are removed: they contained \
             no acknowledged event"]
    );
    let count = u64::try_from(before.len()).unwrap();
    assert_eq!(ledger.verify(&Expected::default(), &mut |_| {}).unwrap().events, count);
    execute(&ledger, "s0", &id(50), b"goes on");
    drop(ledger);
    assert_eq!(open().1, [] as [&str; 0]);
}
