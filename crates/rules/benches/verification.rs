//! Benchmarks the verification of an answer of 2 kB against 14 kB of results in ten calls, next to
//! just parsing the same results: `cargo bench -p counterfoil-rules --bench verification`. For the
//! slowest of a hundred: `cargo run --release -p xtask -- bench`.
#![expect(clippy::expect_used, reason = "a bench stops by panicking")]

#[path = "../../../xtask/src/bench/answer.rs"]
mod answer;

use counterfoil_rules::{Indexed, check};
use divan::{Bencher, black_box};
use serde_json::Value;

fn main() {
    divan::main();
}

/// Only parses the results: the lower bound.
#[divan::bench(sample_count = 2000)]
fn bare_parse(bencher: Bencher<'_, '_>) {
    let session = answer::session();
    bencher.bench_local(|| {
        for outcome in session.messages.iter().flat_map(|message| &message.outcomes) {
            let value: Value = serde_json::from_str(&outcome.text).expect("the results parse");
            black_box(value);
        }
    });
}

/// Verifies only the answer, with an indexed record: the rules about calls are off.
#[divan::bench(sample_count = 2000)]
fn verify_indexed(bencher: Bencher<'_, '_>) {
    let session = answer::session();
    let settings = answer::claims_only();
    let indexed = Indexed::new(&session);
    black_box(indexed.check_from(&settings, 0));
    bencher.bench_local(|| indexed.check_from(black_box(&settings), 0));
}

/// Verifies only the answer, and indexes the record each time.
#[divan::bench(sample_count = 2000)]
fn verify(bencher: Bencher<'_, '_>) {
    let session = answer::session();
    let settings = answer::claims_only();
    bencher.bench_local(|| check(black_box(&session), &settings));
}

/// Verifies the answer and the calls.
#[divan::bench(sample_count = 2000)]
fn verify_with_calls(bencher: Bencher<'_, '_>) {
    let session = answer::session();
    let settings = counterfoil_rules::Settings::default();
    bencher.bench_local(|| check(black_box(&session), &settings));
}

/// Verifies an answer of a hundred pages against ten thousand receipts.
#[divan::bench(sample_count = 20)]
fn verify_long_answer(bencher: Bencher<'_, '_>) {
    let session = answer::book();
    let settings = answer::claims_only();
    bencher.bench_local(|| check(black_box(&session), &settings));
}
