use counterfoil_guard::Draft;
use counterfoil_report::json_pretty;
use maud::{Markup, html};

use super::Dashboard;
use super::index::List;
use super::login::to;
use super::page::{FORM_TOKEN, form_token, whole};
use super::pieces::{brief, counted, json, none, pager, part, receipt, session, time};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use super::visitor::{Role, Visitor};
use crate::api::{self, CallItem, Word, cursor};
use crate::http::Answer;

/// Maximum number of latest decisions that are shown.
const DECISIONS: usize = 20;

/// Number of calls per page, each with its arguments and a form.
const ENTRIES: usize = 20;

/// Maximum characters of arguments that are shown; longer ones are decided on the receipt's page.
const SHOWN: usize = 3_000;

/// The page of calls waiting for approval, decisions in force, and recent decisions.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let list = api::calls_of_people(dashboard, cursor(request, "approvals")?, ENTRIES, true)?;
    let standing = api::calls_of_people(dashboard, None, ENTRIES, false)?;
    let later = request.query.one("cursor")?.is_some();
    let body = html! {
        h1 { "Approvals" }
        @if let Some(done) = done(request)? { p .notice .good role="status" { (done) } }
        p .faint {
            "Calls denied until a person approves them. An approval covers exactly these \
             arguments in this session; the agent must make the call again."
        }
        div data-live=[(!later).then_some("approvals")] {
            @if list.items.is_empty() { (none(dashboard, "Nothing is waiting.")) }
            @for call in &list.items { (card(&request.visitor, call)) }
            (pager("/approvals", later, list.next.as_deref(), "Older calls"))
        }
        @if !standing.items.is_empty() {
            section aria-labelledby="standing" {
                h2 #standing { "Current decisions" }
                @for call in &standing.items { (card(&request.visitor, call)) }
                @if standing.next.is_some() {
                    p .faint { "The newest " (ENTRIES) " are shown; the API lists all of them." }
                }
            }
        }
        section aria-labelledby="decided" {
            h2 #decided { "Recent decisions" }
            div data-live="decided" { (decided(dashboard)?) }
        }
    };
    Ok(whole(dashboard, &request.visitor, "/approvals", "Approvals", &body))
}

/// The message about the form that led to this page.
fn done(request: &VisitorRequest) -> Result<Option<&'static str>, HttpProblem> {
    Ok(match request.query.one("done")? {
        Some("granted") => Some("Granted: the agent may make this call again."),
        Some("refused") => Some(
            "Refused: the agent will see the refusal when it makes this call \
            again.",
        ),
        _ => None,
    })
}

fn card(visitor: &Visitor, call: &CallItem) -> Markup {
    let hidden = json_pretty(&call.arguments).chars().count().saturating_sub(SHOWN);
    html! {
        article .card .held id=(part(&call.execution_id)) {
            h2 .line {
                (brief(&call.tool, 80))
                @if call.state != "waiting" { span .badge { (call.state) } }
                span .faint { (time(call.at)) }
            }
            p { (brief(&call.why, 400)) }
            (json(&call.arguments, SHOWN))
            p .faint {
                (receipt(&call.execution_id)) " in " (session(&call.session))
                @if let Some(caller) = &call.caller { ", called by " (brief(caller, 60)) }
                @if call.session_has_ended { ", which has ended" }
            }
            @if hidden > 0 {
                p .notice {
                    (counted(hidden as u64, "character")) " of the arguments are not shown here: "
                    a href={ "/receipts/" (part(&call.execution_id)) } {
                        "open the receipt to read and grant the call"
                    }
                }
            }
            (form(visitor, &call.execution_id, call.state, hidden == 0))
        }
    }
}

/// The form for deciding on a call. It does not offer the decision already in force, and approval
/// only if the call was shown in full.
pub(super) fn form(visitor: &Visitor, execution_id: &str, state: &str, is_whole: bool) -> Markup {
    let id = part(execution_id);
    let field = format!("reason-{execution_id}");
    let may_grant = is_whole && !state.starts_with("granted");
    let may_refuse = state != "refused";
    let word = if may_grant { "grant" } else { "refuse" };
    html! {
        @if !may_grant && !may_refuse {
        } @else if visitor.role == Role::Operate {
            form .decide method="post" action={ "/approvals/" (id) "/" (word) } {
                (form_token(visitor))
                div {
                    label for=(field) { "Reason" }
                    input id=(field) name="reason" maxlength="1000" autocomplete="off";
                }
                @if may_grant {
                    label .check {
                        input type="checkbox" name="for_session" value="yes";
                        " for every such call in the session"
                    }
                    button .primary type="submit" { "Grant" }
                }
                @if may_refuse {
                    button .danger type="submit" formaction={ "/approvals/" (id) "/refuse" } { "Refuse" }
                }
            }
        } @else {
            p .faint { "Granting and refusing calls requires the role " code { "operate" } "." }
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
        @if events.is_empty() { (none(dashboard, "Nothing was decided.")) }
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

/// Approves a call.
pub(super) fn grant(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Answer, HttpProblem> {
    api::grant(dashboard, request, word(request)?)?;
    Ok(to("/approvals?done=granted"))
}

/// Refuses a call.
pub(super) fn refuse(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Answer, HttpProblem> {
    api::refuse(dashboard, request, word(request)?)?;
    Ok(to("/approvals?done=refused"))
}

fn word(request: &VisitorRequest) -> Result<Word, HttpProblem> {
    let form = request.form()?;
    form.are_among(&["reason", "for_session", FORM_TOKEN])?;
    Ok(Word {
        reason: form.some("reason")?.map(str::to_owned),
        for_session: match form.one("for_session")? {
            None => false,
            Some("yes") => true,
            Some(_) => return Err(HttpProblem::bad("`for_session` must be `yes` or missing")),
        },
    })
}
