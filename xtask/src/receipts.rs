//! `cargo xtask receipts`: measures a ledger with many receipts.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use counterfoil_ledger::{
    Closed, Draft, Durability, Expected, Ledger, LedgerSettings, Links, Opened, Phase, Requested,
    SystemClock, SystemRandomness, TrustLevel,
};
use counterfoil_model::{Digest, ExecutionId, Origin, PermitBasis, Status};
use serde_json::json;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Number of receipts in the ledger.
    #[arg(long, default_value_t = 10_000_000)]
    receipts: u32,
    /// A folder with enough space: about 2.5 KB per receipt. Receipts of an earlier run are reused.
    #[arg(long)]
    folder: PathBuf,
    /// Also verify the whole ledger.
    #[arg(long)]
    verify: bool,
}

/// The number of receipts in each session.
const IN_A_SESSION: u32 = 1000;

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let (ledger, _) = timed("opening", || open(options))?;
    let had = u32::try_from(ledger.checkpoint()?.size() / 2)?;
    let started = Instant::now();
    let mut under_way = std::collections::VecDeque::new();
    for number in had..options.receipts {
        let session = format!("session {}", number / IN_A_SESSION);
        let id = id(number);
        under_way.push_back(ledger.open_execution(&session, opened(&id), None));
        let result = format!("what read_file gave, the {number}th time");
        let draft = Draft::Closed(closed(&id, Digest::of_bytes(result.as_bytes())));
        under_way.push_back(ledger.append(&session, draft, vec![result.into_bytes()]));
        while under_way.len() > 8192 {
            under_way.pop_front().context("one is there")?.wait()?;
        }
    }
    for pending in under_way {
        pending.wait()?;
    }
    let events = 2 * options.receipts.saturating_sub(had);
    let rate = f64::from(events) / started.elapsed().as_secs_f64();
    println!("writing {events} events, durability batch: {rate:.0} events/s");
    drop(ledger);

    let (ledger, _) = timed("opening again", || open(options))?;
    let mut times: Vec<Duration> = (0..10_000_u32)
        .map(|n| {
            // Spread over the whole ledger, in no particular order.
            let number = u32::try_from(u64::from(n) * 2_654_435_761 % u64::from(options.receipts))?;
            let id = id(number);
            let started = Instant::now();
            let receipt = ledger.receipt(&id)?;
            let time = started.elapsed();
            ensure!(receipt.is_some_and(|r| r.status == Status::Completed), "`{id}` is missing");
            Ok(time)
        })
        .collect::<Result<_>>()?;
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!("look-up by id: median {:?}, 99th percentile {:?}", at(50), at(99));
    if options.verify {
        let started = Instant::now();
        let verification = ledger.verify(&Expected::default(), &mut |_| {})?;
        ensure!(verification.holds(), "{:?}", verification.broken);
        let rate = verification.events as f64 / started.elapsed().as_secs_f64();
        println!("verifying {} events: {rate:.0} events/s", verification.events);
    }
    Ok(())
}

fn open(options: &Options) -> Result<(Ledger, Vec<String>)> {
    let settings = LedgerSettings { durability: Durability::Batch, ..LedgerSettings::default() };
    let path = options.folder.join("ledger.db");
    let clock = Arc::new(SystemClock::default());
    Ok(Ledger::open(&path, settings, clock, Arc::new(SystemRandomness))?)
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn timed<T>(what: &str, act: impl FnOnce() -> Result<T>) -> Result<T> {
    let started = Instant::now();
    let done = act()?;
    println!("{what}: {:?}", started.elapsed());
    Ok(done)
}

fn id(number: u32) -> String {
    ExecutionId::format("read_file", 1_735_000_000_000 + u64::from(number) * 7, number)
}

/// Creates the opening event of an execution.
pub(crate) fn opened(execution_id: &str) -> Opened {
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
        arguments_digest: Digest::of_json(&arguments),
        arguments: arguments.into(),
        permit: PermitBasis::Policy { rules: vec!["reading".to_owned()] },
        trust: TrustLevel::Provisional,
        started_at: 1_735_999_999_123,
        trace: None,
        links: Links::default(),
        warnings: Vec::new(),
        emitted_arguments: None,
    }
}

/// Creates the closing event of an execution.
pub(crate) fn closed(execution_id: &str, result: Digest) -> Closed {
    Closed {
        execution_id: execution_id.to_owned(),
        status: Status::Completed,
        category: None,
        exit_code: Some(0),
        truncated: false,
        kept_whole: false,
        attempts: 1,
        ended_at: 1_735_999_999_163,
        duration_us: 39_500,
        raw_digest: result,
        recorded_digest: result,
        side_effects: Vec::new(),
        confinement: None,
    }
}
