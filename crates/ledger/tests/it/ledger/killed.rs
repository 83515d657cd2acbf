//! Processes that write to one ledger are killed at random points, and a server crashes under
//! them: everything acknowledged to them is still there.
//!
//! `CYCLES=1000 cargo test -p counterfoil-ledger --test it killed` kills more of them.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use counterfoil_ledger::{AppendError, Event, Expected, LedgerUrl, SystemClock, SystemRandomness};
use serde::{Deserialize, Serialize};

use super::postgres::server::Stop;
use super::*;

/// The number of cycles on one ledger before a new one is begun: each cycle verifies all of it.
const ON_ONE_LEDGER: usize = 25;

#[test]
fn killed_writers_lose_nothing_that_was_acknowledged() {
    let cycles = std::env::var("CYCLES").map_or(20, |cycles| cycles.parse().unwrap());
    let mut folder = tempfile::tempdir().unwrap();
    for cycle in 0..cycles {
        if cycle % ON_ONE_LEDGER == 0 {
            folder = tempfile::tempdir().unwrap();
        }
        let tasks = [0, 1].map(|writer| Task {
            folder: folder.path().to_owned(),
            url: None,
            session: format!("c{cycle}w{writer}"),
            name: format!("c{cycle}w{writer}"),
            durability: ["os", "batch", "full"][cycle % 3].to_owned(),
            quota: None,
        });
        let mut writers = Writers::start(&tasks);
        let mut random = [0; 3];
        SystemRandomness.fill(&mut random).unwrap();
        let [high, low, manner] = random;
        // Some are killed while they open the ledger, most in the middle of their work.
        if manner >= 64 {
            writers.listen(1, PATIENCE);
        }
        let pause = Duration::from_micros(u16::from_be_bytes([high, low]).into());
        writers.listen(usize::MAX, pause);
        for child in &mut writers.children {
            child.kill().unwrap();
            let status = child.wait().unwrap();
            assert!(status.code().is_none(), "a writer ended by itself: {status}");
        }
        writers.listen(usize::MAX, PATIENCE);
        assert_eq!((&writers.unknown, &writers.errors), (&vec![], &vec![]), "cycle {cycle}");
        nothing_is_lost(&tasks[0].open(), &writers.acknowledged);
    }
}

#[test]
fn a_killed_replica_and_a_crashed_server_lose_nothing_and_keep_the_quota() {
    // With default settings, which sync every commit.
    let Some(mut server) = postgres::start(&[]) else { return };
    let (quota, url) = (3000, server.schema("killed"));
    let folder = tempfile::tempdir().unwrap();
    let tasks = [0, 1, 2].map(|replica| Task {
        folder: folder.path().to_owned(),
        url: Some(url.clone()),
        session: "shared".to_owned(),
        name: format!("r{replica}"),
        durability: "batch".to_owned(),
        quota: Some(quota),
    });
    let ledger = tasks[0].open();
    let mut writers = Writers::start(&tasks);
    writers.listen(2000, PATIENCE);
    writers.children[0].kill().unwrap();
    writers.listen(3000, PATIENCE);
    server.stop(Stop::AtOnce);
    server.start_again().unwrap();
    writers.listen(usize::MAX, PATIENCE);
    for child in &mut writers.children[1..] {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(writers.errors, [""; 0]);
    assert_eq!(ledger.calls_made("shared"), Ok(quota));
    nothing_is_lost(&ledger, &writers.acknowledged);
}

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// An event as acknowledged to its writer.
struct Acknowledged {
    session: String,
    seq: u64,
    session_seq: u64,
    digest: String,
}

/// Everything acknowledged is there, the sessions have no gaps, and the ledger verifies.
fn nothing_is_lost(ledger: &Ledger, acknowledged: &[Acknowledged]) {
    let sessions: std::collections::BTreeSet<&str> =
        acknowledged.iter().map(|event| event.session.as_str()).collect();
    for session in sessions {
        let events: Vec<Event> = ledger.events(session).unwrap();
        assert!((1..).zip(&events).all(|(place, event)| event.session_seq == place), "{session}");
        for reported in acknowledged.iter().filter(|reported| reported.session == session) {
            let found = &events[usize::try_from(reported.session_seq).unwrap() - 1];
            assert_eq!(
                (found.seq, found.digest.to_string()),
                (reported.seq, reported.digest.clone())
            );
        }
    }
    let found = ledger.verify(&Expected::default(), &mut |_| {}).unwrap();
    assert!(found.holds(), "{:?}", found.broken);
}

/// Running writers, and what they report.
struct Writers {
    children: Vec<Child>,
    reports: Receiver<(String, String)>,
    acknowledged: Vec<Acknowledged>,
    unknown: Vec<String>,
    errors: Vec<String>,
}

impl Writers {
    fn start(tasks: &[Task]) -> Self {
        let (lines, reports) = channel();
        let mut children = Vec::new();
        for task in tasks {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "ledger::killed::writer"])
                .env(TASK, serde_json::to_string(task).unwrap())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdout = BufReader::new(child.stdout.take().unwrap());
            children.push(child);
            let (lines, session) = (lines.clone(), task.session.clone());
            std::thread::spawn(move || {
                let mut line = String::new();
                // A line cut off by the kill is not an acknowledgement.
                while stdout.read_line(&mut line).is_ok_and(|n| n > 0) && line.ends_with('\n') {
                    if lines.send((session.clone(), std::mem::take(&mut line))).is_err() {
                        return;
                    }
                }
            });
        }
        let (acknowledged, unknown, errors) = (Vec::new(), Vec::new(), Vec::new());
        Self { children, reports, acknowledged, unknown, errors }
    }

    /// Listens until this many events are acknowledged, for this long, or until all have ended.
    fn listen(&mut self, events: usize, long: Duration) {
        let until = Instant::now() + long;
        while self.acknowledged.len() < events {
            let left = until.saturating_duration_since(Instant::now());
            let (session, line) = match self.reports.recv_timeout(left) {
                Ok(report) => report,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    assert!(long < PATIENCE, "the writers hang");
                    return;
                }
            };
            // Other lines are the test harness's.
            match line.trim_end().split_at_checked(2) {
                Some(("+ ", event)) => {
                    let [seq, session_seq, digest] =
                        event.split(' ').collect::<Vec<_>>().try_into().unwrap();
                    self.acknowledged.push(Acknowledged {
                        session,
                        seq: seq.parse().unwrap(),
                        session_seq: session_seq.parse().unwrap(),
                        digest: digest.to_owned(),
                    });
                }
                Some(("? ", id)) => self.unknown.push(id.to_owned()),
                Some(("! ", error)) => self.errors.push(error.to_owned()),
                _ => {}
            }
        }
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The variable with the task of a writer.
const TASK: &str = "COUNTERFOIL_TEST_TASK";

/// What a writer does.
#[derive(Serialize, Deserialize)]
struct Task {
    folder: PathBuf,
    url: Option<String>,
    session: String,
    name: String,
    durability: String,
    quota: Option<u64>,
}

impl Task {
    fn open(&self) -> Ledger {
        let settings = LedgerSettings {
            durability: serde_json::from_value(json!(self.durability)).unwrap(),
            key: self.url.is_some().then(|| self.folder.join("key")),
            url: self.url.as_deref().map(LedgerUrl::new),
            ..LedgerSettings::default()
        };
        let (path, clock) = (self.folder.join("ledger.db"), Arc::new(SystemClock::default()));
        Ledger::open(&path, settings, clock, Arc::new(SystemRandomness)).unwrap().0
    }
}

/// The process that the tests kill. It opens and closes executions until then, or until its quota
/// is used up, and prints the outcome of each.
#[test]
fn writer() {
    let Ok(task) = std::env::var(TASK) else { return };
    let task: Task = serde_json::from_str(&task).unwrap();
    let ledger = task.open();
    let mut out = std::io::stdout().lock();
    // The harness may have left its own line open.
    writeln!(out).unwrap();
    let (mut under_way, mut exhausted) = (VecDeque::new(), false);
    for number in 0_u32.. {
        if !exhausted {
            let id = format!("{}_1735999999123_{number:08x}", task.name);
            let began = ledger.open_execution(&task.session, opened(&id), task.quota);
            let result = format!("result {number}: {}", "lorem ipsum ".repeat(40)).into_bytes();
            let draft = Draft::Closed(closed(&id, &result));
            under_way.push_back((id, began, ledger.append(&task.session, draft, vec![result])));
            // Several are in progress at once, as with parallel calls.
            if under_way.len() < 4 {
                continue;
            }
        }
        let Some((id, began, ended)) = under_way.pop_front() else { return };
        match (began.wait(), ended.wait()) {
            (Ok(began), Ok(ended)) => {
                for event in [began, ended] {
                    let Event { seq, session_seq, digest, .. } = event;
                    writeln!(out, "+ {seq} {session_seq} {digest}").unwrap();
                }
            }
            (Err(AppendError::QuotaExhausted { .. }), _) => exhausted = true,
            (Err(AppendError::Unknown(_)), _) | (_, Err(AppendError::Unknown(_))) => {
                writeln!(out, "? {id}").unwrap();
            }
            (Err(error), _) | (_, Err(error)) => writeln!(out, "! {id}: {error}").unwrap(),
        }
        out.flush().unwrap();
    }
}
