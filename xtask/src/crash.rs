//! `cargo xtask crash`: kills processes that write to one ledger at random points, and checks that
//! everything acknowledged to them is still there.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use counterfoil_ledger::{
    Draft, Durability, Expected, Ledger, LedgerSettings, Pending, Randomness as _, SystemClock,
    SystemRandomness,
};
use counterfoil_model::Digest;

use crate::receipts::{closed, opened};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Number of times that the writers are killed.
    #[arg(long, default_value_t = 1000)]
    cycles: u32,
    /// Number of processes that write at once.
    #[arg(long, default_value_t = 2)]
    writers: u32,
    /// Run as a writer: write to this ledger until killed, and print what is acknowledged.
    #[arg(long, hide = true, num_args = 3, value_names = ["PATH", "SESSION", "DURABILITY"])]
    write: Option<Vec<String>>,
}

/// The number of cycles on one ledger before a new one is begun: each cycle verifies all of it.
const ON_ONE_LEDGER: u32 = 25;

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some([path, session, durability]) = options.write.as_deref() {
        return write(Path::new(path), session, durability);
    }
    let mut totals = Totals::default();
    let mut folder = tempfile::tempdir()?;
    for cycle in 0..options.cycles {
        if cycle % ON_ONE_LEDGER == 0 {
            folder = tempfile::tempdir()?;
        }
        let durability = match cycle % 3 {
            0 => "os",
            1 => "batch",
            _ => "full",
        };
        let path = folder.path().join("ledger.db");
        totals
            .cycle(&path, cycle, options.writers, durability)
            .with_context(|| format!("cycle {cycle}, durability {durability}"))?;
    }
    let Totals { acknowledged, torn, before_any } = totals;
    println!(
        "{} cycles with {} writers: {acknowledged} acknowledged events, none lost; every ledger \
         verified; {torn} torn tails reported and cut; killed before the first event {before_any} \
         times",
        options.cycles, options.writers
    );
    Ok(())
}

/// The maximum time to open a ledger.
const OPENING: Duration = Duration::from_secs(60);

/// An event as acknowledged to its writer.
struct Acknowledged {
    seq: u64,
    session_seq: u64,
    digest: String,
}

#[derive(Default)]
struct Totals {
    acknowledged: usize,
    torn: usize,
    before_any: usize,
}

impl Totals {
    fn cycle(&mut self, path: &Path, cycle: u32, writers: u32, durability: &str) -> Result<()> {
        let sessions: Vec<_> = (0..writers).map(|writer| format!("c{cycle}w{writer}")).collect();
        let acknowledged = killed_writers(path, &sessions, durability)?;
        let (ledger, notices) = open(path, durability)?;
        self.torn += notices.iter().filter(|notice| notice.contains("unfinished write")).count();
        let verification = ledger.verify(&Expected::default(), &mut |_| {})?;
        if let Some(broken) = verification.broken {
            bail!("the ledger does not verify: {broken}");
        }
        for (session, acknowledged) in sessions.iter().zip(acknowledged) {
            let events = ledger.events(session)?;
            ensure!(
                (1..).zip(&events).all(|(place, event)| event.session_seq == place),
                "session {session} has a gap"
            );
            for Acknowledged { seq, session_seq, digest } in &acknowledged {
                let found = events.iter().find(|event| event.session_seq == *session_seq);
                let found = found.map(|event| (event.seq, event.digest.to_string()));
                ensure!(
                    found == Some((*seq, digest.clone())),
                    "event {seq} of session {session} was acknowledged and is lost"
                );
            }
            self.before_any += usize::from(acknowledged.is_empty());
            self.acknowledged += acknowledged.len();
        }
        Ok(())
    }
}

/// Starts the writers and kills them. Returns what was acknowledged to them, one list per session.
fn killed_writers(
    path: &Path,
    sessions: &[String],
    durability: &str,
) -> Result<Vec<Vec<Acknowledged>>> {
    let (lines, printed) = channel();
    let mut children = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        let mut child = spawn(path, session, durability)?;
        let stdout = child.stdout.take().context("its output is piped")?;
        let lines = lines.clone();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            // A line cut off by the kill is not an acknowledgement.
            while stdout.read_line(&mut line).is_ok_and(|n| n > 0) && line.ends_with('\n') {
                if lines.send((number, std::mem::take(&mut line))).is_err() {
                    return;
                }
            }
        });
        children.push(child);
    }
    drop(lines);
    let mut random = [0; 3];
    SystemRandomness.fill(&mut random)?;
    let [high, low, manner] = random;
    let patience = Duration::from_micros(u64::from(u16::from_be_bytes([high, low])));
    // Some are killed while they open the ledger, most in the middle of their work.
    let mut waits_for_first = manner >= 64;
    let mut deadline = Instant::now() + if waits_for_first { OPENING } else { patience };
    let mut acknowledged: Vec<_> = sessions.iter().map(|_| Vec::new()).collect();
    loop {
        match printed.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((number, line)) => {
                let list: &mut Vec<_> = acknowledged.get_mut(number).context("a known writer")?;
                list.push(parse(&line).with_context(|| format!("a writer said `{line}`"))?);
                if std::mem::take(&mut waits_for_first) {
                    deadline = Instant::now() + patience;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if Instant::now() >= deadline {
            for child in &mut children {
                child.kill()?;
            }
            // Their remaining output is still to be read.
            deadline = Instant::now() + OPENING;
        }
    }
    for mut child in children {
        let status = child.wait()?;
        ensure!(status.code().is_none(), "a writer ended by itself: {status}");
    }
    Ok(acknowledged)
}

#[expect(clippy::disallowed_methods, reason = "the writers are processes that can be killed")]
fn spawn(path: &Path, session: &str, durability: &str) -> Result<Child> {
    let own: PathBuf = std::env::current_exe()?;
    Command::new(own)
        .args(["crash", "--write"])
        .arg(path)
        .args([session, durability])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting a writer")
}

fn parse(line: &str) -> Option<Acknowledged> {
    let mut words = line.split_whitespace();
    let (seq, session_seq) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(Acknowledged { seq, session_seq, digest: words.next()?.to_owned() })
}

fn open(path: &Path, durability: &str) -> Result<(Ledger, Vec<String>)> {
    let durability = match durability {
        "full" => Durability::Full,
        "batch" => Durability::Batch,
        "os" => Durability::Os,
        other => bail!("`{other}` is no durability"),
    };
    let settings = LedgerSettings { durability, ..LedgerSettings::default() };
    let clock = Arc::new(SystemClock::default());
    Ok(Ledger::open(path, settings, clock, Arc::new(SystemRandomness))?)
}

/// Writes executions until killed, and prints what was acknowledged.
fn write(path: &Path, session: &str, durability: &str) -> Result<()> {
    let (ledger, _) = open(path, durability)?;
    let mut stdout = std::io::stdout().lock();
    let mut under_way: Vec<Pending<_>> = Vec::new();
    for number in 0.. {
        let id = format!("{session}_1735999999123_{number:08x}");
        under_way.push(ledger.open_execution(session, opened(&id), None));
        let result = format!("result {number} of {session}: {}", "lorem ipsum ".repeat(40));
        let draft = Draft::Closed(closed(&id, Digest::of_bytes(result.as_bytes())));
        under_way.push(ledger.append(session, draft, vec![result.into_bytes()]));
        // Several are in progress at once, as with parallel calls.
        if under_way.len() >= 8 {
            for pending in under_way.drain(..) {
                let event = pending.wait()?;
                writeln!(stdout, "{} {} {}", event.seq, event.session_seq, event.digest)?;
            }
            stdout.flush()?;
        }
    }
    Ok(())
}
