//! Benchmarks: reading and checking a large log, and verifying an answer.

mod answer;
mod counts;
mod log;
mod real;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use counterfoil_formats::read;
use counterfoil_model::Transcript;
use counterfoil_rules::{Indexed, Settings, check, check_from};
use serde_json::Value;

/// The maximum time for a log, in bare parses of its lines.
const MOST_PARSES: f64 = 3.0;
/// The maximum factor in time for a log of twice the length.
const MOST_GROWTH: f64 = 2.2;
/// The maximum median time to verify an answer.
const MEDIAN: Duration = Duration::from_micros(50);
/// The maximum 99th percentile of the time to verify an answer.
const P99: Duration = Duration::from_millis(1);
/// The maximum time to verify an answer of a hundred pages against ten thousand receipts.
const BOOK: Duration = Duration::from_millis(50);
/// The number of answers verified.
const ANSWERS: usize = 10_000;
/// The number of times each log is read; the fastest counts.
const ROUNDS: usize = 3;

#[derive(Args)]
pub(crate) struct Options {
    /// Size of the large log in megabytes; a log of half the size is read too.
    #[arg(long, default_value_t = 200)]
    megabytes: usize,
    /// Measure reading this log instead of a generated one.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Also verify the answers of real sessions in this folder.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Fail if a limit is exceeded.
    #[arg(long)]
    assert: bool,
    /// Count instructions with valgrind instead of time; this program need not be optimised.
    #[arg(long)]
    counts: bool,
    /// Write the large log to this file and measure nothing.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
#[expect(clippy::disallowed_methods, reason = "a developer tool writes a log to measure with")]
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(path) = &options.write {
        return std::fs::write(path, log::log(options.megabytes * 1_000_000))
            .with_context(|| path.display().to_string());
    }
    if options.counts {
        return counts::counts();
    }
    ensure!(
        !cfg!(debug_assertions),
        "without optimisation the times mean nothing: `cargo run --release -p xtask -- bench`"
    );
    if let Some(path) = &options.log {
        let log = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        return reading(&log).map(|_| ());
    }
    let (session, claims_only) = (answer::session(), answer::claims_only());
    let indexed = Indexed::new(&session);
    let (median, p99) = times(|| indexed.check_from(&claims_only, 0));
    let (bare, _) = times(|| parse_results(&session));
    println!(
        "verifying one answer      median {median:.1?} (goal {MEDIAN:?}), p99 {p99:.1?} (goal {P99:?}) \
         = {:.1} bare parses of its results of {bare:.1?}",
        median.as_secs_f64() / bare.as_secs_f64()
    );
    let (with_index, _) = times(|| check(black_box(&session), &claims_only));
    println!("and indexing its record   median {with_index:.1?}");
    let (with_calls, _) = times(|| check(black_box(&session), &Settings::default()));
    println!("and its ten calls         median {with_calls:.1?}");
    let long = answer::book();
    let book = best(|| check(black_box(&long), &claims_only));
    let bare = best(|| parse_results(&long));
    println!(
        "a hundred pages           {book:.1?} against 10,000 receipts (goal {BOOK:?}) \
         = {:.1} bare parses of their results of {bare:.1?}",
        book.as_secs_f64() / bare.as_secs_f64()
    );
    if let Some(data) = &options.data {
        real::measure(data, &claims_only)?;
    }
    let half = reading(&log::log(options.megabytes * 500_000))?;
    let whole = reading(&log::log(options.megabytes * 1_000_000))?;
    let growth = whole.ours.as_secs_f64() / half.ours.as_secs_f64();
    println!("growth with twice the log {growth:.2} (limit {MOST_GROWTH})");
    if options.assert {
        ensure!(median <= MEDIAN && p99 <= P99, "verifying an answer takes too long");
        ensure!(book <= BOOK, "verifying a long answer takes too long");
        ensure!(whole.parses() <= MOST_PARSES, "reading and checking takes too long");
        ensure!(growth <= MOST_GROWTH, "the time grows faster than the log");
    }
    Ok(())
}

/// Only parses the results of a session: the lower bound.
fn parse_results(session: &Transcript) -> usize {
    let outcomes = session.messages.iter().flat_map(|message| &message.outcomes);
    outcomes.filter_map(|outcome| serde_json::from_str::<Value>(&outcome.text).ok()).count()
}

/// Returns the median and the 99th percentile of the time for some work, after a warm-up.
fn times<R>(work: impl Fn() -> R) -> (Duration, Duration) {
    black_box(work());
    let mut times: Vec<Duration> = (0..ANSWERS).map(|_| time(&work)).collect();
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    (at(50), at(99))
}

/// Returns the fastest of several rounds.
fn best<R>(work: impl Fn() -> R) -> Duration {
    (0..ROUNDS * 3).map(|_| time(&work)).min().unwrap_or_default()
}

fn time<R>(work: &impl Fn() -> R) -> Duration {
    let begin = Instant::now();
    black_box(work());
    begin.elapsed()
}

/// The time that reading one log takes.
struct Reading {
    ours: Duration,
    bare: Duration,
    /// Judging only the last message, as a hook does when the agent stops.
    last: Duration,
}

impl Reading {
    /// The time in bare parses of the same lines.
    fn parses(&self) -> f64 {
        self.ours.as_secs_f64() / self.bare.as_secs_f64()
    }
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn reading(log: &str) -> Result<Reading> {
    let settings = Settings::default();
    let mut best = Reading { ours: Duration::MAX, bare: Duration::MAX, last: Duration::MAX };
    let (mut only_read, mut found) = (Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for line in log.lines() {
            black_box(serde_json::from_str::<Value>(line)?);
        }
        best.bare = best.bare.min(begin.elapsed());
        let (mut checking, mut last) = (Duration::ZERO, Duration::MAX);
        let begin = Instant::now();
        found = 0;
        read(log.as_bytes(), &counterfoil_formats::Options::new("bench"), &mut |reading| {
            let begin = Instant::now();
            found += check(&reading.transcript, &settings).findings.len();
            checking += begin.elapsed();
            let messages = reading.transcript.messages.len();
            let begin = Instant::now();
            black_box(check_from(&reading.transcript, &settings, messages.saturating_sub(1)));
            last = last.min(begin.elapsed());
        })?;
        let ours = begin.elapsed() - last;
        best.last = best.last.min(last);
        best.ours = best.ours.min(ours);
        only_read = only_read.min(ours - checking);
    }
    let megabytes = log.len() / 1_000_000;
    println!(
        "{megabytes:4} MB read and checked   {:.2?} = {:.2} bare parses of {:.2?} (limit {MOST_PARSES}); \
         {only_read:.2?} of it reading; {found} findings; the last message alone {:.2?}",
        best.ours,
        best.parses(),
        best.bare,
        best.last,
    );
    Ok(best)
}
