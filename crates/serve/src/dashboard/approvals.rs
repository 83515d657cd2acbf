use counterfoil_guard::Draft;
use maud::{Markup, html};

use super::Dashboard;
use super::index::List;
use super::login::to;
use super::page::{form_token, operates, whole};
use super::pieces::{brief, json, pager, part, receipt, session, time};
use super::problem::HttpProblem;
use super::request::Asked;
use super::visitor::{Role, Visitor};
use crate::api::{self, WaitingItem, Word};
use crate::http::Answer;

/// Decisions that are shown, the newest.
const DECISIONS: usize = 20;

/// Calls on one page; each has its whole arguments and a form.
const ENTRIES: usize = 20;

/// The calls that wait for somebody to agree, and what was decided of late.
pub(super) fn page(dashboard: &Dashboard, asked: &Asked) -> Result<Answer, HttpProblem> {
    let list = api::waiting_page(dashboard, asked, ENTRIES)?;
    let later = asked.query.one("cursor")?.is_some();
    let body = html! {
        h1 { "Approvals" }
        @if let Some(done) = done(asked)? { p .notice .good role="status" { (done) } }
        p .faint {
            "Calls that were denied because a person has to agree first. An approval is for exactly \
             these arguments in this session; the agent makes the call again."
        }
        div data-live=[(!later).then_some("approvals")] {
            @if list.items.is_empty() { p .empty { "Nothing waits." } }
            @for call in &list.items { (waits(&asked.visitor, call)) }
            (pager("/approvals", later, list.next.as_deref(), "Older calls"))
        }
        section aria-labelledby="decided" {
            h2 #decided { "Decided of late" }
            div data-live="decided" { (decided(dashboard)?) }
        }
    };
    Ok(whole(dashboard, &asked.visitor, "/approvals", "Approvals", &body))
}

/// What the form before this page did.
fn done(asked: &Asked) -> Result<Option<&'static str>, HttpProblem> {
    Ok(match asked.query.one("done")? {
        Some("granted") => Some("Granted: the agent may make this call again."),
        Some("refused") => Some("Refused: the agent is told so when it makes this call again."),
        _ => None,
    })
}

fn waits(visitor: &Visitor, call: &WaitingItem) -> Markup {
    let id = part(&call.execution_id);
    let field = format!("reason-{}", call.execution_id);
    html! {
        article .card .held id=(id) {
            h2 .line { (brief(&call.tool, 80)) span .faint { (time(call.at)) } }
            p { (brief(&call.why, 400)) }
            (json(&call.arguments, 3_000))
            p .faint {
                (receipt(&call.execution_id)) " in " (session(&call.session))
                @if let Some(caller) = &call.caller { ", called by " (brief(caller, 60)) }
                @if call.session_has_ended { ", which has ended" }
            }
            @if visitor.role == Role::Operate {
                form .decide method="post" action={ "/approvals/" (id) "/grant" } {
                    (form_token(visitor))
                    div {
                        label for=(field) { "Reason" }
                        input id=(field) name="reason" maxlength="1000" autocomplete="off";
                    }
                    label .check {
                        input type="checkbox" name="for_session" value="yes";
                        " for every such call of the session"
                    }
                    button .primary type="submit" { "Grant" }
                    button .danger type="submit" formaction={ "/approvals/" (id) "/refuse" } { "Refuse" }
                }
            } @else {
                p .faint { "Granting and refusing needs the role " code { "operate" } "." }
            }
        }
    }
}

fn decided(dashboard: &Dashboard) -> Result<Markup, HttpProblem> {
    let places = dashboard.known().places(List::Decisions, None, None, DECISIONS);
    let mut events = Vec::new();
    for seq in places {
        events.extend(dashboard.event_at(seq)?);
    }
    Ok(html! {
        @if events.is_empty() { p .empty { "Nothing was decided." } }
        ul .list {
            @for event in &events {
                @let (tool, by, reason, word, kind) = match &event.draft {
                    Draft::Approved(one) => (&one.tool, &one.by, &one.reason, "granted", "good"),
                    Draft::Declined(one) => (&one.tool, &one.by, &one.reason, "refused", "held"),
                    _ => continue,
                };
                li {
                    p .line {
                        strong { (brief(tool, 60)) }
                        span .badge .(kind) { (word) }
                        span { "by " (brief(by, 80)) }
                        span .faint { (time(event.at)) " in " (session(&event.session)) }
                    }
                    @if let Some(reason) = reason { p { (brief(reason, 300)) } }
                }
            }
        }
    })
}

/// Somebody agrees.
pub(super) fn grant(dashboard: &Dashboard, asked: &Asked) -> Result<Answer, HttpProblem> {
    operates(&asked.visitor)?;
    api::grant(dashboard, asked, word(asked)?)?;
    Ok(to("/approvals?done=granted"))
}

/// Somebody says no.
pub(super) fn refuse(dashboard: &Dashboard, asked: &Asked) -> Result<Answer, HttpProblem> {
    operates(&asked.visitor)?;
    api::refuse(dashboard, asked, word(asked)?)?;
    Ok(to("/approvals?done=refused"))
}

fn word(asked: &Asked) -> Result<Word, HttpProblem> {
    let form = asked.form()?;
    Ok(Word {
        reason: form.some("reason")?.map(str::to_owned),
        for_session: form.one("for_session")?.is_some(),
    })
}
