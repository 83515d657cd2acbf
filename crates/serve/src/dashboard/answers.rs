use maud::{Markup, html};

use super::Dashboard;
use super::page::whole;
use super::pieces::{brief, counted, lines, none, pager, part, session, time, verdict};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, AnswerItem};
use crate::http::Answer;

/// Maximum characters of an answer that are shown.
const SHOWN: usize = 400;

/// Maximum number of findings shown per answer.
const FINDINGS: usize = 4;

/// The page of answers that were checked against the record.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let list = api::answers(dashboard, request)?;
    let later = request.query.one("cursor")?.is_some();
    let of = request.query.one("session")?;
    let path = match of {
        Some(id) => format!("/answers?session={}", part(id)),
        None => "/answers".to_owned(),
    };
    let body = html! {
        h1 { "Answers" }
        p .faint {
            "Answers of agents, checked against the record."
            @if let Some(id) = of {
                " Showing only " (session(id)) "; " a href="/answers" { "show all" } "."
            }
        }
        div data-live=[(!later).then_some("answers")] {
            @if list.items.is_empty() { (none(dashboard, "No answer was judged.")) }
            ul .list { @for answer in &list.items { li { (entry(answer)) } } }
            (pager(&path, later, list.next.as_deref(), "Older answers"))
        }
    };
    Ok(whole(dashboard, &request.visitor, "/answers", "Answers", &body))
}

fn entry(answer: &AnswerItem) -> Markup {
    let href = format!("/answers/{}/{}", part(&answer.session), answer.session_seq);
    let count = answer.findings.len();
    html! {
        p .line {
            strong { a href=(href) { "Answer " (answer.session_seq) } }
            @if count == 0 { span .badge .good { "nothing found" } }
            @else { span .badge .bad { (counted(count as u64, "finding")) } }
            span .faint { (time(answer.at)) " in " (session(&answer.session)) }
        }
        @match &answer.text {
            None => p .faint { "The text has been deleted by retention." },
            Some(text) => div .said { (lines(text, SHOWN)) },
        }
        @for finding in answer.findings.iter().take(FINDINGS) {
            p .finding {
                @if !finding.verdict.is_empty() { (verdict(&finding.verdict)) " " }
                code { (brief(&finding.code, 40)) } " " (brief(&finding.message, 240))
            }
        }
        @if count > FINDINGS { p .faint { (count - FINDINGS) " more" } }
    }
}
