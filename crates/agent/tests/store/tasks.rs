//! Tasks: which are due, and what ends them.

use counterfoil_agent::{Store, TaskId, TaskState};

use super::task;

#[test]
fn tasks_are_due_until_they_are_moved_cancelled_or_done() {
    let store = Store::in_memory().unwrap();
    for (next_at, id) in [(300, 1), (100, 2), (200, 3), (100, 4)] {
        assert_eq!(store.add_task(&task(next_at)), Ok(TaskId(id)));
    }
    let due = |now| -> Vec<i64> { store.due(now).unwrap().iter().map(|task| task.id.0).collect() };
    assert_eq!((due(99), due(250)), (vec![], vec![2, 4, 3]));
    assert_eq!(store.reschedule(TaskId(2), Some(900)), Ok(true));
    assert_eq!(store.reschedule(TaskId(3), None), Ok(true));
    assert_eq!(store.cancel(TaskId(4)), Ok(true));
    assert_eq!(due(1000), [1, 2]);
    let all = store.tasks().unwrap();
    let states: Vec<_> = all.iter().map(|task| (task.state, task.asked.next_at)).collect();
    let (active, done, cancelled) = (TaskState::Active, TaskState::Done, TaskState::Cancelled);
    let expected = [(active, Some(300)), (active, Some(900)), (done, None), (cancelled, None)];
    assert_eq!(states, expected);
    assert_eq!(all.first().map(|task| &task.asked), Some(&task(300)));
    // What is over stays over.
    assert_eq!(store.cancel(TaskId(4)), Ok(false));
    assert_eq!(store.reschedule(TaskId(4), Some(200)), Ok(false));
    assert_eq!(store.cancel(TaskId(99)), Ok(false));
}
