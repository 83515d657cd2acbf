use counterfoil_guard::{Approval, Receipt};
use hyper::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cursor::{Page, cursor, written};
use crate::dashboard::Dashboard;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::Asked;

/// The longest reason, in characters.
const LONGEST_REASON: usize = 1_000;

/// A call that was denied because a person has to agree to it first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct WaitingItem {
    /// The id of the denied call.
    pub(crate) execution_id: String,
    /// The session.
    pub(crate) session: String,
    /// Whether the last that the ledger has of the session says that it ended.
    pub(crate) session_has_ended: bool,
    /// The tool.
    pub(crate) tool: String,
    /// The arguments, redacted: an approval is for exactly these.
    pub(crate) arguments: Value,
    /// Why a person has to agree.
    pub(crate) why: String,
    /// When the call was made: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// The sub-agent that called.
    pub(crate) caller: Option<String>,
}

/// What a person says to a call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Word {
    /// Why; it stands in the ledger.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub(crate) reason: Option<String>,
    /// For every such call of the session, not for one. It says nothing for a refusal, which holds
    /// until somebody agrees.
    #[serde(default)]
    pub(crate) for_session: bool,
}

/// What was said to a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Decided {
    /// The id of the denied call.
    pub(crate) execution_id: String,
    /// `granted` or `refused`.
    pub(crate) decision: &'static str,
    /// Who said so, as the ledger has it.
    pub(crate) by: String,
}

/// The calls that wait, the newest first.
pub(crate) fn list(dashboard: &Dashboard, asked: &Asked) -> Result<Page<WaitingItem>, HttpProblem> {
    page(dashboard, asked, asked.limit()?)
}

/// So many of them.
pub(crate) fn page(
    dashboard: &Dashboard,
    asked: &Asked,
    limit: usize,
) -> Result<Page<WaitingItem>, HttpProblem> {
    let before = cursor(asked, "approvals")?;
    let mut places: Vec<(u64, String, bool)> = {
        let index = dashboard.known();
        let ended = |at: usize| index.sessions().get(at).is_some_and(|session| session.has_ended);
        let waiting = index.waiting().filter(|call| before.is_none_or(|seq| call.seq < seq));
        let waiting = waiting.take(limit + 1);
        waiting.map(|call| (call.seq, call.execution_id.clone(), ended(call.session))).collect()
    };
    let more = places.len() > limit;
    places.truncate(limit);
    let next = places.last().filter(|_| more).map(|(seq, ..)| written("approvals", *seq));
    let mut items = Vec::new();
    for (_, id, session_has_ended) in places {
        let Some(receipt) = dashboard.ledger().receipt(&id)? else { continue };
        items.push(WaitingItem {
            why: why(receipt.answer.as_deref().unwrap_or_default()).to_owned(),
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

/// What the agent was told, without the rest of the form in which it was.
fn why(answer: &str) -> &str {
    answer.lines().find_map(|line| line.strip_prefix("message: ")).unwrap_or(answer)
}

/// Agrees to the call that a route names.
pub(crate) fn grant(
    dashboard: &Dashboard,
    asked: &Asked,
    word: Word,
) -> Result<Decided, HttpProblem> {
    let (receipt, reason, by) = ready(dashboard, asked, word.reason)?;
    let mut approval = Approval::by(by.clone());
    if let Some(reason) = reason {
        approval = approval.because(reason);
    }
    if word.for_session {
        approval = approval.for_session();
    }
    let Receipt { session_id, tool, arguments_digest, execution_id, .. } = receipt;
    let recorded = dashboard.guard().approve(&session_id, &tool, arguments_digest, approval);
    tokio::runtime::Handle::current().block_on(recorded)?;
    dashboard.catch_up()?;
    Ok(Decided { execution_id, decision: "granted", by })
}

/// Says no to the call that a route names.
pub(crate) fn refuse(
    dashboard: &Dashboard,
    asked: &Asked,
    word: Word,
) -> Result<Decided, HttpProblem> {
    let (receipt, reason, by) = ready(dashboard, asked, word.reason)?;
    let Receipt { session_id, tool, arguments_digest, execution_id, .. } = receipt;
    let guard = dashboard.guard();
    let recorded = guard.decline(&session_id, &tool, arguments_digest, by.clone(), reason);
    tokio::runtime::Handle::current().block_on(recorded)?;
    dashboard.catch_up()?;
    Ok(Decided { execution_id, decision: "refused", by })
}

/// The denied call, the reason, and who speaks.
fn ready(
    dashboard: &Dashboard,
    asked: &Asked,
    reason: Option<String>,
) -> Result<(Receipt, Option<String>, String), HttpProblem> {
    let id = asked.named(0);
    let receipt = dashboard.ledger().receipt(id)?;
    let receipt =
        receipt.ok_or_else(|| HttpProblem::missing(format!("there is no receipt `{id}`")))?;
    dashboard.catch_up()?;
    let waits = dashboard.known().waiting().any(|call| call.execution_id == id);
    if !waits {
        let why = match receipt.waits_for_approval() {
            true => "somebody has decided, or it was made again since",
            false => "what denied it is a rule, or it ran",
        };
        let what = format!("`{id}` does not wait for anybody to agree: {why}");
        return Err(HttpProblem::new(StatusCode::CONFLICT, what));
    }
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
        let what = format!("a reason has at most {LONGEST_REASON} characters");
        return Err(HttpProblem::bad(what));
    }
    let by = format!("{} (dashboard)", asked.visitor.name);
    Ok((receipt, reason, by))
}
