//! A process that is killed loses nothing that the store confirmed as kept.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use counterfoil_agent::TaskId;

use super::{add_task, check, note, open, place};

/// Tells a process that this binary started where its store is.
const VARIABLE: &str = "MEMORY_TEST_STORE";

/// Starts one test of this binary in a process of its own, on a store.
pub(super) fn start(test: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(VARIABLE, path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// The store that this process was given, if another one started it.
pub(super) fn given() -> Option<PathBuf> {
    std::env::var(VARIABLE).ok().map(PathBuf::from)
}

/// The numbers in whole lines of the form `got 5`.
pub(super) fn numbers(output: &[u8]) -> Vec<i64> {
    let text = String::from_utf8_lossy(output);
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.filter_map(|line| line.trim().strip_prefix("got ")?.parse().ok()).collect()
}

/// Not a test by itself: what is killed.
#[test]
fn process() {
    let Some(path) = given() else { return };
    let store = open(&path);
    let mut number = store.list(usize::MAX).unwrap().len();
    loop {
        number += 1;
        let text = format!("note {number} of a process that will be killed {}", "x".repeat(300));
        let id = store.save(&note(&text), Some(&[1.0, 0.5, 0.25])).unwrap();
        assert!(store.claim(TaskId(1), id.0, 0).unwrap());
        println!("\ngot {id}");
        assert!(store.finish(TaskId(1), id.0, 1, "done", None).unwrap());
    }
}

#[test]
fn a_killed_process_loses_nothing() {
    let (_folder, path) = place();
    add_task(&open(&path));
    let mut confirmed: Vec<i64> = Vec::new();
    for lines in [1, 7, 40, 100, 23] {
        let mut process = start("crash::process", &path);
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut bytes = Vec::new();
        while numbers(&bytes).len() < lines {
            assert!(output.read_until(b'\n', &mut bytes).unwrap() > 0, "the process has ended");
        }
        process.kill().unwrap();
        process.wait().unwrap();
        output.read_to_end(&mut bytes).unwrap();
        confirmed.extend(numbers(&bytes));

        let store = open(&path);
        let kept: Vec<i64> = store.list(10_000).unwrap().iter().map(|note| note.id.0).collect();
        let lost: Vec<&i64> = confirmed.iter().filter(|id| !kept.contains(id)).collect();
        assert!(lost.is_empty(), "{lost:?}");
        check(&path);
        let found = store.search("killed", Some(&[1.0, 0.5, 0.25]), 10_000).unwrap();
        assert_eq!(found.len(), kept.len());
        let fired = store.firings(TaskId(1), 10_000).unwrap();
        assert!(confirmed.iter().all(|id| fired.iter().any(|firing| firing.due_at == *id)));
        let unfinished = store.unfinished().unwrap();
        assert!(unfinished.len() <= 1, "{unfinished:?}");
        for firing in unfinished {
            assert!(store.finish(firing.task, firing.due_at, 2, "killed", None).unwrap());
        }
    }
    assert!(confirmed.len() >= 171, "{}", confirmed.len());
    assert_eq!(open(&path).tasks().unwrap().len(), 1);
}
