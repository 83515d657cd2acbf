use maud::{Markup, html};

use super::Dashboard;
use super::page::whole;
use super::pieces::{brief, grouped, pager, part, time};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, SessionItem};
use crate::http::Answer;

/// The page of sessions.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let list = api::sessions(dashboard, request)?;
    let later = request.query.one("cursor")?.is_some();
    let body = html! {
        h1 { "Sessions" }
        div data-live=[(!later).then_some("sessions")] {
            (table(&list.items))
            (pager("/sessions", later, list.next.as_deref(), "Older sessions"))
        }
    };
    Ok(whole(dashboard, &request.visitor, "/sessions", "Sessions", &body))
}

/// A table of sessions.
pub(super) fn table(sessions: &[SessionItem]) -> Markup {
    html! {
        @if sessions.is_empty() {
            p .empty { "No session is recorded. " code { "counterfoil run" } ", "
                code { "counterfoil hook" } ", " code { "counterfoil proxy" } " and "
                code { "counterfoil mcp" } " record what agents do." }
        } @else {
            div .scroll tabindex="0" role="region" aria-label="Sessions" {
                table {
                    thead {
                        tr {
                            th scope="col" { "session" }
                            th scope="col" { "last event" }
                            th scope="col" .number { "calls" }
                            th scope="col" .number { "rejected" }
                            th scope="col" .number { "answers" }
                            th scope="col" .number { "with findings" }
                        }
                    }
                    tbody { @for session in sessions { (row(session)) } }
                }
            }
        }
    }
}

fn row(session: &SessionItem) -> Markup {
    html! {
        tr {
            td {
                a .id href={ "/sessions/" (part(&session.id)) } { (brief(&session.id, 60)) }
                @if let Some(model) = &session.model { " " span .faint { (brief(model, 40)) } }
                @if session.open > 0 { " " span .badge .open { (session.open) " open" } }
            }
            td { (time(session.last_at)) }
            td .number { (grouped(session.calls)) }
            td .number .held[session.rejected > 0] { (grouped(session.rejected)) }
            td .number { (grouped(session.answers)) }
            td .number .bad[session.answers_with_findings > 0] {
                (grouped(session.answers_with_findings))
            }
        }
    }
}
