//! A self-contained page for a browser: sessions, each answer with its claims underlined and the
//! evidence beside them, and filters.

use std::collections::BTreeMap;

use counterfoil_model::{Finding, Grade, Judgement, Severity, Subject, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::checked::{Checked, Unread};
use crate::excerpt::Excerpt;
use crate::fingerprint::Fingerprint;
use crate::record::line_of;
use crate::renderer::{Fragment, Look, Renderer};
use crate::statistics::Statistics;
use crate::summary::{Summary, counted};
use crate::visible::{shorten, visible, visible_output};

mod around;
mod card;

use self::around::before;
use self::card::card_of;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
/// Prevents the page from loading anything, whatever a log contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      base-uri 'none'; form-action 'none'";

/// The maximum length of a message that is shown in full, in characters.
const MESSAGE: usize = 20_000;

pub(crate) struct Html {
    version: &'static str,
}

impl Html {
    pub(crate) fn new(look: &Look) -> Self {
        Self { version: look.version }
    }
}

impl Renderer for Html {
    fn head(&self) -> String {
        let kinds = [
            ("contradicted", "contradicted"),
            ("unsupported", "unsupported"),
            ("call", "wrong calls"),
            ("not_checkable", "not checkable"),
            ("supported", "supported"),
        ];
        let head = html! {
            (DOCTYPE)
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content=(format!("counterfoil {}", self.version));
                title { "Counterfoil report" }
                style { (PreEscaped(STYLE)) }
            }
            header {
                h1 { "Counterfoil report" }
                p { "What the agent said beside what the record shows. Made by counterfoil " (self.version) "." }
            }
            div .filters {
                @for (kind, shown) in kinds {
                    label { input type="checkbox" value=(kind) checked; " " (shown) }
                }
                select #rule aria-label="rule" { option value="" { "every rule" } }
                input #search type="search" placeholder="search in messages" aria-label="search";
            }
        };
        format!("{}\n", head.into_string())
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        let turns = turns(checked);
        let count = |severity| checked.findings.iter().filter(|f| f.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let open = errors + warnings > 0;
        let body = html! {
            details .session open[open] data-errors=(errors) data-warnings=(warnings) {
                summary { (headline(checked)) }
                @for (turn, cards) in &turns { (turn_of(checked, *turn, cards)) }
            }
        };
        Fragment::body(body.into_string() + "\n")
    }

    fn unread(&self, unread: &Unread<'_>) -> Fragment {
        let body = html! {
            @for problem in unread.problems.iter().take(10) {
                div .unread {
                    "could not read " code { (visible(unread.path)) }
                    @if problem.line > 0 { ", line " (problem.line) }
                    ": " (visible(&problem.message))
                }
            }
            @if unread.problems.len() > 10 {
                div .unread { (counted(unread.problems.len() - 10, "more problem")) " in "
                    code { (visible(unread.path)) } }
            }
        };
        Fragment::body(body.into_string() + "\n")
    }

    fn separator(&self) -> &'static str {
        ""
    }

    fn tail(&self, summary: &Summary, _: &str) -> String {
        let tail = html! {
            div .totals {
                p .line { (visible(&summary.line())) }
                @for line in summary.beside() { p { (visible(&line)) } }
                @if let Some(statistics) = &summary.statistics { (tables(statistics)) }
            }
            script { (PreEscaped(SCRIPT)) }
        };
        tail.into_string() + "\n"
    }
}

/// A finding or judgement about one claim or call.
enum Card<'a> {
    Finding(&'a Finding),
    Judgement(&'a Judgement),
}

impl Card<'_> {
    /// The CSS class for the underline, in the card's colour.
    fn weight(&self) -> &'static str {
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
    fn is_wrong(&self) -> bool {
        matches!(self, Self::Finding(finding) if finding.severity > Severity::Note)
    }

    /// The card's kind, as the filters name it.
    fn kind(&self) -> &'static str {
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

/// Returns the cards of each message that has any. A claim with a finding appears only as the
/// finding.
fn turns<'a>(checked: &Checked<'a>) -> BTreeMap<usize, Vec<Card<'a>>> {
    let mut turns: BTreeMap<usize, Vec<Card<'a>>> = BTreeMap::new();
    for finding in checked.findings {
        turns.entry(finding.turn).or_default().push(Card::Finding(finding));
    }
    for judgement in checked.judgements {
        let claim = &judgement.claim;
        let told = checked.findings.iter().any(|finding| {
            finding.code == judgement.rule
                && finding.turn == claim.turn
                && matches!(finding.subject, Subject::Claim { span, .. } if span == claim.span)
        });
        if !told {
            turns.entry(claim.turn).or_default().push(Card::Judgement(judgement));
        }
    }
    turns
}

fn headline(checked: &Checked<'_>) -> Markup {
    let transcript = checked.transcript;
    let models: Vec<&str> = transcript.models.iter().map(|(_, name)| name.as_str()).collect();
    let count = |severity: Severity| {
        checked.findings.iter().filter(|finding| finding.severity == severity).count()
    };
    let of = |severity, noun| Some(counted(count(severity), noun)).filter(|_| count(severity) > 0);
    html! {
        span .name { (visible(checked.path)) }
        @if !checked.path.contains(&transcript.id) { " (" (visible(&transcript.id)) ")" }
        @if let Some(errors) = of(Severity::Error, "error") {
            span .error { span .verdict .count { (errors) } }
        }
        @if let Some(warnings) = of(Severity::Warning, "warning") {
            span .warning { span .verdict .count { (warnings) } }
        }
        @if let Some(notes) = of(Severity::Note, "note") { span .count { (notes) } }
        div .about {
            (transcript.format.name())
            @if let Some(model) = models.first() { ", " (visible(model)) }
            ", " (counted(transcript.messages.len(), "message"))
            ", " (counted(checked.claims.total(), "claim"))
            @if !transcript.completeness.gaps().is_empty() { ", the record is incomplete" }
        }
    }
}

fn turn_of(checked: &Checked<'_>, turn: usize, cards: &[Card<'_>]) -> Markup {
    let line = line_of(checked.transcript, turn);
    html! {
        div .turn {
            div .where {
                "turn " (turn)
                @if let Some(line) = line { ", line " (line) }
                @if let Some(model) = checked.transcript.model_at(turn) { ", " (visible(model)) }
            }
            div {
                @if cards.iter().any(Card::is_wrong) { (before(checked.transcript, turn)) }
                div .said {
                    (said(checked, turn, cards))
                    @for card in cards { (called(checked, card)) }
                }
            }
            div { @for card in cards { (card_of(checked, card)) } }
        }
    }
}

/// Renders the text of a message with its claims underlined. Of two overlapping claims, the first
/// is underlined.
fn said(checked: &Checked<'_>, turn: usize, cards: &[Card<'_>]) -> Markup {
    let text = checked.transcript.messages.get(turn).map_or("", |message| message.text.as_str());
    let mut spans: Vec<(usize, usize, &Card<'_>)> = cards
        .iter()
        .filter_map(|card| match card {
            Card::Finding(Finding { subject: Subject::Claim { span, .. }, .. }) => {
                Some((span.start, span.end, card))
            }
            Card::Finding(_) => None,
            Card::Judgement(judgement) => {
                Some((judgement.claim.span.start, judgement.claim.span.end, card))
            }
        })
        .collect();
    spans.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
    let mut at = 0;
    html! {
        @for (start, end, card) in spans {
            @let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
            @if start >= at && start < MESSAGE {
                (plain(text.get(at..start).unwrap_or_default()))
                mark .(card.weight()) data-claim=(key(checked, card)) {
                    (plain(text.get(start..end).unwrap_or_default()))
                }
                ({ at = end; "" })
            }
        }
        (plain(&shorten(text.get(at..).unwrap_or_default(), MESSAGE)))
    }
}

/// The call that a finding is about.
fn called(checked: &Checked<'_>, card: &Card<'_>) -> Markup {
    let Card::Finding(Finding { subject: Subject::Call(call), turn, .. }) = card else {
        return html! {};
    };
    let message = checked.transcript.messages.get(*turn);
    let made =
        message.and_then(|m| m.calls.iter().find(|c| c.id == call.id && c.tool == call.tool));
    let Some(made) = made else { return html! {} };
    let excerpt = Excerpt::of_call(&made.tool, made.arguments.as_str(), &call.pointer, 2_000);
    let mark = excerpt.marks.first().cloned().unwrap_or_default();
    html! {
        pre {
            (excerpt.text.get(..mark.start).unwrap_or_default())
            mark .(card.weight()) data-claim=(key(checked, card)) {
                (excerpt.text.get(mark.clone()).unwrap_or_default())
            }
            (excerpt.text.get(mark.end..).unwrap_or_default())
        }
    }
}

fn plain(text: &str) -> String {
    visible_output(text).into_owned()
}

/// The key that connects a card with its underlined words.
fn key(checked: &Checked<'_>, card: &Card<'_>) -> String {
    match card {
        Card::Finding(finding) => Fingerprint::of(&checked.transcript.id, finding).to_string(),
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

fn tables(statistics: &Statistics) -> Markup {
    html! {
        details {
            summary { "Counts by rule, model, tool and form" }
            div .tables {
                @for grid in statistics.grids() {
                    table {
                        @for (at, row) in grid.iter().enumerate() {
                            tr {
                                @for cell in row {
                                    @if at == 0 { th { (cell) } } @else { td { (visible(cell)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
