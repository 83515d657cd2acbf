use counterfoil_report::visible_output;
use maud::{Markup, html};

use super::Dashboard;
use super::page::whole;
use super::pieces::{brief, evidence, part, time, verdict, verdict_kind};
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use crate::api::{self, AnswerDetail, EvidenceItem};
use crate::http::Answer;

/// Maximum bytes of the answer that are shown.
const SHOWN: usize = 20_000;

/// Maximum number of cards, and of pieces of evidence per card.
const CARDS: usize = 60;
const PIECES: usize = 4;

/// A finding or claim about words of the answer.
struct Card<'a> {
    /// The position of the words in the text.
    span: Option<(usize, usize)>,
    words: Option<&'a str>,
    verdict: &'a str,
    rule: &'a str,
    message: Option<&'a str>,
    evidence: &'a [EvidenceItem],
}

/// The page of an answer, with its claims underlined and the evidence next to it.
pub(super) fn page(dashboard: &Dashboard, request: &VisitorRequest) -> Result<Answer, HttpProblem> {
    let detail = api::answer(dashboard, request)?;
    let answer = &detail.answer;
    let cards = cards(&detail);
    let body = html! {
        h1 { "Answer " (answer.session_seq) }
        p .line {
            span { "in " a href={ "/sessions/" (part(&answer.session)) } { (brief(&answer.session, 60)) } }
            span .faint { "judged " (time(answer.at)) }
            a href={ "/answers?session=" (part(&answer.session)) } { "All answers of this session" }
        }
        @if let Some(why) = &detail.not_judged_again {
            p .notice {
                "Shown as recorded; the answer could not be checked again, because " (brief(why, 300)) "."
            }
        }
        div .beside {
            section aria-labelledby="said" {
                h2 #said { "What the agent said" }
                @match &answer.text {
                    None => p .empty { "The text has been deleted by retention." },
                    Some(text) => div .said .large { (underlined(text, &cards)) },
                }
                @if answer.text_is_cut || answer.text.as_ref().is_some_and(|text| text.len() > SHOWN) {
                    p .faint { "Only the beginning is shown." }
                }
            }
            section aria-labelledby="shows" {
                h2 #shows { "What the record shows" }
                @if cards.is_empty() && detail.not_judged_again.is_none() {
                    p .empty { "The answer contains no claim that a rule recognises." }
                }
                @for (at, card) in cards.iter().enumerate().take(CARDS) { (self::card(at, card)) }
                @if cards.len() > CARDS { p .faint { (cards.len() - CARDS) " more" } }
            }
        }
    };
    Ok(whole(dashboard, &request.visitor, "/answers", "Answer", &body))
}

/// The recorded findings and every other claim, by position.
fn cards(detail: &AnswerDetail) -> Vec<Card<'_>> {
    let text = detail.answer.text.as_deref().unwrap_or_default();
    let findings = &detail.answer.findings;
    let mut cards: Vec<Card<'_>> = findings
        .iter()
        .map(|finding| {
            let words = finding.claim.as_deref().filter(|words| !words.is_empty());
            let known = detail
                .claims
                .iter()
                .find(|claim| claim.rule == finding.code && Some(claim.text.as_str()) == words);
            let found = || words.and_then(|words| Some((text.find(words)?, words.len())));
            let span = known
                .map(|claim| (claim.start, claim.end))
                .or_else(|| found().map(|(start, length)| (start, start + length)));
            Card {
                span,
                words,
                verdict: &finding.verdict,
                rule: &finding.code,
                message: Some(&finding.message),
                evidence: known.map_or(&finding.evidence, |claim| &claim.evidence),
            }
        })
        .collect();
    for claim in &detail.claims {
        let is_covered = findings.iter().any(|finding| {
            finding.code == claim.rule && finding.claim.as_deref() == Some(&claim.text)
        });
        if !is_covered {
            cards.push(Card {
                span: Some((claim.start, claim.end)),
                words: Some(&claim.text),
                verdict: &claim.verdict,
                rule: &claim.rule,
                message: None,
                evidence: &claim.evidence,
            });
        }
    }
    cards.sort_by_key(|card| card.span.unwrap_or((usize::MAX, 0)));
    cards
}

/// The text with the claims underlined and linked to their cards. If two overlap, only the first
/// is.
fn underlined(text: &str, cards: &[Card<'_>]) -> Markup {
    let text = text.get(..text.floor_char_boundary(SHOWN)).unwrap_or_default();
    let mut at = 0;
    let mut pieces = Vec::new();
    for (number, card) in cards.iter().enumerate().take(CARDS) {
        let Some((start, end)) = card.span else { continue };
        let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
        if start < at || start >= end {
            continue;
        }
        pieces.push((text.get(at..start).unwrap_or_default(), None));
        let words = text.get(start..end).unwrap_or_default();
        pieces.push((words, Some((number, verdict_kind(card.verdict)))));
        at = end;
    }
    pieces.push((text.get(at..).unwrap_or_default(), None));
    html! {
        @for (words, claim) in pieces {
            @match claim {
                None => (visible_output(words)),
                Some((number, kind)) => {
                    a .claim .(kind) href={ "#claim-" (number + 1) } { (visible_output(words)) }
                    sup { (number + 1) }
                }
            }
        }
    }
}

fn card(at: usize, card: &Card<'_>) -> Markup {
    html! {
        article .card .(verdict_kind(card.verdict)) id={ "claim-" (at + 1) } {
            p .line {
                span .faint { (at + 1) }
                @if !card.verdict.is_empty() { (verdict(card.verdict)) }
                code { (brief(card.rule, 40)) }
            }
            @if let Some(words) = card.words { blockquote { (brief(words, 300)) } }
            @if let Some(message) = card.message { p { (brief(message, 400)) } }
            @for piece in card.evidence.iter().take(PIECES) { (evidence(piece)) }
            @if card.evidence.len() > PIECES {
                p .faint { "and " (card.evidence.len() - PIECES) " more" }
            }
            @if card.evidence.is_empty() && card.verdict == "unsupported" {
                p .faint { "No call or result shows this." }
            }
        }
    }
}
