//! The HTTP API: one file per resource, and one row each in [`RESOURCES`]. The OpenAPI document is
//! generated from the same table.

mod answers;
mod approvals;
mod cursor;
mod events;
mod health;
mod openapi;
mod policy;
mod receipts;
mod resource;
mod sessions;
mod stats;

pub(crate) use answers::{AnswerDetail, AnswerItem, EvidenceItem, list as answers, one as answer};
pub(crate) use approvals::{
    CallItem, Word, grant, list as approvals, page as calls_of_people, refuse,
};
pub(crate) use cursor::{Page, cursor, timeline_cursor};
pub(crate) use health::{HealthItem, health};
pub(crate) use policy::{PolicyItem, ReplayBody, ReplayItem, RuleItem, in_force, in_mode, replay};
pub(crate) use receipts::{
    ReceiptDetail, ReceiptItem, export, latest_rejections, list as receipts, one as receipt,
    rejections, text_of,
};
pub(crate) use resource::Resource;
pub(crate) use sessions::{SessionItem, list as sessions, one as session};
pub(crate) use stats::{StatsItem, stats};

use hyper::header::{self, HeaderValue};
use hyper::{Method, StatusCode};
use serde::Serialize;

use crate::dashboard::Dashboard;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;
use crate::dashboard::visitor::Role;
use crate::http::{Answer, answer as answered};
use resource::{ROOT, done, read, schema};

const LIST: &[&str] = &["cursor", "limit"];
const LIST_OF_SESSION: &[&str] = &["cursor", "limit", "session"];

/// All endpoints.
static RESOURCES: [Resource; 17] = [
    read(
        "/health",
        "health",
        "Whether the ledger can be read and followed",
        &[],
        schema::<HealthItem>,
        |d, a| json_answer(&health(d, a)?),
    ),
    read("/stats", "stats", "Totals of the ledger", &[], schema::<StatsItem>, |d, a| {
        json_answer(&stats(d, a)?)
    }),
    read(
        "/sessions",
        "sessions",
        "Sessions, most recently begun first",
        LIST,
        schema::<Page<SessionItem>>,
        |d, a| json_answer(&sessions(d, a)?),
    ),
    read(
        "/sessions/{session}",
        "session",
        "A session, counted",
        &[],
        schema::<SessionItem>,
        |d, a| json_answer(&session(d, a)?),
    ),
    read(
        "/sessions/{session}/events",
        "session_events",
        "The events of a session, in order",
        LIST,
        schema::<Page<events::EventItem>>,
        |d, a| json_answer(&events::list(d, a)?),
    ),
    read(
        "/receipts",
        "receipts",
        "Receipts, newest first",
        LIST_OF_SESSION,
        schema::<Page<ReceiptItem>>,
        |d, a| json_answer(&receipts(d, a)?),
    ),
    read(
        "/receipts/{execution_id}",
        "receipt",
        "A receipt with its result",
        &[],
        schema::<ReceiptDetail>,
        |d, a| json_answer(&receipt(d, a)?),
    ),
    read(
        "/receipts/{execution_id}/export",
        "export_receipt",
        "A receipt with its events, proofs, checkpoint and key: verifiable without the ledger",
        &[],
        openapi::any_object,
        exported,
    ),
    read(
        "/rejections",
        "rejections",
        "Calls that were refused or denied, newest first",
        LIST_OF_SESSION,
        schema::<Page<ReceiptItem>>,
        |d, a| json_answer(&rejections(d, a)?),
    ),
    read(
        "/approvals",
        "approvals",
        "Calls that need a person's decision, newest first. By default, those still waiting; with \
         `state=decided`, those with a decision that still applies",
        &["cursor", "limit", "state"],
        schema::<Page<CallItem>>,
        |d, a| json_answer(&approvals(d, a)?),
    ),
    done(
        "/approvals/{execution_id}/grant",
        "grant_approval",
        "Approves a call that is waiting or was refused",
        Role::Operate,
        schema::<Word>,
        schema::<approvals::Decided>,
        |d, a| json_answer(&grant(d, a, a.json()?)?),
    ),
    done(
        "/approvals/{execution_id}/refuse",
        "refuse_approval",
        "Refuses a call that is waiting or was granted, until someone approves it",
        Role::Operate,
        schema::<Word>,
        schema::<approvals::Decided>,
        |d, a| json_answer(&refuse(d, a, a.json()?)?),
    ),
    read(
        "/answers",
        "answers",
        "Answers checked against the record, newest first",
        LIST_OF_SESSION,
        schema::<Page<AnswerItem>>,
        |d, a| json_answer(&answers(d, a)?),
    ),
    read(
        "/answers/{session}/{session_seq}",
        "answer",
        "An answer with all its claims",
        &[],
        schema::<AnswerDetail>,
        |d, a| json_answer(&answer(d, a)?),
    ),
    read(
        "/policy",
        "policy",
        "The policy for calls and answers",
        &[],
        schema::<PolicyItem>,
        |d, a| json_answer(&in_force(d, a)?),
    ),
    done(
        "/policy/replay",
        "replay_policy",
        "What another policy would have done with recorded calls",
        Role::Read,
        schema::<ReplayBody>,
        schema::<ReplayItem>,
        |d, a| json_answer(&replay(d, &a.json()?)?),
    ),
    read("/openapi.json", "openapi", "This description", &[], openapi::any_object, |d, _| {
        Ok(answered(StatusCode::OK, JSON, openapi::document(d, &RESOURCES)))
    }),
];

const JSON: &str = "application/json";

fn json_answer(found: &impl Serialize) -> Result<Answer, HttpProblem> {
    let text = serde_json::to_string(found).map_err(|error| {
        HttpProblem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("cannot write the answer: {error}"),
        )
    })?;
    Ok(answered(StatusCode::OK, JSON, text))
}

fn exported(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let mut response = answered(StatusCode::OK, JSON, export(dashboard, request)?);
    let name = HeaderValue::from_static("attachment; filename=\"receipt.json\"");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// The endpoint of a request, and the values of its path parameters.
pub(crate) fn find(
    method: &Method,
    segments: &[String],
) -> Result<(&'static Resource, Vec<String>), HttpProblem> {
    let below = segments.get(2..).unwrap_or_default();
    let found: Vec<(&Resource, Vec<String>)> = RESOURCES
        .iter()
        .filter_map(|resource| Some((resource, fitting(resource.path, below)?)))
        .collect();
    if found.is_empty() {
        let what = format!("there is no such resource: `{ROOT}/openapi.json` lists all resources");
        return Err(HttpProblem::missing(what));
    }
    let is = |resource: &Resource| {
        resource.method == *method || resource.method == Method::GET && *method == Method::HEAD
    };
    let allow: Vec<Method> = found.iter().map(|(resource, _)| resource.method.clone()).collect();
    found.into_iter().find(|(resource, _)| is(resource)).ok_or_else(|| HttpProblem::method(allow))
}

/// The values of the path parameters, if the path matches.
pub(crate) fn fitting(path: &str, segments: &[String]) -> Option<Vec<String>> {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    if parts.len() != segments.len() {
        return None;
    }
    let mut named = Vec::new();
    for (part, segment) in parts.iter().zip(segments) {
        match part.starts_with('{') {
            true if segment.is_empty() => return None,
            true => named.push(segment.clone()),
            false if part == segment => {}
            false => return None,
        }
    }
    Some(named)
}
