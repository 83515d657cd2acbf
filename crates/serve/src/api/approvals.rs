use counterfoil_guard::{AppendError, Approval, PersonsDecision, Receipt};
use counterfoil_model::ExactValue;
use hyper::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::Handle;

use super::cursor::{Page, cursor, written};
use super::receipts::{call_of, found};
use crate::dashboard::Dashboard;
use crate::dashboard::index::{CallOfPerson, DecisionState};
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// Maximum length of a reason, in characters.
const LONGEST_REASON: usize = 1_000;

/// A call that needs a person's decision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CallItem {
    /// `waiting`, `granted once`, `granted for the session` or `refused`.
    pub(crate) state: &'static str,
    /// The id of the denied call.
    pub(crate) execution_id: String,
    /// The session.
    pub(crate) session: String,
    /// Whether the session has ended, according to its latest event.
    pub(crate) session_has_ended: bool,
    /// The tool.
    pub(crate) tool: String,
    /// The arguments, redacted. An approval is for exactly these.
    #[schemars(with = "Value")]
    pub(crate) arguments: ExactValue,
    /// Why approval is needed.
    pub(crate) why: String,
    /// When the call was made: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// The sub-agent that made the call.
    pub(crate) caller: Option<String>,
}

/// A person's decision on a call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Word {
    /// The reason, which is recorded in the ledger.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub(crate) reason: Option<String>,
    /// Whether to approve every identical call of the session instead of one. Ignored for a
    /// refusal, which stays in force until the call is approved.
    #[serde(default)]
    pub(crate) for_session: bool,
}

/// A recorded decision.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Decided {
    /// The id of the denied call.
    pub(crate) execution_id: String,
    /// `granted` or `refused`.
    pub(crate) decision: &'static str,
    /// Who decided, as recorded in the ledger.
    pub(crate) by: String,
}

/// Calls waiting for a decision, newest first; with `state=decided`, calls with a decision in
/// force.
pub(crate) fn list(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Page<CallItem>, HttpProblem> {
    let waiting = match request.query.one("state")? {
        None | Some("waiting") => true,
        Some("decided") => false,
        Some(_) => return Err(HttpProblem::bad("`state` must be `waiting` or `decided`")),
    };
    page(dashboard, cursor(request, "approvals")?, request.limit()?, waiting)
}

/// Up to `limit` such calls from before this event.
pub(crate) fn page(
    dashboard: &Dashboard,
    before: Option<u64>,
    limit: usize,
    waiting: bool,
) -> Result<Page<CallItem>, HttpProblem> {
    let now = dashboard.now();
    let mut calls: Vec<(CallOfPerson, bool)> = {
        let index = dashboard.known();
        let ended = |at: usize| index.sessions().get(at).is_some_and(|session| session.has_ended);
        let all = index.calls_of_people(waiting, now).into_iter();
        let all = all.filter(|call| before.is_none_or(|seq| call.seq < seq)).take(limit + 1);
        all.map(|call| (call.clone(), ended(call.session))).collect()
    };
    let more = calls.len() > limit;
    calls.truncate(limit);
    let next = calls.last().filter(|_| more).map(|(last, _)| written("approvals", last.seq));
    let mut items = Vec::new();
    for (call, session_has_ended) in calls {
        let Some(receipt) = dashboard.ledger().receipt(&call.execution_id)? else { continue };
        items.push(CallItem {
            state: call.state(now).name(),
            why: receipt.reason().unwrap_or_default().to_owned(),
            execution_id: receipt.execution_id,
            session: receipt.session_id,
            session_has_ended,
            tool: receipt.tool,
            arguments: receipt.arguments,
            at: receipt.started_at,
            caller: receipt.caller_id,
        });
    }
    Ok(Page { items, next })
}

/// Approves the call named in the route.
pub(crate) fn grant(
    dashboard: &Dashboard,
    request: &VisitorRequest,
    word: Word,
) -> Result<Decided, HttpProblem> {
    let (by, reason) = person_and_reason(request, word.reason)?;
    let approval = Approval::by(by.clone());
    let approval = reason.map_or(approval.clone(), |reason| approval.because(reason));
    let approval = if word.for_session { approval.for_session() } else { approval };
    decide(dashboard, request, PersonsDecision::Agree(approval), by)
}

/// Refuses the call named in the route.
pub(crate) fn refuse(
    dashboard: &Dashboard,
    request: &VisitorRequest,
    word: Word,
) -> Result<Decided, HttpProblem> {
    let (by, reason) = person_and_reason(request, word.reason)?;
    decide(dashboard, request, PersonsDecision::Refuse { by: by.clone(), reason }, by)
}

/// The person and the reason, validated.
fn person_and_reason(
    request: &VisitorRequest,
    reason: Option<String>,
) -> Result<(String, Option<String>), HttpProblem> {
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
        let what = format!("the reason is longer than {LONGEST_REASON} characters");
        return Err(HttpProblem::bad(what));
    }
    Ok((format!("{} (dashboard)", request.visitor.name), reason))
}

/// Records a decision, if the call named in the route can be decided on.
fn decide(
    dashboard: &Dashboard,
    request: &VisitorRequest,
    decision: PersonsDecision,
    by: String,
) -> Result<Decided, HttpProblem> {
    dashboard.has_read_all()?;
    let grants = matches!(decision, PersonsDecision::Agree(_));
    let (receipt, seen) = ready(dashboard, request.named(0), grants)?;
    let recorded = dashboard.guard().decide(&receipt, decision, seen);
    Handle::current().block_on(recorded).map_err(|error| match error {
        AppendError::DecidedMeanwhile => {
            let what = format!("cannot decide on `{}`: {error}", receipt.execution_id);
            HttpProblem::new(StatusCode::CONFLICT, what)
        }
        error => error.into(),
    })?;
    // The decision is recorded even if this process cannot read it back now.
    if let Err(error) = dashboard.catch_up() {
        tracing::error!("cannot read the ledger after a decision: {error}");
    }
    let decision = if grants { "granted" } else { "refused" };
    Ok(Decided { execution_id: receipt.execution_id, decision, by })
}

/// The receipt of a call on which this decision can be made now, and the position up to which the
/// session was read for that.
fn ready(dashboard: &Dashboard, id: &str, grants: bool) -> Result<(Receipt, u64), HttpProblem> {
    let receipt = found(dashboard, id)?;
    dashboard.catch_up()?;
    let call = call_of(dashboard, &receipt);
    let why = match call.as_ref().map(|call| call.state(dashboard.now())) {
        Some(DecisionState::Granted { .. }) if grants => "it is already granted",
        Some(DecisionState::Refused) if !grants => "it is already refused",
        _ => match call {
            Some(call) => return Ok((receipt, call.seen)),
            None => "a rule denied it, or it has already run",
        },
    };
    Err(HttpProblem::new(StatusCode::CONFLICT, format!("cannot decide on `{id}`: {why}")))
}
