use maud::{Markup, html};

use super::Dashboard;
use super::page::whole;
use super::pieces::{brief, call, none, pager, part, session, time};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, ReceiptItem};
use crate::http::Answer;

/// The page of rejected and denied calls.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let list = api::rejections(dashboard, request)?;
    let later = request.query.one("cursor")?.is_some();
    let of = request.query.some("session")?;
    let path = match of {
        Some(id) => format!("/rejections?session={}", part(id)),
        None => "/rejections".to_owned(),
    };
    let body = html! {
        h1 { "Rejections" }
        p .faint {
            "Calls that did not run: refused as invalid for their tool, or denied by a gate."
            @if let Some(id) = of {
                " Showing only " (session(id)) "; " a href="/rejections" { "show all" } "."
            }
        }
        div data-live=[(!later).then_some("rejections")] {
            @if list.items.is_empty() { (none(dashboard, "Nothing was rejected.")) }
            ul .list { @for receipt in &list.items { li { (entry(receipt)) } } }
            (pager(&path, later, list.next.as_deref(), "Older rejections"))
        }
    };
    Ok(whole(dashboard, &request.visitor, "/rejections", "Rejections", &body))
}

fn entry(receipt: &ReceiptItem) -> Markup {
    html! {
        (call(receipt))
        @if let Some(reason) = &receipt.reason { p { (brief(reason, 300)) } }
        p .faint { (time(receipt.started_at)) " in " (session(&receipt.session)) }
    }
}
