//! Claims: of all who ask for one firing, exactly one gets it.

use std::collections::BTreeMap;

use counterfoil_agent::{Store, TaskId};

use super::{add_task, open, place};

const FIRINGS: i64 = 1000;

/// Claims every firing; gives those that it got.
fn claim_all(store: &Store, task: TaskId) -> Vec<i64> {
    (0..FIRINGS).filter(|due_at| store.claim(task, *due_at, due_at + 1).unwrap()).collect()
}

fn check(taken: impl IntoIterator<Item = Vec<i64>>) {
    let mut counted: BTreeMap<i64, usize> = BTreeMap::new();
    for due_at in taken.into_iter().flatten() {
        *counted.entry(due_at).or_default() += 1;
    }
    assert_eq!(counted, (0..FIRINGS).map(|due_at| (due_at, 1)).collect());
}

#[test]
fn two_stores_claim_the_same_firings() {
    let (_folder, path) = place();
    let task = add_task(&open(&path));
    let taken: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let claim = || scope.spawn(|| claim_all(&open(&path), task));
        let threads = [claim(), claim()];
        threads.map(|thread| thread.join().unwrap()).into()
    });
    check(taken);
}

#[test]
fn threads_of_one_store_claim_the_same_firings() {
    let store = Store::in_memory().unwrap();
    let task = add_task(&store);
    let taken: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let claim = || scope.spawn(|| claim_all(&store, task));
        let threads = [claim(), claim(), claim()];
        threads.map(|thread| thread.join().unwrap()).into()
    });
    check(taken);
}

#[test]
fn two_processes_claim_the_same_firings() {
    let (_folder, path) = place();
    let task = add_task(&open(&path));
    let processes = [(); 2].map(|()| super::crash::start("claims::process", &path));
    let taken = processes.map(|process| {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        super::crash::numbers(&output.stdout)
    });
    check(taken);
    assert_eq!(open(&path).unfinished().unwrap().len(), 1000);
    assert_eq!(task, TaskId(1));
}

/// Not a test by itself: what the other processes run.
#[test]
fn process() {
    let Some(path) = super::crash::given() else { return };
    for due_at in claim_all(&open(&path), TaskId(1)) {
        println!("\ngot {due_at}");
    }
}

#[test]
fn a_store_that_is_dropped_in_the_middle_leaves_its_firing_unfinished() {
    let (_folder, path) = place();
    let store = open(&path);
    let task = add_task(&store);
    assert_eq!(store.claim(task, 100, 105), Ok(true));
    assert_eq!(store.claim(task, 200, 205), Ok(true));
    assert_eq!(store.finish(task, 100, 110, "done", None), Ok(true));
    assert_eq!(store.finish(task, 100, 111, "failed", None), Ok(false));
    assert_eq!(store.finish(task, 300, 111, "failed", None), Ok(false));
    drop(store);
    let store = open(&path);
    let left: Vec<i64> =
        store.unfinished().unwrap().into_iter().map(|firing| firing.due_at).collect();
    assert_eq!(left, [200]);
    assert_eq!(store.claim(task, 200, 300), Ok(false));
    assert_eq!(store.finish(task, 200, 310, "killed", None), Ok(true));
    assert_eq!(store.unfinished().unwrap(), []);
    // A task that is over is not claimed; what was claimed before can be finished.
    assert_eq!(store.claim(task, 400, 405), Ok(true));
    assert_eq!(store.cancel(task), Ok(true));
    assert_eq!(store.claim(task, 500, 505), Ok(false));
    assert_eq!(store.finish(task, 400, 410, "done", Some("x-1")), Ok(true));
    let last = store.firings(task, 1).unwrap().pop().unwrap();
    assert_eq!(
        (last.outcome.as_deref(), last.execution_id.as_deref()),
        (Some("done"), Some("x-1"))
    );
}
