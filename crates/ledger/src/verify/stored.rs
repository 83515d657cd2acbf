use std::collections::VecDeque;

use counterfoil_model::Digest;

use super::verification::{Broken, Stop};
use crate::append::names;
use crate::results::{PER_EVENT, unpack};
use crate::tables::{ResultRow, Tables};

/// Walks through the stored results in the order of their events.
pub(super) struct StoredResults<'t, T> {
    tables: &'t T,
    page: VecDeque<ResultRow>,
    /// The number of the last result read.
    last: Option<u64>,
}

impl<'t, T: Tables> StoredResults<'t, T> {
    pub(super) fn begin(tables: &'t T) -> Result<Self, Stop> {
        let mut stored = Self { tables, page: VecDeque::new(), last: None };
        stored.fill()?;
        Ok(stored)
    }

    /// The event of the next result; `None` at the end.
    pub(super) fn event(&self) -> Option<u64> {
        self.page.front().map(|row| row.id / PER_EVENT)
    }

    /// Verifies the results of one event. Returns how many there are, and whether `needed` is among
    /// them.
    pub(super) fn of_event(
        &mut self,
        seq: u64,
        body: &[u8],
        needed: Option<&Digest>,
    ) -> Result<(u64, bool), Stop> {
        let (mut count, mut had) = (0, false);
        while self.event() == Some(seq) {
            let Some(ResultRow { digest, size, packed, bytes, .. }) = self.page.pop_front() else {
                break;
            };
            let broken =
                |what: &str| Broken::event(seq, format!("its stored result {digest} {what}"));
            let bytes = match (packed, usize::try_from(size)) {
                (0 | 1, Ok(size)) => unpack(size, packed == 1, &bytes).ok(),
                _ => None,
            };
            if bytes.is_none_or(|bytes| Digest::of_bytes(&bytes) != digest) {
                return Err(broken("was changed or damaged").into());
            }
            if needed == Some(&digest) {
                had = true;
            } else if !names(body, &digest) {
                return Err(broken("does not belong to it").into());
            }
            count += 1;
            self.fill()?;
        }
        Ok((count, had))
    }

    /// Reads the next page if the current one is used up.
    fn fill(&mut self) -> Result<(), Stop> {
        if self.page.is_empty() {
            self.page = self.tables.results(self.last)?.into();
            self.last = self.page.back().map(|row| row.id).or(self.last);
        }
        Ok(())
    }
}
