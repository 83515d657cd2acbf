//! Tasks: prompts that a scheduler gives to the agent when their time has come.

use rusqlite::types::Type;
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::handle::{Store, StoreError};
use super::ids::TaskId;
use super::notes::secretless;
use super::text::stored_as_text;

/// What is done about times at which nobody was there to fire a task.
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

/// A task to add.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// The session that asked for it.
    pub session: String,
    /// The folder that it is about: it runs nowhere else.
    pub workspace: String,
    /// The schedule in the words of whoever asked, such as `every weekday at 9`.
    pub phrase: String,
    /// The schedule as the scheduler reads it.
    pub schedule: Value,
    /// What the agent is told when it is due.
    pub prompt: String,
    /// When it is first due, in milliseconds since 1970 UTC.
    pub next_at: i64,
    /// What is done about times that were missed.
    pub catch_up: CatchUp,
    /// When it was asked for, in milliseconds since 1970 UTC.
    pub created_at: i64,
}

/// A task that was added.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// The session that asked for it.
    pub session: String,
    /// The folder that it is about.
    pub workspace: String,
    /// The schedule in the words of whoever asked.
    pub phrase: String,
    /// The schedule as the scheduler reads it.
    pub schedule: Value,
    /// What the agent is told when it is due.
    pub prompt: String,
    /// When it is due, in milliseconds since 1970 UTC. None unless it is active.
    pub next_at: Option<i64>,
    /// What is done about times that were missed.
    pub catch_up: CatchUp,
    /// When it was asked for, in milliseconds since 1970 UTC.
    pub created_at: i64,
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
    /// The schedule cannot be read back: it is nested too deeply.
    #[error("the schedule of a task cannot be stored: {0}")]
    Schedule(String),
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StoreError),
}

impl Store {
    /// Adds a task. Secrets are taken out of its prompt before anything is written.
    ///
    /// # Errors
    /// When it has no prompt or its schedule is nested too deeply, or the store fails.
    pub fn add_task(&self, task: &NewTask) -> Result<TaskId, AddTaskError> {
        if task.prompt.trim().is_empty() {
            return Err(AddTaskError::NoPrompt);
        }
        let schedule = task.schedule.to_string();
        serde_json::from_str::<Value>(&schedule)
            .map_err(|error| AddTaskError::Schedule(error.to_string()))?;
        let NewTask { session, workspace, phrase, next_at, catch_up, created_at, .. } = task;
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
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, session, phrase, schedule, prompt, next_at, catch_up, created_at,
                         state, last_at, workspace
                     FROM tasks WHERE state = 'active' AND next_at <= ?1 ORDER BY next_at, id",
                )?
                .query_map([now], stored_task)?
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

    /// The tasks, in the order in which they were added.
    ///
    /// # Errors
    /// When the store fails.
    pub fn tasks(&self, selection: TaskSelection) -> Result<Vec<Task>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, session, phrase, schedule, prompt, next_at, catch_up, created_at,
                         state, last_at, workspace
                     FROM tasks WHERE ?1 OR state = 'active' ORDER BY id",
                )?
                .query_map([selection == TaskSelection::All], stored_task)?
                .collect()
        })
    }
}

fn stored_task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let schedule = serde_json::from_str(row.get_ref(3)?.as_str()?).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(3, Type::Text, Box::new(error))
    })?;
    Ok(Task {
        id: row.get(0)?,
        session: row.get(1)?,
        phrase: row.get(2)?,
        schedule,
        prompt: row.get(4)?,
        next_at: row.get(5)?,
        catch_up: row.get(6)?,
        created_at: row.get(7)?,
        state: row.get(8)?,
        last_at: row.get(9)?,
        workspace: row.get(10)?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task(next_at: i64) -> NewTask {
        NewTask {
            session: "a".to_owned(),
            workspace: "/here".to_owned(),
            phrase: "every day at 9".to_owned(),
            schedule: json!({"cron": "0 9 * * *", "zone": "Europe/Berlin"}),
            prompt: "read the news".to_owned(),
            next_at,
            catch_up: CatchUp::Once,
            created_at: 5,
        }
    }

    fn ids(tasks: &[Task]) -> Vec<i64> {
        tasks.iter().map(|task| task.id.0).collect()
    }

    #[test]
    fn a_task_comes_back_as_it_was() {
        let store = Store::in_memory().unwrap();
        let new = task(100);
        let id = store.add_task(&new).unwrap();
        let expected = Task {
            id,
            workspace: new.workspace.clone(),
            session: new.session,
            phrase: new.phrase,
            schedule: new.schedule,
            prompt: new.prompt,
            next_at: Some(100),
            catch_up: CatchUp::Once,
            created_at: 5,
            state: TaskState::Active,
            last_at: None,
        };
        assert_eq!(store.tasks(TaskSelection::Active).unwrap(), [expected]);
    }

    #[test]
    fn tasks_are_due_until_they_are_moved_cancelled_or_done() {
        let store = Store::in_memory().unwrap();
        for (next_at, id) in [(300, 1), (100, 2), (200, 3), (100, 4)] {
            assert_eq!(store.add_task(&task(next_at)), Ok(TaskId(id)));
        }
        assert_eq!(ids(&store.due(99).unwrap()), [0_i64; 0]);
        assert_eq!(ids(&store.due(250).unwrap()), [2, 4, 3]);
        assert_eq!(store.reschedule(TaskId(2), Some(900)), Ok(true));
        assert_eq!(store.reschedule(TaskId(3), None), Ok(true));
        assert_eq!(store.cancel(TaskId(4)), Ok(true));
        assert_eq!(ids(&store.due(1000).unwrap()), [1, 2]);
        assert_eq!(ids(&store.tasks(TaskSelection::Active).unwrap()), [1, 2]);
        let all = store.tasks(TaskSelection::All).unwrap();
        let states: Vec<_> = all.iter().map(|task| (task.state.as_str(), task.next_at)).collect();
        let expected =
            [("active", Some(300)), ("active", Some(900)), ("done", None), ("cancelled", None)];
        assert_eq!(states, expected);
    }

    #[test]
    fn what_is_over_stays_over() {
        let store = Store::in_memory().unwrap();
        let id = store.add_task(&task(100)).unwrap();
        assert_eq!(store.cancel(id), Ok(true));
        assert_eq!(store.cancel(id), Ok(false));
        assert_eq!(store.reschedule(id, Some(200)), Ok(false));
        assert_eq!(store.reschedule(id, None), Ok(false));
        assert_eq!(store.cancel(TaskId(99)), Ok(false));
        assert_eq!(store.add_task(&task(100)), Ok(TaskId(2)));
    }

    #[test]
    fn tasks_that_say_nothing_are_refused() {
        let store = Store::in_memory().unwrap();
        let silent = NewTask { prompt: " ".to_owned(), ..task(1) };
        assert_eq!(store.add_task(&silent), Err(AddTaskError::NoPrompt));
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        let refused = store.add_task(&NewTask { schedule: deep, ..task(1) });
        assert!(matches!(refused, Err(AddTaskError::Schedule(_))), "{refused:?}");
    }

    #[test]
    fn words_are_those_of_serde() {
        for word in [CatchUp::Skip, CatchUp::Once, CatchUp::All] {
            assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
        }
        for word in [TaskState::Active, TaskState::Cancelled, TaskState::Done] {
            assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
        }
    }
}
