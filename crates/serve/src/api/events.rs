use counterfoil_guard::{Draft, Event};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::cursor::{Page, cursor, written};
use crate::dashboard::Dashboard;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// An event of the ledger.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct EventItem {
    /// The position in the ledger, from 0.
    pub(crate) seq: u64,
    /// The position in the session, from 1.
    pub(crate) session_seq: u64,
    /// When it was written: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// What happened: `began`, `opened`, `closed`, `rejected`, `said`, `judged`, …
    pub(crate) kind: String,
    /// The content of the event; its members depend on `kind`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub(crate) event: Draft,
    /// Digest of the previous event.
    pub(crate) previous: String,
    /// Digest of this event.
    pub(crate) digest: String,
}

impl EventItem {
    pub(crate) fn from_event(event: &Event) -> Self {
        Self {
            seq: event.seq,
            session_seq: event.session_seq,
            at: event.at,
            kind: event.draft.name().to_owned(),
            event: event.draft.clone(),
            previous: event.previous.to_string(),
            digest: event.digest.to_string(),
        }
    }
}

/// The events of a session, in order.
pub(crate) fn list(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Page<EventItem>, HttpProblem> {
    let (after, limit) = (cursor(request, "events")?.unwrap_or(0), request.limit()?);
    let id = request.named(0);
    if dashboard.known().session(id).is_none() {
        return Err(HttpProblem::missing(format!("the ledger has no session `{id}`")));
    }
    // One more than the limit shows whether there is a next page.
    let mut events = dashboard.ledger().events_of(id, after, limit as u64 + 1)?;
    let more = events.len() > limit;
    events.truncate(limit);
    let last = events.last().map(|event| event.session_seq).filter(|_| more);
    let next = last.map(|last| written("events", last));
    Ok(Page { items: events.iter().map(EventItem::from_event).collect(), next })
}
