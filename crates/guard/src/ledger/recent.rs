//! New events and results stand in tables without indexes until they move, many at a time.

use std::collections::{HashMap, HashSet};

use countersign_model::Digest;
use rusqlite::{Connection, OptionalExtension as _};

use super::event::Draft;
use super::read::digest_at;

/// So many events move at once.
const MANY: usize = 64;

/// What stands in those tables, remembered so that an append does not search them. May also hold
/// what has moved already: the answers are the same.
#[derive(Debug, Default)]
pub(super) struct Recent {
    events: usize,
    /// By execution id.
    openings: HashMap<String, Opening>,
    results: HashSet<Digest>,
}

/// The event that brought an execution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub(super) seq: u64,
    /// How often it was closed. Twice, which is the most, for a call that was rejected.
    pub(super) closings: u64,
}

impl Recent {
    pub(super) fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let mut recent = Self::default();
        let mut statement = connection
            .prepare_cached("SELECT seq, kind, execution_id, opening FROM recent ORDER BY seq")?;
        let mut rows = statement.query([])?;
        let mut names: HashMap<u64, String> = HashMap::new();
        while let Some(row) = rows.next()? {
            let (seq, kind): (u64, String) = (row.get(0)?, row.get(1)?);
            recent.events += 1;
            if let Some(id) = row.get::<_, Option<String>>(2)? {
                let closings = 2 * u64::from(kind == "rejected");
                names.insert(seq, id.clone());
                recent.openings.insert(id, Opening { seq, closings });
            }
            let opening = row.get::<_, Option<u64>>(3)?.and_then(|opening| names.get(&opening));
            if let Some(opening) = opening.and_then(|id| recent.openings.get_mut(id)) {
                opening.closings += u64::from(kind == "closed");
            }
        }
        let mut statement = connection.prepare_cached("SELECT digest FROM recent_results")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            recent.results.insert(digest_at(row, 0)?);
        }
        Ok(recent)
    }

    /// Remembers an event that was written into `recent`.
    pub(super) fn add(&mut self, seq: u64, draft: &Draft, results: impl Iterator<Item = Digest>) {
        self.events += 1;
        if let Some(id) = draft.opens() {
            let closings = 2 * u64::from(matches!(draft, Draft::Rejected(_)));
            self.openings.insert(id.to_owned(), Opening { seq, closings });
        }
        if let Draft::Closed(closed) = draft
            && let Some(opening) = self.openings.get_mut(&closed.execution_id)
        {
            opening.closings += 1;
        }
        self.results.extend(results);
    }

    /// The event that brought an execution, wherever it stands.
    pub(super) fn opening(
        &self,
        connection: &Connection,
        id: &str,
    ) -> rusqlite::Result<Option<Opening>> {
        if let Some(opening) = self.openings.get(id) {
            return Ok(Some(*opening));
        }
        let found: Option<(u64, bool)> = connection
            .prepare_cached("SELECT seq, kind = 'rejected' FROM events WHERE execution_id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((seq, rejected)) = found else { return Ok(None) };
        let closed: u64 = connection
            .prepare_cached("SELECT count(*) FROM written WHERE opening = ?1 AND kind = 'closed'")?
            .query_row([seq], |row| row.get(0))?;
        Ok(Some(Opening { seq, closings: closed + 2 * u64::from(rejected) }))
    }

    /// Whether a result stands in `recent_results`.
    pub(super) fn has_result(&self, digest: &Digest) -> bool {
        self.results.contains(digest)
    }

    /// Whether it is time to move what is there.
    pub(super) fn is_full(&self) -> bool {
        self.events >= MANY
    }

    /// Moves everything into the tables with indexes.
    pub(super) fn move_all(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        *self = Self::default();
        for step in [
            "INSERT INTO events SELECT * FROM recent ORDER BY seq",
            "DELETE FROM recent",
            // Another process may have stored the same.
            "INSERT INTO results SELECT * FROM recent_results WHERE true ORDER BY id
             ON CONFLICT (digest) DO UPDATE SET id = excluded.id",
            "DELETE FROM recent_results",
        ] {
            connection.prepare_cached(step)?.execute([])?;
        }
        Ok(())
    }
}

/// Whether a group is so large that it is written where it would move to.
pub(super) fn is_large(group: usize) -> bool {
    group >= MANY / 2
}
