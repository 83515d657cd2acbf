use counterfoil_report::json_pretty;
use hyper::StatusCode;
use hyper::header::{self, HeaderValue};
use maud::{Markup, html};

use super::Dashboard;
use super::approvals::form;
use super::page::whole;
use super::pieces::{brief, counted, json, lines, part, plain, session, status, time, took};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use super::visitor::Visitor;
use crate::api::{self, ReceiptDetail, ReceiptItem};
use crate::http::{Answer, answer};

/// Maximum characters of results and of the whole receipt that are shown.
const SHOWN: usize = 8_000;

/// Maximum characters of arguments that are shown; a person may have to decide on them.
const ARGUMENTS: usize = 20_000;

/// The page of a receipt: the call, what permitted it, its result, and how to prove it.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let detail = api::receipt(dashboard, request)?;
    let receipt = &detail.short;
    let export = format!("/receipts/{}/export", part(&receipt.execution_id));
    let body = html! {
        h1 { "Receipt " span .id { (brief(&receipt.execution_id, 80)) } }
        p .line { strong { (brief(&receipt.tool, 80)) } (status(&receipt.status)) }
        (facts(receipt))
        section {
            h2 { "Arguments" }
            (json(&receipt.arguments, ARGUMENTS))
            (decision(&request.visitor, &detail))
        }
        (result(&detail))
        section {
            h2 { "Proof" }
            p {
                "The proof can be verified without Counterfoil: it contains the receipt's events, \
                 the path of each in the signed tree, the signed checkpoint and the public key."
            }
            p .line {
                a .button href=(export) download { "Download the proof" }
                a href={ "/api/v1/receipts/" (part(&receipt.execution_id)) } { "As JSON" }
            }
            details { summary { "The whole receipt" } (json(&detail.receipt, 2 * SHOWN)) }
        }
    };
    Ok(whole(dashboard, &request.visitor, "/sessions", "Receipt", &body))
}

fn facts(receipt: &ReceiptItem) -> Markup {
    html! {
        dl .facts {
            dt { "Session" } dd { (session(&receipt.session)) ", event " (receipt.session_seq) }
            dt { "Began" } dd { (time(receipt.started_at)) }
            @if let Some(micros) = receipt.duration_us { dt { "Took" } dd { (took(micros)) } }
            @if let Some(permit) = &receipt.permit { dt { "Permitted by" } dd { (brief(permit, 400)) } }
            @if let Some(category) = &receipt.category { dt { "Failure" } dd { (plain(category)) } }
            @if let Some(code) = receipt.exit_code { dt { "Exit code" } dd { (code) } }
            @if let Some(model) = &receipt.model { dt { "Model" } dd { (brief(model, 80)) } }
            @if let Some(caller) = &receipt.caller { dt { "Called by" } dd { (brief(caller, 80)) } }
            @if !receipt.codes.is_empty() {
                dt { "Codes" }
                dd .line { @for code in receipt.codes.iter().take(20) { code { (brief(code, 60)) } } }
            }
            dt { "Digest" } dd { code .wrap { (receipt.digest) } }
        }
    }
}

/// The state of a person's decision, and the form if the arguments are shown in full.
fn decision(visitor: &Visitor, detail: &ReceiptDetail) -> Markup {
    let receipt = &detail.short;
    let hidden = json_pretty(&receipt.arguments).chars().count().saturating_sub(ARGUMENTS);
    html! {
        @if hidden > 0 { p .notice { (counted(hidden as u64, "character")) " are not shown." } }
        @if let Some(state) = detail.decision {
            p .line { "Approval of this call: " span .badge { (state) } }
            @if hidden > 0 {
                p {
                    "To see the whole call and grant it, run "
                    code { "counterfoil approve " (brief(&receipt.execution_id, 80)) }
                }
            }
            (form(visitor, &receipt.execution_id, state, hidden == 0))
        }
    }
}

fn result(detail: &ReceiptDetail) -> Markup {
    let receipt = &detail.short;
    html! {
        @if let Some(answer) = &receipt.answer {
            section {
                h2 { "Message to the model" }
                pre tabindex="0" { (lines(answer, SHOWN)) }
            }
        }
        @if receipt.result.is_some() {
            section {
                h2 { "Result" }
                @match &detail.result_text {
                    None => p .faint { "The result has been deleted by retention; the receipt still has its digest." },
                    Some(text) if text.is_empty() => p .empty { "The result is empty." },
                    Some(text) => pre tabindex="0" { (lines(text, SHOWN)) },
                }
                @match (receipt.truncated, receipt.kept_whole) {
                    (true, true) => p .faint { "The agent got only part of the result; this is the \
                                                whole result." },
                    (true, false) => p .faint { "The result was truncated when it was recorded." },
                    (false, _) => {}
                }
                @if detail.result_is_cut
                    || detail.result_text.as_ref().is_some_and(|text| text.chars().count() > SHOWN)
                { p .faint { "Only the beginning is shown." } }
            }
        }
    }
}

/// The receipt with its proof, as a download.
pub(super) fn export(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Answer, HttpProblem> {
    let text = api::export(dashboard, request)?;
    let mut response = answer(StatusCode::OK, "application/json", text);
    let name = HeaderValue::from_static("attachment; filename=\"receipt.json\"");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}
