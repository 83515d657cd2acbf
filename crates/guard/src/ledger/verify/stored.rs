use counterfoil_model::Digest;
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::{Rows, Statement};

use super::{Broken, Stop};
use crate::ledger::append::names;
use crate::ledger::results::{PER_EVENT, unpack};

/// Walks the stored results in the order of the events that they belong to.
pub(super) struct StoredResults<'s> {
    rows: Rows<'s>,
    /// The event that the row in hand belongs to; `None` at the end.
    event: Option<u64>,
}

pub(super) const QUERY: &str = "SELECT id, digest, size, packed, bytes FROM results ORDER BY id";

impl<'s> StoredResults<'s> {
    pub(super) fn begin(statement: &'s mut Statement<'_>) -> Result<Self, Stop> {
        let mut stored = Self { rows: statement.query([])?, event: None };
        stored.advance()?;
        Ok(stored)
    }

    /// The event that the next result belongs to.
    pub(super) fn event(&self) -> Option<u64> {
        self.event
    }

    /// Verifies the results of one event; how many, and whether `needed` is among them.
    pub(super) fn of_event(
        &mut self,
        seq: u64,
        body: &[u8],
        needed: Option<&Digest>,
    ) -> Result<(u64, bool), Stop> {
        let (mut count, mut had) = (0, false);
        while self.event == Some(seq) {
            if let Some(row) = self.rows.get() {
                let digest = Digest::from_bytes(row.get(1)?);
                let packed: u8 = row.get(3)?;
                let bytes = row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?;
                let broken =
                    |what: &str| Broken::event(seq, format!("its stored result {digest} {what}"));
                let bytes = match packed {
                    0 | 1 => unpack(row.get(2)?, packed == 1, bytes).ok(),
                    _ => None,
                };
                if bytes.is_none_or(|bytes| Digest::of_bytes(&bytes) != digest) {
                    return Err(broken("is not what it was").into());
                }
                if needed == Some(&digest) {
                    had = true;
                } else if !names(body, &digest) {
                    return Err(broken("is not one that it names").into());
                }
            }
            count += 1;
            self.advance()?;
        }
        Ok((count, had))
    }

    fn advance(&mut self) -> Result<(), Stop> {
        let id: Option<u64> = match self.rows.next()? {
            Some(row) => Some(row.get(0)?),
            None => None,
        };
        self.event = id.map(|id| id / PER_EVENT);
        Ok(())
    }
}
