//! Firings: one for each time at which a task was due. The process that claims it first has it.

use rusqlite::{Params, params};
use serde::Serialize;

use super::error::StoreError;
use super::handle::{Store, at_most};
use super::ids::TaskId;

/// A time at which a task was fired. Times are milliseconds since 1970 UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Firing {
    /// The task.
    pub task: TaskId,
    /// When it was due.
    pub due_at: i64,
    /// When it was claimed.
    pub started_at: i64,
    /// What came of it. None while it is under way, and for good where its process was killed.
    pub outcome: Option<String>,
    /// The receipt of what was done.
    pub execution_id: Option<String>,
}

impl Store {
    /// Claims one firing of an active task. Of all threads and processes that ask for the same one,
    /// exactly one gets `true`, ever.
    ///
    /// # Errors
    /// When the store fails. Then nothing is claimed.
    pub fn claim(&self, task: TaskId, due_at: i64, now: i64) -> Result<bool, StoreError> {
        self.changes(
            "INSERT INTO firings (task, due_at, started_at)
             SELECT id, ?2, ?3 FROM tasks WHERE id = ?1 AND state = 'active'
             ON CONFLICT (task, due_at) DO NOTHING",
            params![task, due_at, now],
        )
    }

    /// Says what came of a firing that was claimed. `false` where it was not, or is finished
    /// already: the first outcome stays.
    ///
    /// # Errors
    /// When the store fails.
    pub fn finish(
        &self,
        task: TaskId,
        due_at: i64,
        now: i64,
        outcome: &str,
        execution_id: Option<&str>,
    ) -> Result<bool, StoreError> {
        self.changes(
            "UPDATE firings SET ended_at = ?3, outcome = ?4, execution_id = ?5
             WHERE task = ?1 AND due_at = ?2 AND ended_at IS NULL",
            params![task, due_at, now, outcome, execution_id],
        )
    }

    /// The firings that were claimed and not finished, the oldest first: those whose process was
    /// killed, and those that are under way in some process now.
    ///
    /// # Errors
    /// When the store fails.
    pub fn unfinished(&self) -> Result<Vec<Firing>, StoreError> {
        self.select_firings("WHERE ended_at IS NULL ORDER BY started_at, task, due_at", [])
    }

    /// The last firings of a task, the newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn firings(&self, task: TaskId, limit: usize) -> Result<Vec<Firing>, StoreError> {
        let values = params![task, at_most(limit)];
        self.select_firings("WHERE task = ?1 ORDER BY due_at DESC LIMIT ?2", values)
    }

    fn select_firings(&self, which: &str, values: impl Params) -> Result<Vec<Firing>, StoreError> {
        let statement =
            format!("SELECT task, due_at, started_at, outcome, execution_id FROM firings {which}");
        self.rows(&statement, values, |row| {
            Ok(Firing {
                task: row.get(0)?,
                due_at: row.get(1)?,
                started_at: row.get(2)?,
                outcome: row.get(3)?,
                execution_id: row.get(4)?,
            })
        })
    }
}
