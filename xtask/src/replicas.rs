//! `cargo xtask replicas`: several processes write to one ledger on PostgreSQL. One is killed and
//! the database crashes; afterwards nothing may be missing, and the quota may not be exceeded.

mod bare;
#[path = "../../crates/ledger/tests/it/ledger/postgres/server.rs"]
#[expect(dead_code, clippy::panic, reason = "the tests of the ledger use all of it")]
mod server;
mod work;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};
use counterfoil_ledger::{Expected, Ledger};
use server::{Server, Stop};
use work::{Replica, Told};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Number of calls that the replicas may make together: the quota of their session.
    #[arg(long, default_value_t = 50_000)]
    calls: u64,
    /// Number of processes that write at once.
    #[arg(long, default_value_t = 3)]
    replicas: usize,
    /// Run as a replica: write until the quota is used up, and print what is acknowledged.
    #[arg(long, hide = true, num_args = 4, value_names = ["URL", "KEY", "NAME", "QUOTA"])]
    work: Option<Vec<String>>,
}

/// The session shared by all replicas.
const SESSION: &str = "shared";

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(900);

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some([url, key, name, quota]) = options.work.as_deref() {
        return work::run(url, Path::new(key), name, quota.parse()?);
    }
    ensure!(options.replicas >= 2, "one is killed, so two are the least");
    // With default settings, which sync every commit.
    let mut server = Server::start(&[]).map_err(|why| anyhow!("there is no PostgreSQL: {why}"))?;
    let keys = tempfile::tempdir()?;
    under_fire(options, &mut server, &keys.path().join("fire.key"))?;
    println!();
    undisturbed(options, &server, &keys.path().join("rate.key"))
}

/// The outcomes of the calls, as the replicas saw them.
#[derive(Default)]
struct Tally {
    acknowledged: BTreeSet<String>,
    unknown: BTreeSet<String>,
    errors: Vec<String>,
}

impl Tally {
    fn add(&mut self, told: Told) {
        match told {
            Told::Acknowledged(id) => drop(self.acknowledged.insert(id)),
            Told::Unknown(id) => drop(self.unknown.insert(id)),
            Told::Error(error) => self.errors.push(error),
        }
    }
}

/// Kills one replica, and crashes and restarts the server, while all of them write.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn under_fire(options: &Options, server: &mut Server, key: &Path) -> Result<()> {
    let url = server.schema("fire");
    let ledger = work::open(&url, key)?;
    let (lines, told) = channel();
    let mut replicas = Vec::new();
    for number in 0..options.replicas {
        replicas.push(Replica::start(&url, key, &format!("r{number}"), options.calls, &lines)?);
    }
    drop(lines);
    let (mut tally, started) = (Tally::default(), Instant::now());
    let calls = usize::try_from(options.calls)?;
    until(&told, &mut tally, calls / 3)?;
    println!("{:>7} calls: one replica is killed", tally.acknowledged.len());
    replicas.first_mut().map(Replica::kill).transpose()?;
    until(&told, &mut tally, calls / 2)?;
    println!("{:>7} calls: the server crashes, and is started again", tally.acknowledged.len());
    server.stop(Stop::AtOnce);
    server.start_again().map_err(|why| anyhow!(why))?;
    until(&told, &mut tally, usize::MAX)?;
    for replica in replicas.iter_mut().skip(1) {
        replica.wait()?;
    }
    println!("{:>7} calls acknowledged after {:.1?}", tally.acknowledged.len(), started.elapsed());
    check(&ledger, options.calls, &tally)
}

/// Reads outcomes until `calls` calls are acknowledged, or all replicas have ended.
fn until(told: &Receiver<Told>, tally: &mut Tally, calls: usize) -> Result<()> {
    while tally.acknowledged.len() < calls {
        match told.recv_timeout(PATIENCE) {
            Ok(told) => tally.add(told),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => bail!("the replicas hang"),
        }
    }
    Ok(())
}

/// Checks that the ledger contains everything acknowledged, and nothing more than the quota.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn check(ledger: &Ledger, quota: u64, tally: &Tally) -> Result<()> {
    let Tally { acknowledged, unknown, errors } = tally;
    ensure!(errors.is_empty(), "{} calls failed, the first: {:?}", errors.len(), errors.first());
    let made = ledger.calls_made(SESSION)?;
    println!("quota: {made} of {quota} calls made");
    ensure!(made == quota, "the quota was not kept exactly");
    let mut closed = BTreeSet::new();
    for event in ledger.events(SESSION)? {
        if let counterfoil_ledger::Draft::Closed(draft) = event.draft {
            closed.insert(draft.execution_id);
        }
    }
    let lost = acknowledged.iter().filter(|id| !closed.contains(*id)).count();
    println!(
        "receipts: {} acknowledged, {lost} lost; {} of an unknown outcome; {} of the killed replica \
         are there that it could not tell of",
        acknowledged.len(),
        unknown.len(),
        closed.iter().filter(|id| !acknowledged.contains(*id) && !unknown.contains(*id)).count(),
    );
    ensure!(lost == 0, "receipts are lost");
    let started = Instant::now();
    let found = ledger.verify(&Expected::default(), &mut |_| {})?;
    let rate = found.events as f64 / started.elapsed().as_secs_f64();
    println!(
        "verification: {} events, {} signed, {} stored results, {rate:.0} events/s: {}",
        found.events,
        found.signed,
        found.results,
        found.broken.as_ref().map_or("it holds".to_owned(), ToString::to_string),
    );
    ensure!(found.holds(), "the ledger does not verify");
    Ok(())
}

/// Measures the replicas' rate without disturbance, compared with bare inserts of the same bytes.
#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn undisturbed(options: &Options, server: &Server, key: &Path) -> Result<()> {
    for count in [1, options.replicas] {
        let schema = format!("rate_{count}");
        let url = server.schema(&schema);
        let ledger = work::open(&url, key)?;
        let (lines, told) = channel();
        let started = Instant::now();
        let mut replicas = Vec::new();
        for number in 0..count {
            let name = format!("r{number}");
            replicas.push(Replica::start(&url, key, &name, options.calls, &lines)?);
        }
        drop(lines);
        let mut tally = Tally::default();
        until(&told, &mut tally, usize::MAX)?;
        let elapsed = started.elapsed();
        replicas.iter_mut().try_for_each(Replica::wait)?;
        let events = ledger.checkpoint()?.size();
        ensure!(tally.errors.is_empty(), "{:?}", tally.errors.first());
        let rate = events as f64 / elapsed.as_secs_f64();
        drop(ledger);
        let bare = bare::rates(&url, &schema, &server.schema(&format!("bare_{count}")))?;
        println!(
            "replicas: {count}; {events} events, {rate:.0} events/s. Bare inserts of the same rows: \
             {:.0} events/s ({:.2}); of their bytes alone, without columns and indexes: {:.0} \
             events/s ({:.2})",
            bare.rows,
            rate / bare.rows,
            bare.bytes,
            rate / bare.bytes
        );
    }
    Ok(())
}
