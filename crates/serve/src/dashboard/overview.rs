use maud::{Markup, html};

use super::Dashboard;
use super::index::{HOUR, HourCounts};
use super::page::whole;
use super::pieces::{brief, call, counted, grouped, none, part, plain, session, time};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, CallItem, HealthItem, ReceiptItem, SessionItem};
use crate::http::Answer;

/// Number of entries in a short list.
const FEW: usize = 6;

/// Number of hours in the chart.
const HOURS: i64 = 48;

/// The overview page: today's activity, what is waiting, and whether the record can be read.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let sessions = latest(dashboard);
    let waiting = api::calls_of_people(dashboard, None, FEW, true)?.items;
    let rejections = api::latest_rejections(dashboard, FEW)?;
    let health = api::health(dashboard, request)?;
    let body = html! {
        h1 { "Overview" }
        div #today data-live="today" { (today(dashboard)) }
        section aria-labelledby="per-hour" {
            h2 #per-hour { "Calls per hour" }
            div data-live="chart" { (chart(dashboard)) }
        }
        div .columns {
            section aria-labelledby="waiting" {
                h2 #waiting { a href="/approvals" { "Waiting for approval" } }
                div data-live="waiting-list" { (waits(dashboard, &waiting)) }
            }
            section aria-labelledby="rejected" {
                h2 #rejected { a href="/rejections" { "Latest rejections" } }
                div data-live="rejections" { (rejected(dashboard, &rejections)) }
            }
        }
        section aria-labelledby="latest" {
            h2 #latest { a href="/sessions" { "Latest sessions" } }
            div data-live="sessions" { (super::sessions::table(&sessions)) }
        }
        section aria-labelledby="record" {
            h2 #record { "The record" }
            (record(&health))
        }
    };
    Ok(whole(dashboard, &request.visitor, "/", "Overview", &body))
}

fn latest(dashboard: &Dashboard) -> Vec<SessionItem> {
    let index = dashboard.known();
    // The most recently active of the latest sessions.
    let mut all: Vec<_> = index.sessions().iter().rev().take(1_000).collect();
    all.sort_by_key(|session| std::cmp::Reverse(session.last_at));
    all.into_iter().take(FEW).map(SessionItem::from).collect()
}

/// Counts for this hour and the 23 before it, and for waiting calls, each linked to its list.
fn today(dashboard: &Dashboard) -> Markup {
    let index = dashboard.known();
    let since = dashboard.now().div_euclid(HOUR) - 23;
    let mut sum = HourCounts::default();
    for counts in index.hours().range(since..).map(|(_, counts)| counts) {
        sum.calls += counts.calls;
        sum.rejected += counts.rejected;
        sum.failed += counts.failed;
        sum.answers += counts.answers;
        sum.answers_with_findings += counts.answers_with_findings;
    }
    let tiles = [
        ("/sessions", sum.calls, "calls", ""),
        ("/sessions", sum.failed, "failed", "bad"),
        ("/rejections", sum.rejected, "rejected", "held"),
        ("/approvals", index.waiting_count(dashboard.now()) as u64, "waiting", "held"),
        ("/answers", sum.answers, "answers judged", ""),
        ("/answers", sum.answers_with_findings, "with findings", "bad"),
    ];
    html! {
        p .faint { "This hour and the 23 before it; waiting calls are counted whatever their age" }
        ul .tiles {
            @for (href, number, noun, kind) in tiles {
                li {
                    a href=(href) class=(if number == 0 { "zero" } else { kind }) {
                        strong { (grouped(number)) } span { (noun) }
                    }
                }
            }
        }
    }
}

fn chart(dashboard: &Dashboard) -> Markup {
    let index = dashboard.known();
    let now = dashboard.now().div_euclid(HOUR);
    let hours: Vec<(i64, HourCounts)> = (now - HOURS + 1..=now)
        .map(|hour| (hour, index.hours().get(&hour).copied().unwrap_or_default()))
        .collect();
    let of = |number: fn(&HourCounts) -> u64| {
        hours.iter().map(|(_, counts)| number(counts).to_string()).collect::<Vec<_>>().join(",")
    };
    let times: Vec<String> =
        hours.iter().map(|(hour, _)| (hour * HOUR / 1000).to_string()).collect();
    html! {
        div .chart data-times=(times.join(",")) data-calls=(of(|c| c.calls))
            data-rejected=(of(|c| c.rejected)) data-failed=(of(|c| c.failed)) {}
        details {
            summary { "Show as a table" }
            div .scroll tabindex="0" role="region" aria-label="Calls per hour as a table" {
                table {
                    thead { tr { th scope="col" { "hour" } th scope="col" .number { "calls" }
                        th scope="col" .number { "rejected" } th scope="col" .number { "failed" } } }
                    tbody {
                        @for (hour, counts) in hours.iter().rev().filter(|(_, c)| c.calls + c.failed > 0) {
                            tr {
                                td { (time(hour * HOUR)) }
                                td .number { (grouped(counts.calls)) }
                                td .number { (grouped(counts.rejected)) }
                                td .number { (grouped(counts.failed)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn waits(dashboard: &Dashboard, waiting: &[CallItem]) -> Markup {
    html! {
        @if waiting.is_empty() { (none(dashboard, "Nothing is waiting.")) }
        ul .list {
            @for call in waiting {
                li {
                    p .line {
                        strong { a href={ "/approvals#" (part(&call.execution_id)) } { (brief(&call.tool, 60)) } }
                        span .faint { (time(call.at)) }
                    }
                    p { (brief(&call.why, 200)) }
                }
            }
        }
    }
}

fn rejected(dashboard: &Dashboard, rejections: &[ReceiptItem]) -> Markup {
    html! {
        @if rejections.is_empty() { (none(dashboard, "Nothing was rejected.")) }
        ul .list {
            @for receipt in rejections {
                li {
                    (call(receipt))
                    p .faint { (time(receipt.started_at)) " in " (session(&receipt.session)) }
                }
            }
        }
    }
}

fn record(health: &HealthItem) -> Markup {
    let ledger = &health.ledger;
    html! {
        dl .facts {
            dt { "Ledger" }
            dd { (brief(&ledger.origin, 80)) ", " (counted(ledger.events, "event")) }
            @if let Some(since) = ledger.kept_since { dt { "Kept since" } dd { (time(since)) } }
            @match &health.audit {
                None => { dt { "Audit log" } dd { "none yet" } }
                Some(audit) => {
                    dt { "Audit log" }
                    dd {
                        (counted(audit.lines, "line"))
                        @if let Some(at) = audit.last_at { ", the last at " (time(at)) }
                        @if let Some(trouble) = &audit.trouble {
                            " " span .badge .bad { "trouble" } " " (plain(trouble))
                        }
                    }
                }
            }
            dt { "Key" }
            dd {
                details {
                    summary { "The public key of the signatures" }
                    pre tabindex="0" { (ledger.public_key) }
                }
            }
        }
        p .faint {
            code { "counterfoil audit verify" } " verifies every line, link and signature."
        }
    }
}
