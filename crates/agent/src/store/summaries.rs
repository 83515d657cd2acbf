//! Summaries: what stands in the context in place of messages that left it.

use std::collections::BTreeMap;

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::handle::{Store, StoreError};
use super::ids::SummaryId;
use super::text::stored_as_text;

/// Who had messages summed up.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
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

impl CompressionStrategy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Triggered, Self::Manual, Self::Autonomous];
}

/// A summary to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSummary {
    /// The session whose messages it sums up.
    pub session: String,
    /// Who had it made.
    pub compaction_method: CompressionStrategy,
    /// What it says.
    pub text: String,
    /// The number of the first message that it sums up, from 0.
    pub from_message: u64,
    /// The number of the last one.
    pub to_message: u64,
    /// When, in milliseconds since 1970 UTC.
    pub at: i64,
}

/// A summary that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredSummary {
    /// Its number.
    pub id: SummaryId,
    /// The session whose messages it sums up.
    pub session: String,
    /// Who had it made.
    pub compaction_method: CompressionStrategy,
    /// What it says.
    pub text: String,
    /// The number of the first message that it sums up, from 0.
    pub from_message: u64,
    /// The number of the last one.
    pub to_message: u64,
    /// When, in milliseconds since 1970 UTC.
    pub at: i64,
}

/// Why a summary was not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddSummaryError {
    /// There is nothing in it.
    #[error("a summary needs text")]
    Empty,
    /// Its last message comes before its first one.
    #[error("a summary of the messages {from} to {to} covers none")]
    NoMessages {
        /// The first.
        from: u64,
        /// The last.
        to: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StoreError),
}

impl Store {
    /// Keeps a summary.
    ///
    /// # Errors
    /// When it has no text or sums up no message, or the store fails.
    pub fn add_summary(&self, summary: &NewSummary) -> Result<SummaryId, AddSummaryError> {
        let NewSummary { session, compaction_method, text, from_message, to_message, at } = summary;
        if text.trim().is_empty() {
            return Err(AddSummaryError::Empty);
        }
        if from_message > to_message {
            return Err(AddSummaryError::NoMessages { from: *from_message, to: *to_message });
        }
        let id = self.write(|connection| {
            connection
                .prepare_cached(
                    "INSERT INTO summaries
                         (session, compaction_method, text, from_message, to_message, at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
                )?
                .query_row(
                    params![session, compaction_method, text, from_message, to_message, at],
                    |row| row.get(0),
                )
        })?;
        Ok(id)
    }

    /// The summaries of a session, in the order in which they were added.
    ///
    /// # Errors
    /// When the store fails.
    pub fn summaries(&self, session: &str) -> Result<Vec<StoredSummary>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, session, compaction_method, text, from_message, to_message, at
                     FROM summaries WHERE session = ?1 ORDER BY id",
                )?
                .query_map([session], stored_summary)?
                .collect()
        })
    }

    /// How many summaries of a session were made in which way. Every way has its number, 0 also.
    ///
    /// # Errors
    /// When the store fails.
    pub fn count_by_method(
        &self,
        session: &str,
    ) -> Result<BTreeMap<CompressionStrategy, u64>, StoreError> {
        let counted: BTreeMap<CompressionStrategy, u64> = self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT compaction_method, count(*) FROM summaries
                     WHERE session = ?1 GROUP BY compaction_method",
                )?
                .query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })?;
        let count = |method| (method, counted.get(&method).copied().unwrap_or(0));
        Ok(CompressionStrategy::ALL.into_iter().map(count).collect())
    }
}

fn stored_summary(row: &Row<'_>) -> rusqlite::Result<StoredSummary> {
    Ok(StoredSummary {
        id: row.get(0)?,
        session: row.get(1)?,
        compaction_method: row.get(2)?,
        text: row.get(3)?,
        from_message: row.get(4)?,
        to_message: row.get(5)?,
        at: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(session: &str, compaction_method: CompressionStrategy, from: u64) -> NewSummary {
        NewSummary {
            session: session.to_owned(),
            compaction_method,
            text: format!("what was said from {from}"),
            from_message: from,
            to_message: from + 9,
            at: 1_700_000_000_000,
        }
    }

    #[test]
    fn summaries_come_back_in_order() {
        use CompressionStrategy::{Autonomous, Manual, Triggered};
        let store = Store::in_memory().unwrap();
        for (session, method, from) in
            [("a", Manual, 20), ("b", Autonomous, 0), ("a", Triggered, 0), ("a", Manual, 10)]
        {
            store.add_summary(&summary(session, method, from)).unwrap();
        }
        let kept = store.summaries("a").unwrap();
        let firsts: Vec<u64> = kept.iter().map(|summary| summary.from_message).collect();
        assert_eq!(firsts, [20, 0, 10]);
        assert_eq!(
            kept.first().map(|summary| (summary.id, summary.to_message)),
            Some((SummaryId(1), 29))
        );
        let counted = store.count_by_method("a").unwrap();
        assert_eq!(counted, BTreeMap::from([(Triggered, 1), (Manual, 2), (Autonomous, 0)]));
        assert_eq!(store.summaries("c").unwrap(), []);
    }

    #[test]
    fn summaries_of_nothing_are_refused() {
        let store = Store::in_memory().unwrap();
        let fine = summary("a", CompressionStrategy::Manual, 3);
        let blank = NewSummary { text: " \n".to_owned(), ..fine.clone() };
        assert_eq!(store.add_summary(&blank), Err(AddSummaryError::Empty));
        let turned = NewSummary { to_message: 2, ..fine };
        assert_eq!(store.add_summary(&turned), Err(AddSummaryError::NoMessages { from: 3, to: 2 }));
        assert_eq!(store.summaries("a").unwrap(), []);
    }

    #[test]
    fn words_are_those_of_serde() {
        for method in CompressionStrategy::ALL {
            assert_eq!(serde_json::to_value(method).unwrap(), method.as_str());
            assert_eq!(format!("{method:>10}"), format!("{:>10}", method.as_str()));
        }
    }
}
