//! Tasks: prompts that a scheduler gives to the agent when their time has come.

use rusqlite::{Row, ToSql, params};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::handle::Store;
use super::ids::TaskId;
use super::notes::secretless;
use super::text::stored_as_text;

/// What is done about times at which no process was there to fire a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CatchUp {
    /// Nothing.
    Skip,
    /// One firing makes up for all of them.
    Once,
    /// Each is made up for.
    All,
}

stored_as_text!(CatchUp { Skip => "skip", Once => "once", All => "all" });

/// Whether a task will be fired again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It will.
    Active,
    /// Somebody cancelled it.
    Cancelled,
    /// Its schedule has no further time.
    Done,
}

stored_as_text!(TaskState { Active => "active", Cancelled => "cancelled", Done => "done" });

/// A task to add. Times are milliseconds since 1970 UTC.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewTask {
    /// The session that asked for it.
    pub session: String,
    /// The folder that it is about: it runs nowhere else.
    pub workspace: String,
    /// The schedule in the words in which it was asked for, such as `every weekday at 9`.
    pub phrase: String,
    /// The schedule as the scheduler reads it, in JSON.
    pub schedule: String,
    /// What the agent is to do when it is due.
    pub prompt: String,
    /// When it is due; `None` when it is over.
    pub next_at: Option<i64>,
    /// What is done about times that were missed.
    pub catch_up: CatchUp,
    /// When it was asked for.
    pub created_at: i64,
}

/// A task that was added.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// What was asked for, and when it is due next.
    pub asked: NewTask,
    /// Whether it will be fired again.
    pub state: TaskState,
    /// When a firing was last claimed, in milliseconds since 1970 UTC.
    pub last_at: Option<i64>,
}

/// Which tasks are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskSelection {
    /// Those that will be fired again.
    Active,
    /// Those that are cancelled or done, too.
    All,
}

/// Why a task was not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddTaskError {
    /// There is nothing to tell the agent.
    #[error("a task needs a prompt")]
    NoPrompt,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StoreError),
}

impl Store {
    /// Adds a task. Secrets are taken out of its prompt before anything is written.
    ///
    /// # Errors
    /// When it has no prompt, or the store fails.
    pub fn add_task(&self, task: &NewTask) -> Result<TaskId, AddTaskError> {
        if task.prompt.trim().is_empty() {
            return Err(AddTaskError::NoPrompt);
        }
        let NewTask { session, workspace, phrase, schedule, next_at, catch_up, created_at, .. } =
            task;
        let prompt = &*secretless(&task.prompt);
        let id = self.write(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO tasks
                         (session, phrase, schedule, prompt, next_at, catch_up, created_at, state,
                          workspace)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'active', ?8) RETURNING id",
                )?
                .query_row(
                    params![
                        session, phrase, schedule, prompt, next_at, catch_up, created_at, workspace
                    ],
                    |row| row.get(0),
                )
        })?;
        Ok(id)
    }

    /// The active tasks whose time has come, the longest overdue first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn due(&self, now: i64) -> Result<Vec<Task>, StoreError> {
        self.select("WHERE state = 'active' AND next_at <= ?1 ORDER BY next_at, id", now)
    }

    /// The tasks, in the order in which they were added.
    ///
    /// # Errors
    /// When the store fails.
    pub fn tasks(&self, selection: TaskSelection) -> Result<Vec<Task>, StoreError> {
        self.select("WHERE ?1 OR state = 'active' ORDER BY id", selection == TaskSelection::All)
    }

    fn select(&self, which: &str, value: impl ToSql) -> Result<Vec<Task>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT id, session, phrase, schedule, prompt, next_at, catch_up, created_at,
                         state, last_at, workspace
                     FROM tasks {which}"
                ))?
                .query_map([value], stored_task)?
                .collect()
        })
    }

    /// Says when an active task is due next, or with `None` that it is done. `false` where the task
    /// is not active: one that was cancelled stays so.
    ///
    /// # Errors
    /// When the store fails.
    pub fn reschedule(&self, id: TaskId, next_at: Option<i64>) -> Result<bool, StoreError> {
        let state = if next_at.is_some() { TaskState::Active } else { TaskState::Done };
        self.change(id, state, next_at)
    }

    /// Cancels an active task; says whether it was one. A firing that is under way goes on.
    ///
    /// # Errors
    /// When the store fails.
    pub fn cancel(&self, id: TaskId) -> Result<bool, StoreError> {
        self.change(id, TaskState::Cancelled, None)
    }

    fn change(
        &self,
        id: TaskId,
        state: TaskState,
        next_at: Option<i64>,
    ) -> Result<bool, StoreError> {
        self.write(|connection| {
            let changed = connection
                .prepare_cached(
                    "UPDATE tasks SET state = ?2, next_at = ?3 WHERE id = ?1 AND state = 'active'",
                )?
                .execute(params![id, state, next_at])?;
            Ok(changed > 0)
        })
    }
}

fn stored_task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let asked = NewTask {
        session: row.get(1)?,
        phrase: row.get(2)?,
        schedule: row.get(3)?,
        prompt: row.get(4)?,
        next_at: row.get(5)?,
        catch_up: row.get(6)?,
        created_at: row.get(7)?,
        workspace: row.get(10)?,
    };
    Ok(Task { id: row.get(0)?, asked, state: row.get(8)?, last_at: row.get(9)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(next_at: i64) -> NewTask {
        NewTask {
            session: "a".to_owned(),
            workspace: "/here".to_owned(),
            phrase: "every day at 9".to_owned(),
            schedule: "{}".to_owned(),
            prompt: "read the news".to_owned(),
            next_at: Some(next_at),
            catch_up: CatchUp::Once,
            created_at: 5,
        }
    }

    #[test]
    fn tasks_are_due_until_they_are_moved_cancelled_or_done() {
        let store = Store::in_memory().unwrap();
        for (next_at, id) in [(300, 1), (100, 2), (200, 3), (100, 4)] {
            assert_eq!(store.add_task(&task(next_at)), Ok(TaskId(id)));
        }
        let due =
            |now| -> Vec<i64> { store.due(now).unwrap().iter().map(|task| task.id.0).collect() };
        assert_eq!((due(99), due(250)), (vec![], vec![2, 4, 3]));
        assert_eq!(store.reschedule(TaskId(2), Some(900)), Ok(true));
        assert_eq!(store.reschedule(TaskId(3), None), Ok(true));
        assert_eq!(store.cancel(TaskId(4)), Ok(true));
        assert_eq!(due(1000), [1, 2]);
        assert_eq!(store.tasks(TaskSelection::Active).unwrap().len(), 2);
        let all = store.tasks(TaskSelection::All).unwrap();
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

    #[test]
    fn a_task_needs_a_prompt() {
        let silent = NewTask { prompt: " ".to_owned(), ..task(1) };
        assert_eq!(Store::in_memory().unwrap().add_task(&silent), Err(AddTaskError::NoPrompt));
    }
}
