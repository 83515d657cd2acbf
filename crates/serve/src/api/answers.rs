use std::collections::BTreeMap;

use counterfoil_guard::{Draft, Event, recorded_transcript_until};
use counterfoil_model::{Evidence, EvidenceSource, Role, Verdict};
use counterfoil_rules::check_from;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cursor::{Page, cursor, written};
use super::receipts::text_of;
use super::sessions::known;
use crate::dashboard::Dashboard;
use crate::dashboard::index::List;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// Maximum size in bytes of an answer's text in a response.
const LONGEST_TEXT: usize = 64 * 1024;

/// Longer sessions are not judged again; only the recorded findings are shown.
const MOST_EVENTS: u64 = 6_000;

/// An agent's answer that was checked against the record.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnswerItem {
    /// The id of the session.
    pub(crate) session: String,
    /// The position of the judging event in the session.
    pub(crate) session_seq: u64,
    /// When it was judged: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// The text of the answer, redacted; absent if retention deleted it.
    pub(crate) text: Option<String>,
    /// Whether the text was truncated.
    pub(crate) text_is_cut: bool,
    /// The recorded findings.
    pub(crate) findings: Vec<FoundItem>,
}

/// A finding about an answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[derive(Default)]
pub(crate) struct FoundItem {
    /// The code of the rule; `counterfoil explain` documents it.
    pub(crate) code: String,
    /// `note`, `warning` or `error`.
    pub(crate) severity: String,
    /// The message, one sentence.
    pub(crate) message: String,
    /// `contradicted`, `unsupported`, …; empty if not recorded.
    pub(crate) verdict: String,
    /// The words of the claim; absent if the finding is about a call, or if they were not recorded.
    pub(crate) claim: Option<String>,
    /// The evidence.
    pub(crate) evidence: Vec<EvidenceItem>,
}

/// A piece of evidence.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EvidenceItem {
    /// The id of the receipt.
    pub(crate) execution_id: Option<String>,
    /// Alternatively, the id of a call in a host's record.
    pub(crate) call_id: Option<String>,
    /// Alternatively, the position of a message in a host's record.
    pub(crate) turn: Option<u64>,
    /// The tool, if this is a call.
    pub(crate) tool: Option<String>,
    /// JSON Pointer into the result.
    pub(crate) pointer: String,
    /// The text found there, shortened.
    pub(crate) excerpt: String,
}

/// An answer with all of its claims.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnswerDetail {
    /// The answer, with the findings of the time.
    #[serde(flatten)]
    pub(crate) answer: AnswerItem,
    /// Its claims in order, checked against the ledger's record again for this response.
    pub(crate) claims: Vec<ClaimItem>,
    /// Why the claims were not checked again, if they were not.
    pub(crate) not_judged_again: Option<String>,
}

/// A claim of an answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ClaimItem {
    /// Start in the text, in bytes.
    pub(crate) start: usize,
    /// End in the text, in bytes.
    pub(crate) end: usize,
    /// The words of the claim.
    pub(crate) text: String,
    /// `supported`, `contradicted`, `unsupported` or `not checkable`.
    pub(crate) verdict: String,
    /// The rule that decided the verdict.
    pub(crate) rule: String,
    /// The evidence for the verdict.
    pub(crate) evidence: Vec<EvidenceItem>,
}

/// Judged answers, newest first.
pub(crate) fn list(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<Page<AnswerItem>, HttpProblem> {
    let (before, limit) = (cursor(request, "answers")?, request.limit()?);
    let session = request.query.some("session")?;
    session.map_or(Ok(()), |id| known(dashboard, id))?;
    let mut places = dashboard.known().places(List::Answers, before, session, limit + 1);
    let more = places.len() > limit;
    places.truncate(limit);
    let next = places.last().filter(|_| more).map(|last| written("answers", *last));
    let mut items = Vec::new();
    for seq in places {
        let Some(event) = dashboard.event_at(seq)? else { continue };
        items.extend(item(dashboard, &event)?);
    }
    Ok(Page { items, next })
}

fn item(dashboard: &Dashboard, event: &Event) -> Result<Option<AnswerItem>, HttpProblem> {
    let Draft::Judged { answer, findings, .. } = &event.draft else { return Ok(None) };
    let text = text_of(dashboard, answer)?;
    let text_is_cut = text.as_ref().is_some_and(|text| text.len() > LONGEST_TEXT);
    let text = text.map(|mut text| {
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        text
    });
    Ok(Some(AnswerItem {
        session: event.session.clone(),
        session_seq: event.session_seq,
        at: event.at,
        text,
        text_is_cut,
        findings: found(findings),
    }))
}

/// Parses recorded findings; a finding in another format is shown as it is.
fn found(findings: &Value) -> Vec<FoundItem> {
    let all = findings.as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |value: &Value| {
        serde_json::from_value(value.clone())
            .unwrap_or_else(|_| FoundItem { message: value.to_string(), ..FoundItem::default() })
    };
    all.iter().map(one).collect()
}

/// The answer named in the route, with all of its claims.
pub(crate) fn one(
    dashboard: &Dashboard,
    request: &VisitorRequest,
) -> Result<AnswerDetail, HttpProblem> {
    let (session, place) = (request.named(0), request.named(1));
    let missing = || HttpProblem::missing(format!("`{session}` has no judged answer at `{place}`"));
    let digits = place.bytes().all(|byte| byte.is_ascii_digit());
    let seq = place.parse::<u64>().ok().filter(|seq| digits && *seq > 0).ok_or_else(missing)?;
    let event = dashboard.ledger().events_of(session, seq - 1, 1)?;
    let event = event.first().filter(|event| event.session_seq == seq).ok_or_else(missing)?;
    let answer = item(dashboard, event)?.ok_or_else(missing)?;
    let (claims, not_judged_again) = match claims(dashboard, event)? {
        Ok(claims) => (claims, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    Ok(AnswerDetail { answer, claims, not_judged_again })
}

/// The claims of an answer, checked against the record before it; or why they cannot be checked.
fn claims(
    dashboard: &Dashboard,
    judged: &Event,
) -> Result<Result<Vec<ClaimItem>, String>, HttpProblem> {
    let (session, seq) = (judged.session.as_str(), judged.session_seq);
    let Draft::Judged { answer, .. } = &judged.draft else { return Ok(Ok(Vec::new())) };
    // The full text; the displayed one may be truncated.
    let Some(text) = text_of(dashboard, answer)? else {
        return Ok(Err("the text of the answer has been deleted by retention".to_owned()));
    };
    if seq > MOST_EVENTS {
        return Ok(Err(format!(
            "more than {MOST_EVENTS} events precede it in its session; \
             `counterfoil check --session {session}` judges all of them"
        )));
    }
    let transcript = recorded_transcript_until(dashboard.ledger(), session, seq)?;
    let Some(transcript) = transcript else {
        return Ok(Err("its session has been deleted by retention".to_owned()));
    };
    let spoken = transcript.messages.iter().rposition(|message| {
        message.role == Role::Assistant && !message.text.is_empty() && message.text == text
    });
    let Some(turn) = spoken else {
        return Ok(Err("the session no longer contains this answer word for word".to_owned()));
    };
    // In a host's record, receipts refer to calls by id.
    let receipts = transcript.receipts.iter().flatten();
    let receipts: BTreeMap<&str, &str> = receipts
        .filter_map(|receipt| Some((receipt.call_id.as_deref()?, receipt.id.as_str())))
        .collect();
    let report = check_from(&transcript, dashboard.guard().rules(), turn);
    let mut claims: Vec<ClaimItem> = report
        .judgements
        .into_iter()
        .filter(|judgement| judgement.claim.turn == turn)
        .map(|judgement| ClaimItem {
            start: judgement.claim.span.start,
            end: judgement.claim.span.end,
            text: judgement.claim.text,
            verdict: Verdict::name(judgement.verdict).to_owned(),
            rule: judgement.rule.0.to_owned(),
            evidence: judgement.evidence.iter().map(|piece| evidence(piece, &receipts)).collect(),
        })
        .collect();
    claims.sort_by_key(|claim| (claim.start, claim.end));
    Ok(Ok(claims))
}

fn evidence(piece: &Evidence, receipts: &BTreeMap<&str, &str>) -> EvidenceItem {
    let mut item = EvidenceItem {
        tool: piece.tool.clone(),
        pointer: piece.pointer.clone(),
        excerpt: piece.excerpt.clone(),
        ..EvidenceItem::default()
    };
    match &piece.source {
        EvidenceSource::Execution { execution_id } => {
            item.execution_id = Some(execution_id.clone());
        }
        EvidenceSource::Call { call_id } => {
            item.execution_id = receipts.get(call_id.as_str()).map(|id| (*id).to_owned());
            item.call_id = Some(call_id.clone());
        }
        EvidenceSource::Message { turn } => item.turn = u64::try_from(*turn).ok(),
        EvidenceSource::Fact { .. } => {}
    }
    item
}
