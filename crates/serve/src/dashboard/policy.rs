use maud::{Markup, html};

use super::Dashboard;
use super::page::{form_token, whole};
use super::pieces::{arguments, brief, counted, lines, plain, session};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, ReplayBody, ReplayItem};
use crate::http::Answer;

/// Maximum characters of the configuration that are shown.
const SHOWN: usize = 60_000;

/// Maximum number of changed calls that are shown.
const CHANGES: usize = 100;

/// The page of the policy in force, with a form to try another one.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    shown(dashboard, request, None, None)
}

/// The policy page, with what another policy would have decided.
pub(super) fn replay(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Answer, HttpProblem> {
    let form = request.form()?;
    let policy = form.one("policy")?.unwrap_or_default().replace("\r\n", "\n");
    let session = form.some("session")?.map(str::to_owned);
    let body = ReplayBody { policy, session };
    let replayed = api::replay(dashboard, &body);
    shown(dashboard, request, Some(&body), Some(replayed))
}

fn shown(
    dashboard: &Dashboard,
    request: &VisitorRequest,
    given: Option<&ReplayBody>,
    replayed: Option<Result<ReplayItem, HttpProblem>>,
) -> Result<Answer, HttpProblem> {
    let policy = api::in_force(dashboard, request)?;
    let text = given.map_or(policy.text.as_str(), |given| given.policy.as_str());
    let body = html! {
        h1 { "Policy" }
        @match &replayed {
            Some(Ok(replayed)) => (became(replayed)),
            Some(Err(problem)) => p .notice .bad role="alert" { (plain(&problem.detail)) },
            None => {}
        }
        section aria-labelledby="try" {
            h2 #try { "Try another policy" }
            p .faint {
                "Judges recorded calls by the current policy and by this configuration file. \
                 Nothing is executed or changed."
            }
            form .replay method="post" action="/policy" {
                (form_token(&request.visitor))
                label for="policy" { "Configuration (TOML)" }
                textarea #policy name="policy" rows="16" spellcheck="false" maxlength="200000" { (text) }
                label for="session" { "Session (default: the latest ones)" }
                input #session name="session" autocomplete="off" spellcheck="false"
                    value=[given.and_then(|given| given.session.as_deref())];
                button .primary type="submit" { "Replay" }
            }
        }
        section aria-labelledby="in-force" {
            h2 #in-force { "Current policy" }
            p .line { "Gates, in order: " @for gate in &policy.gates { code { (gate) } } }
            details { summary { "The configuration" } pre tabindex="0" { (lines(&policy.text, SHOWN)) } }
        }
    };
    Ok(whole(dashboard, &request.visitor, "/policy", "Policy", &body))
}

fn became(replayed: &ReplayItem) -> Markup {
    let same = replayed.calls.saturating_sub(replayed.changed + replayed.unreadable);
    html! {
        section aria-labelledby="became" {
            h2 #became { "How recorded calls would have been decided" }
            p .notice role="status" {
                (counted(replayed.calls as u64, "call")) " of "
                (counted(replayed.sessions.len() as u64, "session")) ": "
                (same) " the same, " (replayed.changed) " different"
                @if replayed.unreadable > 0 {
                    ", " (replayed.unreadable) " with arguments that are not a JSON object"
                }
                "."
            }
            ul .list {
                @for change in replayed.changes.iter().take(CHANGES) {
                    li {
                        p .line {
                            strong { (brief(&change.tool, 60)) }
                            span { (word(&change.before)) " → " (word(&change.after)) }
                            span .faint { "in " (session(&change.session)) }
                        }
                        (arguments(&change.arguments, 240))
                        @for why in change.why.iter().take(3) {
                            p { @if change.after == "allow" { "no longer " } (brief(why, 240)) }
                        }
                    }
                }
            }
        }
    }
}

fn word(word: &str) -> Markup {
    let kind = match word {
        "allow" => "good",
        "ask" => "held",
        _ => "bad",
    };
    html! { span .badge .(kind) { (word) } }
}
