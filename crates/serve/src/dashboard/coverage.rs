use maud::{Markup, html};

use super::Dashboard;
use super::index::List;
use super::page::whole;
use super::pieces::{brief, grouped, none, pager, part};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, SessionItem};
use crate::http::Answer;

/// The page about coverage: what has a receipt, what was judged, and what cannot be known.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let list = api::sessions(dashboard, request)?;
    let later = request.query.one("cursor")?.is_some();
    let health = api::health(dashboard, request)?;
    let body = html! {
        h1 { "Coverage" }
        p {
            "Every call in the ledger has a receipt. A call that bypassed Counterfoil has none and \
             is not in the ledger, but it may be in the agent's own log. "
            code { "counterfoil hook status" } " compares those logs with the receipts."
        }
        (sums(dashboard, health.audit.as_ref().map(|audit| audit.lines)))
        section aria-labelledby="by-session" {
            h2 #by-session { "By session" }
            (table(dashboard, &list.items))
            (pager("/coverage", later, list.next.as_deref(), "Older sessions"))
        }
    };
    Ok(whole(dashboard, &request.visitor, "/coverage", "Coverage", &body))
}

fn sums(dashboard: &Dashboard, audited: Option<u64>) -> Markup {
    let index = dashboard.known();
    let (mut open, mut with_messages, mut judged) = (0, 0, 0);
    for session in index.sessions() {
        open += session.open();
        with_messages += u64::from(session.messages > 0);
        judged += u64::from(session.answers > 0);
    }
    let receipts = index.count(List::Receipts) as u64;
    html! {
        dl .facts {
            dt { "Receipts" } dd { (grouped(receipts)) }
            dt { "Left open" }
            dd {
                (grouped(open))
                " " span .faint { "without a recorded end: still running, or the process died" }
            }
            @if let Some(lines) = audited { dt { "Lines of the audit log" } dd { (grouped(lines)) } }
            dt { "Sessions with messages" } dd { (grouped(with_messages)) }
            dt { "Sessions with a judged answer" } dd { (grouped(judged)) }
        }
    }
}

fn table(dashboard: &Dashboard, sessions: &[SessionItem]) -> Markup {
    html! {
        @if sessions.is_empty() { (none(dashboard, "No session is recorded.")) }
        @else {
            div .scroll tabindex="0" role="region" aria-label="Coverage by session" {
                table {
                    thead { tr {
                        th scope="col" { "session" }
                        th scope="col" .number { "calls" }
                        th scope="col" .number { "ended" }
                        th scope="col" .number { "left open" }
                        th scope="col" .number { "messages" }
                        th scope="col" .number { "judged" }
                    } }
                    tbody {
                        @for session in sessions {
                            tr {
                                td { a .id href={ "/sessions/" (part(&session.id)) } { (brief(&session.id, 60)) } }
                                td .number { (grouped(session.calls)) }
                                td .number { (grouped(session.calls.saturating_sub(session.open))) }
                                td .number .held[session.open > 0] { (grouped(session.open)) }
                                td .number { (grouped(session.said)) }
                                td .number { (grouped(session.answers)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
