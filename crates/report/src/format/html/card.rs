//! The details of one claim or call: the agent's words beside the record.

use counterfoil_model::{
    Evidence, EvidenceSource, Finding, Grade, Judgement, Severity, Subject, Verdict,
};
use maud::{Markup, html};

use crate::checked::Checked;
use crate::fingerprint::Fingerprint;
use crate::renderer::RuleCard;
use crate::visible::{shorten, visible, visible_output};

/// The maximum number of pieces of evidence shown for a claim.
const EVIDENCE: usize = 6;
/// The maximum length of an excerpt, in characters.
const EXCERPT: usize = 4_000;

/// A finding or judgement about one claim or call.
pub(super) enum Card<'a> {
    Finding(&'a Finding),
    Judgement(&'a Judgement),
}

impl Card<'_> {
    /// The CSS class for the underline, in the card's colour.
    pub(super) fn weight(&self) -> &'static str {
        match self {
            Self::Finding(finding) => match finding.severity {
                Severity::Error => "weight-error",
                Severity::Warning => "weight-warning",
                Severity::Note => "weight-note",
            },
            Self::Judgement(judgement) => word(judgement.verdict),
        }
    }

    /// Whether the card is an error or a warning.
    pub(super) fn is_wrong(&self) -> bool {
        matches!(self, Self::Finding(finding) if finding.severity > Severity::Note)
    }

    /// The card's kind, as the filters name it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Finding(finding) if matches!(finding.subject, Subject::Call(_)) => "call",
            Self::Finding(finding) => word(finding.verdict),
            Self::Judgement(judgement) => word(judgement.verdict),
        }
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "supported",
        Verdict::Contradicted => "contradicted",
        Verdict::Unsupported => "unsupported",
        Verdict::NotCheckable => "not_checkable",
    }
}

pub(super) fn card_of(checked: &Checked<'_>, card: &Card<'_>, rules: &[RuleCard]) -> Markup {
    let (level, verdict, code, name) = match card {
        Card::Finding(finding) => {
            (finding.severity.name(), finding.verdict, finding.code.0, finding.name)
        }
        Card::Judgement(judgement) => {
            let rule = rules.iter().find(|rule| rule.code == judgement.rule.0);
            let name = rule.map_or("", |rule| rule.name);
            (word(judgement.verdict), judgement.verdict, judgement.rule.0, name)
        }
    };
    let (claim, evidence) = match card {
        Card::Finding(finding) => match &finding.subject {
            Subject::Claim { claim, .. } => (Some(claim), finding.evidence.as_slice()),
            Subject::Call(_) => (None, finding.evidence.as_slice()),
        },
        Card::Judgement(judgement) => (Some(&judgement.claim), judgement.evidence.as_slice()),
    };
    let key = key(checked, card);
    html! {
        div .card .(level) id=[matches!(card, Card::Finding(_)).then_some(&key)] data-kind=(card.kind()) data-rule=(code) data-claim=(key) {
            p .head {
                @if matches!(card, Card::Finding(_)) { a href=(format!("#{key}")) { (code) } }
                @else { strong { (code) } }
                @if !name.is_empty() { " " (name) }
                " · "
                span .verdict {
                    @if card.kind() == "call" { (level) } @else { (verdict.name()) }
                }
                @if let Card::Finding(finding) = card { (grade(finding)) }
            }
            // A judge's finding shows the two quotations it compared below instead.
            @if let Card::Finding(finding) = card && (finding.judge.is_none() || evidence.is_empty()) {
                p { (visible(&finding.message)) }
            }
            @if let Some(claim) = claim {
                div .sides {
                    div { h4 { "The agent said" } blockquote { (visible(&shorten(&claim.text, EXCERPT))) } }
                    @if !evidence.is_empty() || verdict == Verdict::Unsupported {
                        div { h4 { "The record shows" } (pieces(evidence)) @if evidence.is_empty() { (nothing(card)) } }
                    }
                }
            } @else { (pieces(evidence)) }
            @if let Card::Judgement(Judgement { reason: Some(reason), .. }) = card {
                p .record { "because: " (visible(reason)) }
            }
            @if let Card::Finding(finding) = card {
                (beside(finding))
                p .head {
                    "explained by " code { "counterfoil explain " (code) }
                    ", fingerprint " code { (key) }
                }
            }
        }
    }
}

/// The key that connects a card with its underlined words.
pub(super) fn key(checked: &Checked<'_>, card: &Card<'_>) -> String {
    match card {
        Card::Finding(finding) => Fingerprint::new(checked.transcript, finding).to_string(),
        Card::Judgement(judgement) => {
            let claim = &judgement.claim;
            let id = visible(&checked.transcript.id);
            format!(
                "{id} {} {}-{} {}",
                claim.turn, claim.span.start, claim.span.end, judgement.rule
            )
        }
    }
}

fn grade(finding: &Finding) -> &'static str {
    match finding.grade {
        Grade::Proven => ", proven from the record",
        Grade::Read => ", read by a judge",
        Grade::Suspected => ", not proven",
    }
}

fn pieces(evidence: &[Evidence]) -> Markup {
    html! {
        @for piece in evidence.iter().take(EVIDENCE) { (record(piece)) }
        @if evidence.len() > EVIDENCE { p .record { "and " (evidence.len() - EVIDENCE) " more" } }
    }
}

fn nothing(card: &Card<'_>) -> Markup {
    let judge = match card {
        Card::Finding(finding) => finding.judge.as_ref(),
        Card::Judgement(_) => None,
    };
    let searched = judge.and_then(|judge| judge.searched.as_deref());
    html! { p .record { (visible(searched.unwrap_or("no recorded call or result is about this"))) } }
}

fn beside(finding: &Finding) -> Markup {
    let call = match &finding.subject {
        Subject::Call(call) => Some(call),
        Subject::Claim { .. } => None,
    };
    html! {
        @if let Some(expected) = call.and_then(|call| call.expected.as_deref()) {
            p .record { "expected: " code { (visible(&shorten(expected, 300))) } }
        }
        @if let Some(actual) = call.and_then(|call| call.actual.as_deref()) {
            p .record { "actual: " code { (visible(&shorten(actual, 300))) } }
        }
        @if let Some(judge) = &finding.judge {
            p .record { "judge: " (visible(&judge.to_string())) }
        }
        @if let Some(help) = &finding.help { p .help { (visible(help)) } }
    }
}

fn record(evidence: &Evidence) -> Markup {
    let source = match &evidence.source {
        EvidenceSource::Execution { execution_id } => execution_id.clone(),
        EvidenceSource::Call { call_id } => call_id.clone(),
        EvidenceSource::Message { turn } => format!("message {turn}"),
        EvidenceSource::Fact { fact } => format!("fact {fact}"),
    };
    html! {
        p .record {
            @if let Some(tool) = &evidence.tool { strong { (visible(tool)) } " " }
            (visible(&source))
            @if evidence.line > 0 { ", line " (evidence.line) }
            @if !evidence.pointer.is_empty() && !evidence.pointer.starts_with("bytes:") {
                ", at " (visible(&evidence.pointer))
            }
        }
        @if !evidence.excerpt.is_empty() {
            blockquote .output { (visible_output(&shorten(&evidence.excerpt, EXCERPT))) }
        }
    }
}
