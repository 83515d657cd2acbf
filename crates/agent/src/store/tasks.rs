//! Tasks: prompts that a scheduler gives to the agent when their time has come.

use rusqlite::{Params, params};
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
    /// Someone cancelled it.
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
}

impl Store {
    /// Adds a task. Secrets are taken out of its prompt before anything is written.
    ///
    /// # Errors
    /// When the store fails.
    pub fn add_task(&self, task: &NewTask) -> Result<TaskId, StoreError> {
        let NewTask { session, workspace, phrase, schedule, next_at, catch_up, created_at, .. } =
            task;
        let prompt = &*secretless(&task.prompt);
        self.write(|connection| {
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
        })
    }

    /// The active tasks whose time has come, the longest overdue first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn due(&self, now: i64) -> Result<Vec<Task>, StoreError> {
        self.select("WHERE state = 'active' AND next_at <= ?1 ORDER BY next_at, id", [now])
    }

    /// Every task, in the order in which they were added.
    ///
    /// # Errors
    /// When the store fails.
    pub fn tasks(&self) -> Result<Vec<Task>, StoreError> {
        self.select("ORDER BY id", [])
    }

    fn select(&self, which: &str, values: impl Params) -> Result<Vec<Task>, StoreError> {
        let statement = format!(
            "SELECT id, session, phrase, schedule, prompt, next_at, catch_up, created_at, state,
                 workspace
             FROM tasks {which}"
        );
        self.rows(&statement, values, |row| {
            let asked = NewTask {
                session: row.get(1)?,
                phrase: row.get(2)?,
                schedule: row.get(3)?,
                prompt: row.get(4)?,
                next_at: row.get(5)?,
                catch_up: row.get(6)?,
                created_at: row.get(7)?,
                workspace: row.get(9)?,
            };
            Ok(Task { id: row.get(0)?, asked, state: row.get(8)? })
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
        self.changes(
            "UPDATE tasks SET state = ?2, next_at = ?3 WHERE id = ?1 AND state = 'active'",
            params![id, state, next_at],
        )
    }
}
