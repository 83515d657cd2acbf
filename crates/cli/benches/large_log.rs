//! Measures reading and checking a large Claude Code log, and a bare parse of the same lines:
//! `cargo bench -p counterfoil`. For the full 200 MB and the growth, run `cargo run --release -p
//! xtask -- bench`.

#[path = "../../../xtask/src/bench/log.rs"]
mod log;

use counterfoil_formats::{Options, read};
use counterfoil_rules::{Settings, check};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

const BYTES: usize = 50_000_000;

fn main() {
    divan::main();
}

/// Only parses the lines: the lower bound.
#[divan::bench(sample_count = 5)]
fn bare_parse(bencher: Bencher<'_, '_>) {
    let log = log::log(BYTES);
    bencher.counter(BytesCount::of_str(&log)).bench_local(|| {
        for line in log.lines() {
            let _ = black_box(serde_json::from_str::<serde_json::Value>(line));
        }
    });
}

#[divan::bench(sample_count = 5)]
fn read_and_check(bencher: Bencher<'_, '_>) {
    let log = log::log(BYTES);
    let settings = Settings::default();
    bencher.counter(BytesCount::of_str(&log)).bench_local(|| {
        let mut findings = 0;
        let done = read(log.as_bytes(), &Options::new("bench"), &mut |reading| {
            findings += check(&reading.transcript, &settings).findings.len();
        });
        black_box((done.is_ok(), findings))
    });
}
