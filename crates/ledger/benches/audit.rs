//! Compares audit lines with bare writes of the same size, and verification with a bare digest of
//! the same bytes: `cargo bench -p counterfoil-ledger --bench audit`.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a bench may fail")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

use counterfoil_ledger::{
    AuditEntry, AuditFiles, AuditLog, AuditResult, AuditSettings, Durability, SystemClock,
    verify_audit,
};
use counterfoil_model::Digest;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use serde_json::json;
use tempfile::TempDir;

const LINES: u64 = 20_000;

fn main() {
    divan::main();
}

fn entry() -> AuditEntry {
    AuditEntry {
        session_id: Some("session-1".to_owned()),
        execution_id: Some("shell_1793620800000_9f3a01bc".to_owned()),
        ..AuditEntry::new(
            "shell",
            json!({ "command": "cargo test --workspace", "cwd": "crates/guard" }),
            AuditResult::Success,
        )
    }
}

fn log(folder: &TempDir, durability: Durability) -> AuditLog {
    let settings = AuditSettings { durability, rotate_bytes: None, ..AuditSettings::default() };
    let path = folder.path().join("audit.jsonl");
    AuditLog::open(&path, settings, Arc::new(SystemClock::default())).unwrap()
}

/// One line exactly as it is in the file.
fn line() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    log(&folder, Durability::Os).append(&entry()).unwrap();
    std::fs::read(folder.path().join("audit.jsonl")).unwrap()
}

fn bare(folder: &TempDir) -> File {
    File::options().append(true).create(true).open(folder.path().join("bare")).unwrap()
}

#[divan::bench(sample_count = 20, sample_size = 200)]
fn written_bare(bencher: Bencher<'_, '_>) {
    let (folder, line) = (tempfile::tempdir().unwrap(), line());
    let mut file = bare(&folder);
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| file.write_all(&line).unwrap());
}

#[divan::bench(sample_count = 20, sample_size = 200)]
fn appended(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().unwrap();
    let (log, entry) = (log(&folder, Durability::Os), entry());
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| log.append(&entry).unwrap());
}

#[divan::bench(sample_count = 20, sample_size = 20)]
fn written_bare_and_synced(bencher: Bencher<'_, '_>) {
    let (folder, line) = (tempfile::tempdir().unwrap(), line());
    let mut file = bare(&folder);
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| {
        file.write_all(&line).unwrap();
        file.sync_data().unwrap();
    });
}

#[divan::bench(sample_count = 20, sample_size = 20)]
fn appended_and_synced(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().unwrap();
    let (log, entry) = (log(&folder, Durability::Full), entry());
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| log.append(&entry).unwrap());
}

fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (log, entry) = (log(&folder, Durability::Os), entry());
    (0..LINES).for_each(|_| log.append(&entry).unwrap());
    folder
}

/// The digest of every byte and nothing else: the lower bound for verification.
#[divan::bench(sample_count = 10)]
fn digested_bare(bencher: Bencher<'_, '_>) {
    let folder = filled();
    bencher.counter(ItemsCount::new(LINES)).bench_local(|| {
        let mut bytes = Vec::new();
        let mut file = File::open(folder.path().join("audit.jsonl")).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        black_box(Digest::of_bytes(&bytes))
    });
}

#[divan::bench(sample_count = 10)]
fn verified(bencher: Bencher<'_, '_>) {
    let folder = filled();
    bencher.counter(ItemsCount::new(LINES)).bench_local(|| {
        let files = AuditFiles::open(&folder.path().join("audit.jsonl")).unwrap();
        let found = verify_audit(files, None, &mut |_| {}).unwrap();
        assert!(found.sound() && found.lines == LINES);
    });
}
