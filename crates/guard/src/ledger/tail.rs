//! The end of a session, which is all that somebody needs who begins anew with every event.

use std::collections::BTreeSet;

use super::event::{Draft, Event, Opened};
use super::handle::Ledger;
use super::head;
use super::read::{self, ReadLedgerError};

/// How many events are looked at for a call that is open: mostly it is among the first.
const WINDOWS: [u64; 3] = [64, 1024, u64::MAX];

impl Ledger {
    /// The latest events of a session, at most so many, in order.
    ///
    /// # Errors
    /// When the file cannot be read, or an event is not what it was.
    pub fn last_events(&self, session: &str, count: u64) -> Result<Vec<Event>, ReadLedgerError> {
        self.read(|connection| {
            let Some(head) = head::find_session(connection, session)? else {
                return Ok(Vec::new());
            };
            read::session(connection, session, head.seq.saturating_sub(count))
        })
    }

    /// The latest execution of a session that answers this call of the model and has not ended.
    ///
    /// # Errors
    /// As [`Self::last_events`].
    pub fn open_call(
        &self,
        session: &str,
        call_id: &str,
    ) -> Result<Option<Opened>, ReadLedgerError> {
        let mut seen = None;
        for window in WINDOWS {
            let events = self.last_events(session, window)?;
            let first = events.first().map(|event| event.session_seq);
            if seen.is_some() && seen == first {
                break;
            }
            seen = first;
            let mut ended: BTreeSet<String> = BTreeSet::new();
            for event in events.into_iter().rev() {
                match event.draft {
                    Draft::Closed(closed) => {
                        ended.insert(closed.execution_id);
                    }
                    Draft::Opened(opened) if opened.call_id == call_id => {
                        return Ok((!ended.contains(&opened.execution_id)).then_some(opened));
                    }
                    _ => {}
                }
            }
        }
        Ok(None)
    }
}
