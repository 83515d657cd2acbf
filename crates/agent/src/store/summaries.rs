//! Summaries: what is in the context in place of messages that left it.

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::handle::Store;
use super::text::stored_as_text;

/// Who had messages summed up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompressionStrategy {
    /// The program, when the context grew too long.
    Triggered,
    /// The user.
    Manual,
    /// The model.
    #[default]
    Autonomous,
}

stored_as_text!(CompressionStrategy {
    Triggered => "triggered",
    Manual => "manual",
    Autonomous => "autonomous",
});

/// What replaces a part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The session.
    pub session: String,
    /// Who wanted it.
    pub strategy: CompressionStrategy,
    /// What was said and done, in short.
    pub text: String,
    /// How many messages to the model, counted from the first of the session, went before it: what
    /// it replaces ends there.
    pub until: usize,
}

impl Store {
    /// Keeps a summary, made at a time in milliseconds since 1970 UTC. It is of the messages after
    /// those that the session's summaries are of already.
    ///
    /// # Errors
    /// When the store fails.
    pub fn add_summary(&self, summary: &Summary, at: i64) -> Result<(), StoreError> {
        let Summary { session, strategy, text, until } = summary;
        let last = i64::try_from(*until).unwrap_or(i64::MAX).saturating_sub(1);
        self.changes(
            "INSERT INTO summaries (session, compaction_method, text, from_message, to_message, at)
             SELECT ?1, ?2, ?3, next, max(next, ?4), ?5
             FROM (SELECT coalesce(max(to_message) + 1, 0) AS next
                   FROM summaries WHERE session = ?1)",
            params![session, strategy, text, last, at],
        )
        .map(drop)
    }

    /// The summaries of a session, in the order in which they were added.
    ///
    /// # Errors
    /// When the store fails.
    pub fn summaries(&self, session: &str) -> Result<Vec<Summary>, StoreError> {
        let statement = "SELECT compaction_method, text, to_message FROM summaries
                         WHERE session = ?1 ORDER BY id";
        self.rows(statement, [session], |row| {
            let last: usize = row.get(2)?;
            Ok(Summary {
                session: session.to_owned(),
                strategy: row.get(0)?,
                text: row.get(1)?,
                until: last.saturating_add(1),
            })
        })
    }
}
