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
use crate::dashboard::request::Asked;

/// The longest text of an answer that is given, in bytes.
const LONGEST_TEXT: usize = 64 * 1024;

/// Sessions of more events are not judged anew: what was recorded about them is shown.
const MOST_EVENTS: u64 = 6_000;

/// An answer of an agent that was held against the record.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnswerItem {
    /// The session.
    pub(crate) session: String,
    /// The place in the session of the event that judges it.
    pub(crate) session_seq: u64,
    /// When it was judged: milliseconds since the Unix epoch.
    pub(crate) at: i64,
    /// What the agent said, redacted; absent where retention dropped it.
    pub(crate) text: Option<String>,
    /// Whether it is longer.
    pub(crate) text_is_cut: bool,
    /// What was found in it, as it was recorded.
    pub(crate) findings: Vec<FoundItem>,
}

/// Something that was found in an answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[derive(Default)]
pub(crate) struct FoundItem {
    /// The code of the rule: `counterfoil explain` has its page.
    pub(crate) code: String,
    /// `note`, `warning` or `error`.
    pub(crate) severity: String,
    /// One sentence.
    pub(crate) message: String,
    /// `contradicted`, `unsupported`, …; empty where it was not recorded.
    pub(crate) verdict: String,
    /// The words of the claim; absent where it is about a call, or was not recorded.
    pub(crate) claim: Option<String>,
    /// What was looked at.
    pub(crate) evidence: Vec<EvidenceItem>,
}

/// Something that was looked at.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EvidenceItem {
    /// The receipt.
    pub(crate) execution_id: Option<String>,
    /// Or the call of a host's record.
    pub(crate) call_id: Option<String>,
    /// Or the message of a host's record.
    pub(crate) turn: Option<u64>,
    /// The tool, where it is a call.
    pub(crate) tool: Option<String>,
    /// Where in the result.
    pub(crate) pointer: String,
    /// What stands there, shortened.
    pub(crate) excerpt: String,
}

/// An answer with every claim of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnswerDetail {
    /// The answer, with what was found when it was judged.
    #[serde(flatten)]
    pub(crate) answer: AnswerItem,
    /// Its claims by place, held against the ledger's record again, now.
    pub(crate) claims: Vec<ClaimItem>,
    /// Why that was not done.
    pub(crate) not_judged_again: Option<String>,
}

/// A claim of an answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ClaimItem {
    /// Where it begins in the text, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// Its words.
    pub(crate) text: String,
    /// `supported`, `contradicted`, `unsupported` or `not checkable`.
    pub(crate) verdict: String,
    /// The rule that decided.
    pub(crate) rule: String,
    /// What the decision rests on.
    pub(crate) evidence: Vec<EvidenceItem>,
}

/// Answers that were judged, the newest first.
pub(crate) fn list(dashboard: &Dashboard, asked: &Asked) -> Result<Page<AnswerItem>, HttpProblem> {
    let (before, limit) = (cursor(asked, "answers")?, asked.limit()?);
    let session = asked.query.some("session")?;
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

/// What was recorded as found; what has another form is shown as it is.
fn found(findings: &Value) -> Vec<FoundItem> {
    let all = findings.as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |value: &Value| {
        serde_json::from_value(value.clone())
            .unwrap_or_else(|_| FoundItem { message: value.to_string(), ..FoundItem::default() })
    };
    all.iter().map(one).collect()
}

/// The answer that a route names, with every claim of it.
pub(crate) fn one(dashboard: &Dashboard, asked: &Asked) -> Result<AnswerDetail, HttpProblem> {
    let (session, place) = (asked.named(0), asked.named(1));
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

/// The claims of an answer, by the record up to it; or why they cannot be told.
fn claims(
    dashboard: &Dashboard,
    judged: &Event,
) -> Result<Result<Vec<ClaimItem>, String>, HttpProblem> {
    let (session, seq) = (judged.session.as_str(), judged.session_seq);
    let Draft::Judged { answer, .. } = &judged.draft else { return Ok(Ok(Vec::new())) };
    // All of it: what is shown may be cut.
    let Some(text) = text_of(dashboard, answer)? else {
        return Ok(Err("the text of the answer has been deleted by retention".to_owned()));
    };
    if seq > MOST_EVENTS {
        return Ok(Err(format!(
            "more than {MOST_EVENTS} events stand before it in its session; \
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
    // In the record of a host the receipt stands beside the id of its call.
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
