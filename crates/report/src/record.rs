use std::collections::BTreeMap;

use counterfoil_model::{
    CallRef, Claim, ClauseReading, Confidence, Evidence, Finding, Gap, Grade, JudgeNote, Judgement,
    Mode, Severity, Span, Subject, Transcript, Verdict,
};
use serde::Serialize;

use crate::checked::{Checked, Claims};
use crate::fingerprint::Fingerprint;
use crate::severities::Severities;
use crate::summary::{Summary, is_zero, kinds_of_gaps};

/// The version of the JSON written here; `schemas/check-output.schema.json` describes it.
pub const SCHEMA_VERSION: u32 = 1;

/// A finding as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct FindingRecord<'a> {
    r#type: &'static str,
    schema_version: u32,
    transcript: TranscriptRef<'a>,
    rule: RuleRef,
    severity: Severity,
    grade: Grade,
    mode: Mode,
    verdict: Verdict,
    confidence: Confidence,
    message: &'a str,
    turn: usize,
    /// 1-based; absent when the source has no lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'a Claim>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a CallRef>,
    evidence: &'a [Evidence],
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<&'a JudgeNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    fingerprint: String,
}

/// A claim with its verdict as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct ClaimRecord<'a> {
    r#type: &'static str,
    schema_version: u32,
    transcript: TranscriptRef<'a>,
    rule: &'static str,
    verdict: Verdict,
    turn: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    span: Span,
    claim: &'a Claim,
    /// Why the claim is not checkable.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    evidence: &'a [Evidence],
}

/// A clause of the agent's text as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct ClauseRecord<'a> {
    r#type: &'static str,
    schema_version: u32,
    transcript: TranscriptRef<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(flatten)]
    reading: &'a ClauseReading,
}

/// A whole transcript as JSON, whether or not anything was found in it.
#[derive(Debug, Serialize)]
pub(crate) struct TranscriptRecord<'a> {
    r#type: &'static str,
    schema_version: u32,
    path: &'a str,
    id: &'a str,
    format: &'static str,
    models: Vec<&'a str>,
    messages: usize,
    calls: usize,
    claims: Claims,
    coverage: Option<f64>,
    severities: Severities,
    /// Findings that are not shown because they are known.
    #[serde(skip_serializing_if = "is_zero")]
    known: usize,
    gaps: Vec<Gap>,
    skipped: &'a BTreeMap<String, u64>,
}

impl<'a> TranscriptRecord<'a> {
    pub(crate) fn new(checked: &Checked<'a>) -> Self {
        let transcript = checked.transcript;
        let mut severities = Severities::default();
        checked.findings.iter().for_each(|finding| severities.add(finding.severity));
        let mut models: Vec<&str> = Vec::new();
        for (_, model) in &transcript.models {
            if !models.contains(&model.as_str()) {
                models.push(model);
            }
        }
        Self {
            r#type: "transcript",
            schema_version: SCHEMA_VERSION,
            path: checked.path,
            id: &transcript.id,
            format: transcript.format.name(),
            models,
            messages: transcript.messages.len(),
            calls: transcript.messages.iter().map(|message| message.calls.len()).sum(),
            claims: checked.claims,
            coverage: checked.claims.coverage(),
            severities,
            known: checked.known,
            gaps: kinds_of_gaps(transcript),
            skipped: &transcript.skipped,
        }
    }
}

/// The summary as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct SummaryRecord<'a> {
    r#type: &'static str,
    schema_version: u32,
    #[serde(flatten)]
    summary: &'a Summary,
}

#[derive(Debug, Serialize)]
struct TranscriptRef<'a> {
    path: &'a str,
    id: &'a str,
    format: &'static str,
    /// Returns the model that wrote the message, if the log names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct RuleRef {
    code: &'static str,
    name: &'static str,
}

impl<'a> FindingRecord<'a> {
    pub(crate) fn new(checked: &Checked<'a>, finding: &'a Finding) -> Self {
        let (span, claim, call) = match &finding.subject {
            Subject::Claim { span, claim } => (Some(*span), Some(claim), None),
            Subject::Call(call) => (None, None, Some(call)),
        };
        Self {
            r#type: "finding",
            schema_version: SCHEMA_VERSION,
            transcript: TranscriptRef::new(checked, finding.turn),
            rule: RuleRef { code: finding.code.0, name: finding.name },
            severity: finding.severity,
            grade: finding.grade,
            mode: finding.mode,
            verdict: finding.verdict,
            confidence: finding.confidence,
            message: &finding.message,
            turn: finding.turn,
            line: (finding.line > 0).then_some(finding.line),
            span,
            claim,
            call,
            evidence: &finding.evidence,
            judge: finding.judge.as_ref(),
            help: finding.help.as_deref(),
            fingerprint: Fingerprint::new(checked.transcript, finding).to_string(),
        }
    }
}

impl<'a> ClaimRecord<'a> {
    pub(crate) fn new(checked: &Checked<'a>, judgement: &'a Judgement) -> Self {
        Self {
            r#type: "claim",
            schema_version: SCHEMA_VERSION,
            transcript: TranscriptRef::new(checked, judgement.claim.turn),
            rule: judgement.rule.0,
            verdict: judgement.verdict,
            turn: judgement.claim.turn,
            line: line_of(checked.transcript, judgement.claim.turn),
            span: judgement.claim.span,
            claim: &judgement.claim,
            reason: judgement.reason,
            evidence: &judgement.evidence,
        }
    }
}

impl<'a> ClauseRecord<'a> {
    pub(crate) fn new(checked: &Checked<'a>, reading: &'a ClauseReading) -> Self {
        Self {
            r#type: "clause",
            schema_version: SCHEMA_VERSION,
            transcript: TranscriptRef::new(checked, reading.turn),
            line: line_of(checked.transcript, reading.turn),
            reading,
        }
    }
}

impl<'a> SummaryRecord<'a> {
    pub(crate) fn new(summary: &'a Summary) -> Self {
        Self { r#type: "summary", schema_version: SCHEMA_VERSION, summary }
    }
}

impl<'a> TranscriptRef<'a> {
    fn new(checked: &Checked<'a>, turn: usize) -> Self {
        let transcript = checked.transcript;
        let format = transcript.format.name();
        Self { path: checked.path, id: &transcript.id, format, model: transcript.model_at(turn) }
    }
}

/// Returns the source line of a message, if it has one.
pub(crate) fn line_of(transcript: &Transcript, turn: usize) -> Option<usize> {
    transcript.messages.get(turn).map(|message| message.line).filter(|&line| line > 0)
}
