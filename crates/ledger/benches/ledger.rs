//! What the ledger costs compared with handling the same bytes without it: appends against a bare
//! write and sync, groups against bare inserts and bare digests, verification, lookup.
//!
//! `RECEIPTS=10000000 TMPDIR=DIR cargo bench -p counterfoil-ledger --bench ledger -- at_size` measures
//! a large ledger, with about 2.5 kB for each receipt.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::disallowed_methods, reason = "the size is a variable")]

use std::collections::VecDeque;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use counterfoil_ledger::{
    Closed, Draft, Durability, Expected, Ledger, LedgerSettings, Links, Opened, Phase, Requested,
    SystemClock, SystemRandomness, TrustLevel,
};
use counterfoil_model::{Digest, ExecutionId, Origin, PermitBasis, Status, canonical_bytes_of};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

fn main() {
    divan::main();
}

/// Events per sample in the benches that write many at a time.
const EVENTS: u32 = 40_000;

/// Open and close of one execution, written before each call returns.
#[divan::bench(sample_count = 500, sample_size = 10)]
fn open_and_close_under_os(bencher: Bencher) {
    let (_folder, ledger) = ledger(Durability::Os);
    let number = AtomicU32::new(0);
    bencher.bench_local(|| execute(&ledger, number.fetch_add(1, Ordering::Relaxed)));
}

/// One event of about 900 bytes, written and synced.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn one_event_under_full(bencher: Bencher) {
    let (_folder, ledger) = ledger(Durability::Full);
    let number = AtomicU32::new(0);
    bencher.bench_local(|| {
        let id = id(number.fetch_add(1, Ordering::Relaxed));
        ledger.open_execution("s", opened(&id), None).wait().unwrap()
    });
}

/// The same number of bytes into a plain file: the baseline for `full`.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn one_bare_write_and_sync(bencher: Bencher) {
    let folder = TempDir::new().unwrap();
    let mut file = std::fs::File::create(folder.path().join("bare")).unwrap();
    let bytes = vec![b'x'; 900];
    bencher.bench_local(|| {
        file.write_all(&bytes).unwrap();
        file.sync_data().unwrap();
    });
}

/// Many executions under way at once, from two threads, each group signed and synced.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn events_under_batch_at_size(bencher: Bencher) {
    let (_folder, ledger) = filled(0, Durability::Batch);
    let number = AtomicU32::new(receipts(0));
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| write(&ledger, &number, EVENTS / 4));
            }
        });
    });
}

/// The same number of rows of the same size into a bare SQLite table, in groups of the same size
/// with one sync each: the baseline for `batch`.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn bare_inserts_in_groups(bencher: Bencher) {
    const GROUP: u32 = 4096;
    let folder = TempDir::new().unwrap();
    let connection = Connection::open(folder.path().join("bare.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE bare (seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT",
        )
        .unwrap();
    let bytes = vec![b'x'; 900];
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
        for start in (0..EVENTS).step_by(GROUP as usize) {
            connection.execute_batch("BEGIN").unwrap();
            for _ in start..EVENTS.min(start + GROUP) {
                connection
                    .prepare_cached("INSERT INTO bare (body) VALUES (?1)")
                    .unwrap()
                    .execute([&bytes])
                    .unwrap();
            }
            connection.execute_batch("COMMIT").unwrap();
        }
    });
}

/// The canonical bytes of the same number of events and their digests, on one core: the minimum
/// that any ledger has to do.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn bare_canonical_bytes_and_digests(bencher: Bencher) {
    let opened = Draft::Opened(opened(&id(1)));
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
        for _ in 0..EVENTS {
            let bytes = canonical_bytes_of(black_box(&opened)).unwrap();
            black_box(Digest::of_bytes(&bytes));
        }
    });
}

/// Chain, tree, columns, counters, signatures and stored results.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn verification_at_size(bencher: Bencher) {
    let (_folder, ledger) = filled(50_000, Durability::Os);
    bencher.counter(ItemsCount::new(2 * receipts(50_000))).bench_local(|| {
        let found = ledger.verify(&Expected::default(), &mut |_| {}).unwrap();
        assert!(found.holds());
    });
}

#[divan::bench]
fn look_up_at_size(bencher: Bencher) {
    let (_folder, ledger) = filled(10_000, Durability::Os);
    let number = AtomicU32::new(0);
    bencher.bench_local(|| {
        // Spread over the whole ledger, in no particular order.
        let id = id(number.fetch_add(7919, Ordering::Relaxed) % receipts(10_000));
        black_box(ledger.receipt(&id).unwrap().unwrap())
    });
}

/// The number of receipts to begin with, unless `RECEIPTS` says otherwise.
fn receipts(usual: u32) -> u32 {
    std::env::var("RECEIPTS").map_or(usual, |count| count.parse().unwrap())
}

fn filled(usual: u32, durability: Durability) -> (TempDir, Ledger) {
    let (folder, ledger) = ledger(durability);
    write(&ledger, &AtomicU32::new(0), receipts(usual));
    (folder, ledger)
}

/// Writes executions, with many under way at once.
fn write(ledger: &Ledger, number: &AtomicU32, executions: u32) {
    let mut under_way = VecDeque::new();
    for _ in 0..executions {
        let id = id(number.fetch_add(1, Ordering::Relaxed));
        under_way.push_back(ledger.open_execution("s", opened(&id), None));
        let (draft, result) = close(&id);
        under_way.push_back(ledger.append("s", draft, vec![result]));
        if under_way.len() > 20_000 {
            under_way.pop_front().unwrap().wait().unwrap();
        }
    }
    under_way.into_iter().for_each(|pending| drop(pending.wait().unwrap()));
}

fn ledger(durability: Durability) -> (TempDir, Ledger) {
    let folder = TempDir::new().unwrap();
    let settings = LedgerSettings { durability, ..LedgerSettings::default() };
    let clock = Arc::new(SystemClock::default());
    let path = folder.path().join("ledger.db");
    let (ledger, _) = Ledger::open(&path, settings, clock, Arc::new(SystemRandomness)).unwrap();
    (folder, ledger)
}

fn execute(ledger: &Ledger, number: u32) {
    let id = id(number);
    ledger.open_execution("s", opened(&id), None).wait().unwrap();
    let (draft, result) = close(&id);
    ledger.append("s", draft, vec![result]).wait().unwrap();
}

fn id(number: u32) -> String {
    ExecutionId::format("read_file", 1_735_000_000_000 + u64::from(number), number)
}

fn opened(execution_id: &str) -> Opened {
    let arguments = json!({ "path": "notes/a.md", "lines": [1, 20] });
    Opened {
        execution_id: execution_id.to_owned(),
        tool: "read_file".to_owned(),
        origin: Origin::Builtin,
        emitted_tool: None,
        call_id: "call_1".to_owned(),
        caller_id: None,
        phase: Phase::Executor,
        requested: Requested::ByModel,
        model: Some("a-model".to_owned()),
        emitted_digest: Digest::of_bytes(b"{}"),
        arguments_digest: Digest::of_bytes(b"{}"),
        arguments: arguments.into(),
        permit: PermitBasis::Policy { rules: vec!["reading".to_owned()] },
        trust: TrustLevel::Provisional,
        started_at: 1_735_999_999_123,
        trace: None,
        links: Links::default(),
        warnings: Vec::new(),
        emitted_arguments: None,
        rules: Vec::new(),
        id_shown: false,
    }
}

fn close(execution_id: &str) -> (Draft, Vec<u8>) {
    let result = format!("what {execution_id} gave").into_bytes();
    let digest = Digest::of_bytes(&result);
    let closed = Closed {
        execution_id: execution_id.to_owned(),
        status: Status::Completed,
        category: None,
        exit_code: Some(0),
        truncated: false,
        kept_whole: false,
        attempts: 1,
        ended_at: 1_735_999_999_163,
        duration_us: 39_500,
        raw_digest: digest,
        recorded_digest: digest,
        side_effects: Vec::new(),
        confinement: None,
        background: None,
    };
    (Draft::Closed(closed), result)
}
