use maud::{Markup, html};

use super::Dashboard;
use super::page::whole;
use super::pieces::{brief, grouped};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, RuleItem};
use crate::http::Answer;

/// The page with the findings of each rule in the recorded answers.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let stats = api::stats(dashboard, request)?;
    let rules = api::in_mode(dashboard);
    let found = |rule: &RuleItem| stats.findings.get(&rule.code).copied().unwrap_or(0);
    let mut rows: Vec<(&RuleItem, u64)> = rules.iter().map(|rule| (rule, found(rule))).collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let body = html! {
        h1 { "Accuracy by rule" }
        p {
            (grouped(stats.answers)) " answers were checked against the record, with findings in "
            (grouped(stats.answers_with_findings)) " of them. This page cannot tell whether a \
                finding was right: read the "
            a href="/answers" { "answers" } " to decide. " code { "docs/accuracy.md" }
            " shows how often each rule is right on labelled sessions."
        }
        div data-live="rules" { (table(&rows, stats.answers)) }
    };
    Ok(whole(dashboard, &request.visitor, "/accuracy", "Accuracy by rule", &body))
}

fn table(rows: &[(&RuleItem, u64)], answers: u64) -> Markup {
    html! {
        div .scroll tabindex="0" role="region" aria-label="Findings by rule" {
            table {
                thead { tr {
                    th scope="col" { "rule" }
                    th scope="col" { "what it finds" }
                    th scope="col" { "mode" }
                    th scope="col" .number { "findings" }
                    th scope="col" .number { "per 1000 answers" }
                } }
                tbody {
                    @for (rule, count) in rows {
                        tr {
                            td { code { (rule.code) } " " span .faint { (rule.name) } }
                            td .text { (brief(&rule.summary, 160)) }
                            td { (rule.mode) }
                            td .number .bad[*count > 0] { (grouped(*count)) }
                            td .number {
                                @match (count * 1000).checked_div(answers) {
                                    Some(share) => (share),
                                    None => "–",
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
