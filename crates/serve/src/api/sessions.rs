use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::{Page, cursor, written};
use crate::dashboard::Dashboard;
use crate::dashboard::index::SessionSeen;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// A session of the ledger, with counts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SessionItem {
    /// Its id.
    pub(crate) id: String,
    /// The model, if known.
    pub(crate) model: Option<String>,
    /// The id of the parent session, if it has one.
    pub(crate) parent: Option<String>,
    /// When the first remaining event was written: milliseconds since the Unix epoch.
    pub(crate) began_at: i64,
    /// When the latest event was written.
    pub(crate) last_at: i64,
    /// Number of events since the beginning.
    pub(crate) events: u64,
    /// Number of calls, including rejected ones.
    pub(crate) calls: u64,
    /// Number of rejected or denied calls.
    pub(crate) rejected: u64,
    /// Number of executions that have not ended.
    pub(crate) open: u64,
    /// Number of messages from people and from the agent.
    pub(crate) said: u64,
    /// Number of answers checked against the record.
    pub(crate) answers: u64,
    /// Number of answers with findings.
    pub(crate) answers_with_findings: u64,
    /// Whether the session has ended, according to its latest event.
    pub(crate) has_ended: bool,
}

impl From<&SessionSeen> for SessionItem {
    fn from(seen: &SessionSeen) -> Self {
        Self {
            id: seen.id.clone(),
            model: seen.model.clone(),
            parent: seen.parent.clone(),
            began_at: seen.began_at,
            last_at: seen.last_at,
            events: seen.events,
            calls: seen.calls,
            rejected: seen.rejected,
            open: seen.open(),
            said: seen.messages,
            answers: seen.answers,
            answers_with_findings: seen.answers_with_findings,
            has_ended: seen.has_ended,
        }
    }
}

/// Sessions, the most recently started first.
pub(crate) fn list(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Page<SessionItem>, HttpProblem> {
    let (before, limit) = (cursor(request, "sessions")?, request.limit()?);
    let index = dashboard.known();
    let all = index.sessions();
    let end = before.and_then(|at| usize::try_from(at).ok()).unwrap_or(all.len()).min(all.len());
    let start = end.saturating_sub(limit);
    let items = all.get(start..end).unwrap_or_default().iter().rev().map(SessionItem::from);
    let next = (start > 0).then(|| written("sessions", start as u64));
    Ok(Page { items: items.collect(), next })
}

/// The session named in the route.
pub(crate) fn one(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<SessionItem, HttpProblem> {
    let id = request.named(0);
    known(dashboard, id)?;
    let found = dashboard.known().session(id).map(SessionItem::from);
    found.ok_or_else(|| missing(id))
}

/// Checks that the ledger has this session, as far as it has been read.
pub(crate) fn known(dashboard: &Dashboard, id: &str) -> Result<(), HttpProblem> {
    if dashboard.known().session(id).is_some() {
        return Ok(());
    }
    dashboard.has_read_all()?;
    Err(missing(id))
}

fn missing(id: &str) -> HttpProblem {
    HttpProblem::missing(format!("the ledger has no session `{id}`"))
}
