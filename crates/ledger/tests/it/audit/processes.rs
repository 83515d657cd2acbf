//! Threads and processes that share one log, and processes that die during a write.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use counterfoil_ledger::{
    AuditEntry, AuditLog, AuditResult, AuditSettings, LineError, SystemClock,
};
use serde_json::{Value, json};

use super::Shelf;

/// The order for a child process, passed in its environment.
#[derive(serde::Serialize, serde::Deserialize)]
struct Order {
    path: std::path::PathBuf,
    name: String,
    count: u64,
    rotate_bytes: Option<u64>,
}

const ORDER: &str = "COUNTERFOIL_TEST_ORDER";

/// The code that the tests below run in child processes. Does nothing without an order.
#[test]
fn child() {
    let Some(order) = std::env::var_os(ORDER) else { return };
    let order: Order = serde_json::from_str(order.to_str().unwrap()).unwrap();
    let settings = AuditSettings { rotate_bytes: order.rotate_bytes, ..AuditSettings::default() };
    let log = AuditLog::open(&order.path, settings, Arc::new(SystemClock::default())).unwrap();
    for n in 0..order.count {
        let call = json!({ "by": order.name, "n": n });
        match log.append(&AuditEntry::new("t", call, AuditResult::Success)) {
            Ok(()) => println!("wrote {n}"),
            Err(error) => {
                println!("refused {n}: {error}");
                return;
            }
        }
    }
}

fn start(mut command: Command, order: &Order) -> Child {
    command
        .args(["--exact", "audit::processes::child", "--nocapture"])
        .env(ORDER, serde_json::to_string(order).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn this_binary() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

/// Who wrote each line, and its number for that writer.
fn written(shelf: &Shelf) -> Vec<(String, u64)> {
    let origin =
        |call: Value| (call["by"].as_str().unwrap().to_owned(), call["n"].as_u64().unwrap());
    shelf.lines().into_iter().map(|line| origin(line.unwrap().entry.call.value().clone())).collect()
}

#[test]
fn threads_and_processes_share_one_log() {
    let shelf = Shelf::new();
    let order = |name: &str| Order {
        path: shelf.path(),
        name: name.to_owned(),
        count: 300,
        // Small, so that files are rotated while others write.
        rotate_bytes: Some(20_000),
    };
    let children: Vec<Child> =
        ["a", "b", "c"].iter().map(|name| start(this_binary(), &order(name))).collect();
    let log = Arc::new(shelf.open());
    std::thread::scope(|scope| {
        for name in ["d", "e"] {
            let log = Arc::clone(&log);
            scope.spawn(move || {
                for n in 0..300 {
                    let call = json!({ "by": name, "n": n });
                    log.append(&AuditEntry::new("t", call, AuditResult::Success)).unwrap();
                }
            });
        }
    });
    for child in children {
        let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        assert!(output.contains("wrote 299"), "{output}");
    }
    let found = shelf.verify(None);
    assert!(found.sound(), "{:?}", found.broken);
    assert_eq!(found.lines, 1500);
    assert!(found.files > 5);
    let lines = written(&shelf);
    for name in ["a", "b", "c", "d", "e"] {
        let own: Vec<u64> = lines.iter().filter(|(by, _)| by == name).map(|(_, n)| *n).collect();
        assert_eq!(own, (0..300).collect::<Vec<u64>>(), "{name}");
    }
}

#[test]
fn nothing_that_was_written_is_lost_when_its_writer_is_killed() {
    let shelf = Shelf::new();
    let mut acknowledged = BTreeSet::new();
    for cycle in 0..20 {
        let name = format!("k{cycle}");
        let order = Order {
            path: shelf.path(),
            name: name.clone(),
            count: u64::MAX,
            rotate_bytes: Some(50_000),
        };
        let mut child = start(this_binary(), &order);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut seen = 0;
        // Killed while it writes, after a different number of lines in each cycle.
        while seen < 5 + 7 * cycle {
            let line = lines.next().unwrap().unwrap();
            if let Some(n) = line.strip_prefix("wrote ") {
                acknowledged.insert((name.clone(), n.parse::<u64>().unwrap()));
                seen += 1;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            if let Some(n) = line.strip_prefix("wrote ").and_then(|n| n.parse().ok()) {
                acknowledged.insert((name.clone(), n));
            }
        }
        // At most the last line is torn, and opening the log reports it.
        let broken = shelf.verify(None).broken.map(|problem| problem.why);
        assert!(broken.is_none_or(|why| why == LineError::Torn), "{broken:?}");
        assert_eq!(shelf.open().notices().len(), usize::from(broken.is_some()));
    }
    assert!(shelf.verify(None).sound());
    let lines: BTreeSet<_> = written(&shelf).into_iter().collect();
    let lost: Vec<_> = acknowledged.difference(&lines).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn a_full_disk_is_reported_and_leaves_no_half_line() {
    let shelf = Shelf::new();
    let order = Order { path: shelf.path(), name: "f".to_owned(), count: 1000, rotate_bytes: None };
    // Limits files to 8 blocks; with the signal ignored, the write returns an error.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""]);
    shell.arg(std::env::current_exe().unwrap());
    let output = start(shell, &order).wait_with_output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let refused = output.lines().find(|line| line.starts_with("refused ")).unwrap();
    assert!(refused.contains("cannot be written: "), "{refused}");
    let found = shelf.verify(None);
    assert!(found.sound(), "{:?}", found.broken);
    assert!(refused.starts_with(&format!("refused {}:", found.lines)), "{refused}");
    assert!(found.lines > 0);
    // Once there is room again, the log continues.
    shelf.open().append(&AuditEntry::new("t", json!({}), AuditResult::Success)).unwrap();
    assert!(shelf.verify(None).sound());
}
