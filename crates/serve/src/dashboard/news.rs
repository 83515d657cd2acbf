use counterfoil_guard::Event;
use schemars::JsonSchema;
use serde::Serialize;

/// One event, for live readers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct News {
    /// The position in the ledger, from 0; also the id of the event in the stream.
    pub(crate) seq: u64,
    /// The id of the session.
    pub(crate) session: String,
    /// The position in the session, from 1.
    pub(crate) session_seq: u64,
    /// When it was written: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// What happened: `opened`, `closed`, `rejected`, `said`, `judged`, `approved`, …
    pub(crate) kind: &'static str,
}

impl News {
    pub(crate) fn from_event(event: &Event) -> Self {
        Self {
            seq: event.seq,
            session: event.session.clone(),
            session_seq: event.session_seq,
            at: event.at,
            kind: event.draft.name(),
        }
    }
}
