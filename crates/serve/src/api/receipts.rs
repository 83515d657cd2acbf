use counterfoil_guard::{Draft, Receipt};
use counterfoil_model::{Digest, ExactValue, PermitBasis};
use counterfoil_report::shorten;
use hyper::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::cursor::{Page, cursor, written};
use super::sessions::known;
use crate::dashboard::Dashboard;
use crate::dashboard::index::{CallOfPerson, DecisionState, List};
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// Maximum size in bytes of a displayed result; the ledger has it in full.
pub(crate) const LONGEST_RESULT: usize = 64 * 1024;

/// A summary of the events of one call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ReceiptItem {
    /// The id.
    pub(crate) execution_id: String,
    /// The id of the session.
    pub(crate) session: String,
    /// The position in the session of the event that introduced it.
    pub(crate) session_seq: u64,
    /// The tool.
    pub(crate) tool: String,
    /// The arguments, redacted.
    #[schemars(with = "Value")]
    pub(crate) arguments: ExactValue,
    /// `open`, `completed`, `failed`, `denied`, `refused`, `cancelled`, `timeout`, `rolled_back`.
    pub(crate) status: String,
    /// The kind of failure.
    pub(crate) category: Option<String>,
    /// Codes of the issues or reasons for which it was rejected or denied.
    pub(crate) codes: Vec<String>,
    /// The text the model received when it was rejected or denied.
    pub(crate) answer: Option<String>,
    /// The reason contained in that text.
    pub(crate) reason: Option<String>,
    /// What permitted it; absent if nothing did.
    pub(crate) permit: Option<String>,
    /// The model.
    pub(crate) model: Option<String>,
    /// The sub-agent that made the call.
    pub(crate) caller: Option<String>,
    /// Start, in milliseconds since the Unix epoch.
    pub(crate) started_at: i64,
    /// End, in milliseconds since the Unix epoch; absent while it is open.
    pub(crate) ended_at: Option<i64>,
    /// Duration in microseconds.
    pub(crate) duration_us: Option<u64>,
    /// The exit code, where there is one.
    pub(crate) exit_code: Option<i32>,
    /// Whether the tool truncated its output, so that the agent did not receive all of it.
    pub(crate) truncated: bool,
    /// Whether the full result was recorded even though the output was truncated.
    pub(crate) kept_whole: bool,
    /// Digest of the recorded result.
    pub(crate) result: Option<String>,
    /// Digest of the call's last event.
    pub(crate) digest: String,
}

impl From<&Receipt> for ReceiptItem {
    fn from(receipt: &Receipt) -> Self {
        Self {
            execution_id: receipt.execution_id.clone(),
            session: receipt.session_id.clone(),
            session_seq: receipt.seq,
            tool: receipt.tool.clone(),
            arguments: receipt.arguments.clone(),
            status: receipt.status.name().to_owned(),
            category: receipt.category.map(|category| category.name().to_owned()),
            codes: receipt.codes.clone(),
            answer: receipt.answer.as_deref().map(|text| shorten(text, 4_000).into_owned()),
            reason: receipt.reason().map(|text| shorten(text, 1_000).into_owned()),
            permit: receipt.permit.as_ref().map(permitted),
            model: receipt.model.clone(),
            caller: receipt.caller_id.clone(),
            started_at: receipt.started_at,
            ended_at: receipt.ended_at,
            duration_us: receipt.duration_us,
            exit_code: receipt.exit_code,
            truncated: receipt.truncated,
            kept_whole: receipt.kept_whole,
            result: receipt.recorded_digest.map(|digest| digest.to_string()),
            digest: receipt.digest.to_string(),
        }
    }
}

/// A description of what permitted a call.
fn permitted(basis: &PermitBasis) -> String {
    match basis {
        PermitBasis::Policy { rules } if rules.is_empty() => "policy".to_owned(),
        PermitBasis::Policy { rules } => format!("policy: {}", rules.join(", ")),
        PermitBasis::Approval { who, reason: None, .. } => format!("approved by {who}"),
        PermitBasis::Approval { who, reason: Some(why), .. } => format!("approved by {who}: {why}"),
        PermitBasis::Host => "the host, which runs its own tools".to_owned(),
        PermitBasis::Reported => "nothing; a client reported the call".to_owned(),
        PermitBasis::Nothing => "nothing".to_owned(),
    }
}

/// A receipt with its result.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReceiptDetail {
    /// The summary.
    #[serde(flatten)]
    pub(crate) short: ReceiptItem,
    /// The whole receipt, as in the ledger and in exports.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub(crate) receipt: Receipt,
    /// The recorded result as text, at most 64 KiB; absent if there is none or retention deleted
    /// it.
    pub(crate) result_text: Option<String>,
    /// Whether the text was truncated.
    pub(crate) result_is_cut: bool,
    /// The state of a person's decision (`waiting`, `granted once`, `granted for the session`,
    /// `refused`); absent if none is needed.
    pub(crate) decision: Option<&'static str>,
}

/// Receipts of all sessions or of one, newest first.
pub(crate) fn list(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Page<ReceiptItem>, HttpProblem> {
    of_list(dashboard, request, List::Receipts, "receipts")
}

/// Rejected and denied calls, newest first.
pub(crate) fn rejections(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Page<ReceiptItem>, HttpProblem> {
    of_list(dashboard, request, List::Rejections, "rejections")
}

fn of_list(
    dashboard: &Dashboard,
    request: &VisitorRequest,
    list: List,
    name: &str,
) -> Result<Page<ReceiptItem>, HttpProblem> {
    let session = request.query.some("session")?;
    session.map_or(Ok(()), |id| known(dashboard, id))?;
    read_list(dashboard, list, name, (cursor(request, name)?, session), request.limit()?)
}

/// The latest rejected and denied calls.
pub(crate) fn latest_rejections(
    dashboard: &Dashboard,
    limit: usize,
) -> Result<Vec<ReceiptItem>, HttpProblem> {
    Ok(read_list(dashboard, List::Rejections, "rejections", (None, None), limit)?.items)
}

/// Up to `limit` entries of a list from before this event, of all sessions or of one.
fn read_list(
    dashboard: &Dashboard,
    list: List,
    name: &str,
    (before, session): (Option<u64>, Option<&str>),
    limit: usize,
) -> Result<Page<ReceiptItem>, HttpProblem> {
    let mut places = dashboard.known().places(list, before, session, limit + 1);
    let more = places.len() > limit;
    places.truncate(limit);
    let next = places.last().filter(|_| more).map(|last| written(name, *last));
    let mut items = Vec::new();
    for seq in places {
        // Retention may have deleted it in the meantime.
        let Some(event) = dashboard.event_at(seq)? else { continue };
        let id = match &event.draft {
            Draft::Opened(opened) => &opened.execution_id,
            Draft::Rejected(rejected) => &rejected.call.execution_id,
            _ => continue,
        };
        if let Some(receipt) = dashboard.ledger().receipt(id)? {
            items.push(ReceiptItem::from(&receipt));
        }
    }
    Ok(Page { items, next })
}

/// The receipt named in the route.
pub(crate) fn found(dashboard: &Dashboard, id: &str) -> Result<Receipt, HttpProblem> {
    dashboard.ledger().receipt(id)?.ok_or_else(|| no_receipt(id))
}

fn no_receipt(id: &str) -> HttpProblem {
    HttpProblem::missing(format!("there is no receipt `{id}`"))
}

/// One receipt with its result.
pub(crate) fn one(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<ReceiptDetail, HttpProblem> {
    let receipt = found(dashboard, request.named(0))?;
    let text = match &receipt.recorded_digest {
        Some(digest) => text_of(dashboard, digest)?,
        None => None,
    };
    let result_is_cut = text.as_ref().is_some_and(|text| text.len() > LONGEST_RESULT);
    let result_text = text.map(|mut text| {
        text.truncate(text.floor_char_boundary(LONGEST_RESULT));
        text
    });
    let decision = state_of(dashboard, &receipt).map(DecisionState::name);
    let short = ReceiptItem::from(&receipt);
    Ok(ReceiptDetail { short, receipt, result_text, result_is_cut, decision })
}

/// The state of a person's decision on a receipt's call, if the call needs one.
fn state_of(dashboard: &Dashboard, receipt: &Receipt) -> Option<DecisionState> {
    call_of(dashboard, receipt).map(|call| call.state(dashboard.now()))
}

/// A receipt's call, if it needs a person's decision.
pub(super) fn call_of(dashboard: &Dashboard, receipt: &Receipt) -> Option<CallOfPerson> {
    let index = dashboard.known();
    let call = index.call_of_person(&receipt.session_id, receipt.arguments_digest)?;
    (receipt.waits_for_approval() || receipt.was_declined()).then(|| call.clone())
}

/// A stored text; `None` if retention deleted it.
pub(crate) fn text_of(
    dashboard: &Dashboard,
    digest: &Digest,
) -> Result<Option<String>, HttpProblem> {
    let bytes = dashboard.ledger().result(digest)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// A receipt with everything needed to verify it without the ledger.
pub(crate) fn export(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<String, HttpProblem> {
    let id = request.named(0);
    let exported = dashboard.ledger().export(id)?.ok_or_else(|| no_receipt(id))?;
    serde_json::to_string_pretty(&exported).map_err(|error| {
        let what = format!("cannot write the proof: {error}");
        HttpProblem::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    })
}
