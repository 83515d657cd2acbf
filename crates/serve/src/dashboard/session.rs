use std::collections::BTreeSet;

use counterfoil_guard::{Draft, Event};
use counterfoil_model::Role;
use maud::{Markup, html};

use super::Dashboard;
use super::page::whole;
use super::pieces::{brief, call, counted, lines, part, plain, session as session_link, time};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, ReceiptItem, SessionItem};
use crate::http::Answer;

/// Number of events per page of a timeline.
const WINDOW: u64 = 100;

/// Maximum characters of a text or a result that are shown.
const SHOWN: usize = 400;

/// Maximum bytes of stored results read for one page; later calls are shown without their results.
const RESULTS: usize = 4 * 1024 * 1024;

/// The page of a session: a timeline, one window of events per page.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let session = api::session(dashboard, request)?;
    let given = api::cursor(request, "timeline")?;
    let latest = session.events.saturating_sub(WINDOW);
    let after = given.unwrap_or(latest).min(session.events);
    let events = dashboard.ledger().events_of(&session.id, after, WINDOW)?;
    let is_live = given.is_none();
    let body = html! {
        h1 { "Session " span .id { (brief(&session.id, 80)) } }
        div data-live=[is_live.then_some("timeline")] {
            (about(&session))
            (windows(&session, after))
            ol .timeline { (entries(dashboard, &events)?) }
            (windows(&session, after))
        }
    };
    Ok(whole(dashboard, &request.visitor, "/sessions", "Session", &body))
}

fn about(session: &SessionItem) -> Markup {
    let id = part(&session.id);
    html! {
        p .line {
            @if let Some(model) = &session.model { span { (brief(model, 60)) } }
            span { (counted(session.calls, "call")) }
            @if session.rejected > 0 { span .held { (session.rejected) " rejected" } }
            @if session.open > 0 { span .badge .open { (session.open) " open" } }
            span { (counted(session.answers, "judged answer")) }
            @if session.answers_with_findings > 0 {
                span .bad { (session.answers_with_findings) " with findings" }
            }
            @if session.has_ended { span .faint { "ended" } }
            span .faint { (time(session.began_at)) " – " (time(session.last_at)) }
        }
        @if let Some(parent) = &session.parent { p { "Part of " (session_link(parent)) } }
        p .line {
            a href={ "/answers?session=" (id) } { "Its answers" }
            a href={ "/rejections?session=" (id) } { "Its rejections" }
            a href={ "/api/v1/sessions/" (id) "/events" } { "As JSON" }
        }
    }
}

/// Links to the previous and next window.
fn windows(session: &SessionItem, after: u64) -> Markup {
    let path = format!("/sessions/{}", part(&session.id));
    let to = |at: u64| format!("{path}?cursor={}", api::timeline_cursor(at));
    let end = after.saturating_add(WINDOW).min(session.events);
    html! {
        @if session.events > WINDOW {
            nav .pager aria-label="Other parts of the session" {
                @if after > 0 {
                    a href=(to(0)) { "First" }
                    a rel="prev" href=(to(after.saturating_sub(WINDOW))) { "Earlier" }
                }
                span { "events " (after + 1) "–" (end) " of " (session.events) }
                @if end < session.events {
                    a rel="next" href=(to(end)) { "Later" }
                    a href=(path) { "Latest" }
                }
            }
        }
    }
}

fn entries(dashboard: &Dashboard, events: &[Event]) -> Result<Markup, HttpProblem> {
    let mut room = RESULTS;
    let begun: BTreeSet<&str> = events.iter().filter_map(|event| brought(&event.draft)).collect();
    let mut shown = Vec::new();
    for event in events {
        if let Some((kind, entry)) = entry(dashboard, event, &begun, &mut room)? {
            shown.push((event, kind, entry));
        }
    }
    Ok(html! {
        @for (event, kind, entry) in &shown {
            li .(kind) id={ "e" (event.session_seq) } {
                div .when { (time(event.at)) span .faint { "#" (event.session_seq) } }
                div .what { (entry) }
            }
        }
    })
}

/// The execution that an event introduces.
fn brought(draft: &Draft) -> Option<&str> {
    match draft {
        Draft::Opened(opened) => Some(&opened.execution_id),
        Draft::Rejected(rejected) => Some(&rejected.call.execution_id),
        _ => None,
    }
}

/// An event with its CSS class; `None` if it is shown as part of another one.
fn entry(
    dashboard: &Dashboard,
    event: &Event,
    begun: &BTreeSet<&str>,
    room: &mut usize,
) -> Result<Option<(&'static str, Markup)>, HttpProblem> {
    Ok(Some(match &event.draft {
        Draft::Opened(_) | Draft::Rejected(_) => {
            let id = brought(&event.draft).unwrap_or_default();
            ("call", called(dashboard, id, room)?)
        }
        // The event that introduced it is not on this page.
        Draft::Closed(closed) if !begun.contains(closed.execution_id.as_str()) => {
            ("call", called(dashboard, &closed.execution_id, room)?)
        }
        Draft::Closed(_) | Draft::Shown { .. } => return Ok(None),
        Draft::Said(message) => {
            let who = speaker(message.role);
            let text = api::text_of(dashboard, &message.text)?;
            (who, self::message_markup(who, message.caller_id.as_deref(), text.as_deref()))
        }
        Draft::Judged { findings, .. } => {
            let count = findings.as_array().map_or(0, Vec::len) as u64;
            let href = format!("/answers/{}/{}", part(&event.session), event.session_seq);
            (
                "judged",
                html! {
                    p .line {
                        a href=(href) { "The judged answer" }
                        @if count == 0 { span .badge .good { "nothing found" } }
                        @else { span .badge .bad { (counted(count, "finding")) } }
                    }
                },
            )
        }
        draft => ("note", noted(draft)),
    }))
}

fn called(dashboard: &Dashboard, id: &str, room: &mut usize) -> Result<Markup, HttpProblem> {
    let Some(receipt) = dashboard.ledger().receipt(id)? else {
        return Ok(html! { p .faint { "The receipt no longer exists." } });
    };
    let text = match &receipt.recorded_digest {
        Some(digest) if *room > 0 => api::text_of(dashboard, digest)?,
        _ => None,
    };
    *room = room.saturating_sub(text.as_ref().map_or(0, String::len));
    let text = text.or_else(|| receipt.answer.clone()).unwrap_or_default();
    Ok(html! {
        (call(&ReceiptItem::from(&receipt)))
        @if let Some(caller) = &receipt.caller_id { p .faint { "by " (brief(caller, 60)) } }
        @if !text.trim().is_empty() { pre .result tabindex="0" { (lines(text.trim(), SHOWN)) } }
    })
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn message_markup(who: &str, caller: Option<&str>, text: Option<&str>) -> Markup {
    html! {
        p .faint { (who) @if let Some(caller) = caller { " · " (brief(caller, 60)) } }
        @match text {
            None => p .faint { "The text has been deleted by retention." },
            Some(text) => div .said { (lines(text, SHOWN)) },
        }
    }
}

fn noted(draft: &Draft) -> Markup {
    let by = |by: &str, reason: &Option<String>| {
        html! {
            (brief(by, 80)) @if let Some(reason) = reason { ": " (brief(reason, 300)) }
        }
    };
    html! {
        p {
            @match draft {
                Draft::Began { model, .. } => {
                    "The session begins" @if let Some(model) = model { " with " (plain(model)) }
                }
                Draft::Approved(approved) => {
                    "A call of " strong { (brief(&approved.tool, 60)) } " was approved by "
                    (by(&approved.by, &approved.reason))
                }
                Draft::Declined(declined) => {
                    "A call of " strong { (brief(&declined.tool, 60)) } " was refused by "
                    (by(&declined.by, &declined.reason))
                }
                Draft::Cleared => {
                    "The session forgets completed tools, repeated calls and cached results"
                }
                Draft::Ended => { "The session ends" }
                other => { (other.name()) }
            }
        }
    }
}
