use std::collections::BTreeMap;

use counterfoil_model::{
    Evidence, EvidenceSource, Finding, Judgement, Role, Severity, Subject, Verdict,
};

use crate::checked::{Checked, Unread};
use crate::renderer::{Fragment, Look, Renderer};
use crate::statistics::Statistics;
use crate::summary::Summary;
use crate::visible::{shorten, visible};

/// The maximum length of an answer that is shown in full, in characters.
const ANSWER: usize = 3_000;

/// Markdown for a comment: a table of findings, then each answer, with footnotes that link its
/// claims to the record.
pub(crate) struct Markdown {
    show_supported: bool,
    statistics: bool,
}

impl Markdown {
    pub(crate) fn new(look: &Look) -> Self {
        Self { show_supported: look.show_supported, statistics: look.statistics }
    }

    /// Renders the answers with claims worth showing, each with its footnotes.
    fn answers(&self, checked: &Checked<'_>) -> String {
        let mut by_turn: BTreeMap<usize, Vec<&Judgement>> = BTreeMap::new();
        for judgement in checked.judgements {
            by_turn.entry(judgement.claim.turn).or_default().push(judgement);
        }
        let wrong = |turn: &usize| {
            checked
                .findings
                .iter()
                .any(|f| f.turn == *turn && matches!(f.subject, Subject::Claim { .. }))
        };
        by_turn.retain(|turn, _| self.show_supported || wrong(turn));
        let mut out = String::new();
        for (turn, judgements) in by_turn {
            let Some(message) = checked.transcript.messages.get(turn) else { continue };
            if message.role == Role::Assistant {
                out.push_str(&answer(checked, turn, &message.text, judgements));
            }
        }
        out
    }
}

impl Renderer for Markdown {
    fn head(&self) -> String {
        "## Counterfoil: what the agent said compared with what the record shows\n".to_owned()
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        if self.statistics {
            return Fragment::default();
        }
        let answers = self.answers(checked);
        if checked.findings.is_empty() && answers.is_empty() {
            return Fragment::default();
        }
        let mut body = format!("\n### {}\n", inline(&checked.name()));
        if !checked.findings.is_empty() {
            body.push_str("\n| | Rule | Where | What |\n| --- | --- | --- | --- |\n");
        }
        for finding in checked.findings {
            let place = place(finding.turn, finding.line);
            body.push_str(&format!(
                "| {} | {} {} | {place} | {} |\n",
                icon(finding.severity),
                finding.code,
                inline(finding.name),
                inline(&finding.message)
            ));
        }
        body.push_str(&answers);
        Fragment::body(body)
    }

    fn unread(&self, unread: &Unread<'_>) -> Fragment {
        let lines = unread.problems.iter().take(10).map(|problem| {
            let line = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
            format!(
                "\n- could not read {}{line}: {}\n",
                code(unread.path),
                inline(&problem.message)
            )
        });
        Fragment::body(lines.collect())
    }

    fn separator(&self) -> &'static str {
        ""
    }

    fn tail(&self, summary: &Summary, _: &str) -> String {
        let grids = summary.statistics.iter().flat_map(Statistics::grids);
        let mut tail: String = grids.map(|grid| table(&grid)).collect();
        tail.push_str(&format!("\n**{}**\n", inline(&summary.line())));
        for line in &summary.failures {
            tail.push_str(&format!("\n❌ **{}**\n", inline(line)));
        }
        if !summary.beside().is_empty() {
            tail.push('\n');
        }
        for line in summary.beside() {
            tail.push_str(&format!("- {}\n", inline(&line)));
        }
        tail
    }
}

/// Renders a grid of counts as a table, one row per line.
fn table(grid: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| inline(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut rows = grid.iter();
    let heads = rows.next().map_or(&[][..], Vec::as_slice);
    let rule = vec!["---:".to_owned(); heads.len().saturating_sub(1)].join(" | ");
    let rows: String = rows.map(|row| line(row)).collect();
    format!("\n{}| --- | {rule} |\n{rows}", line(heads))
}

fn icon(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "❌",
        Severity::Warning => "⚠️",
        Severity::Note => "ℹ️",
    }
}

fn place(turn: usize, line: usize) -> String {
    if line > 0 { format!("turn {turn}, line {line}") } else { format!("turn {turn}") }
}

/// Renders the text of an answer as a quotation, with a footnote mark after each claim.
fn answer(
    checked: &Checked<'_>,
    turn: usize,
    text: &str,
    mut judgements: Vec<&Judgement>,
) -> String {
    judgements.sort_by_key(|j| (j.claim.span.end, j.claim.span.start));
    let mut quoted = String::new();
    let mut notes = String::new();
    let mut at = 0;
    for (number, judgement) in judgements.iter().enumerate() {
        let end = text.ceil_char_boundary(judgement.claim.span.end.min(text.len()));
        quoted.push_str(&prose(text.get(at..end).unwrap_or_default()));
        at = end.max(at);
        let label = label(checked, turn, number + 1);
        quoted.push_str(&format!("[^{label}]"));
        notes.push_str(&format!("\n[^{label}]: {}\n", note(checked, judgement)));
        if quoted.chars().count() > ANSWER {
            break;
        }
    }
    quoted.push_str(&prose(&shorten(text.get(at..).unwrap_or_default(), 400)));
    let quoted = quoted.trim().replace('\n', "\n> ");
    format!("\nTurn {turn}:\n\n> {quoted}\n{notes}")
}

/// The name of a footnote: unique in the document, because a comment may hold many transcripts.
fn label(checked: &Checked<'_>, turn: usize, number: usize) -> String {
    let id: String =
        checked.transcript.id.chars().filter(char::is_ascii_alphanumeric).take(24).collect();
    format!("{id}-{turn}-{number}")
}

/// Renders a claim's footnote: its verdict, with the icon of its finding, and the evidence.
fn note(checked: &Checked<'_>, judgement: &Judgement) -> String {
    let claim = &judgement.claim;
    let is_this = |finding: &&Finding| {
        finding.code == judgement.rule
            && finding.turn == claim.turn
            && matches!(&finding.subject, Subject::Claim { span, .. } if *span == claim.span)
    };
    let icon = match (checked.findings.iter().find(is_this), judgement.verdict) {
        (Some(finding), _) => icon(finding.severity),
        (None, Verdict::Supported) => "✅",
        (None, Verdict::NotCheckable) => "❔",
        // The finding is accepted, or below the minimum severity.
        (None, Verdict::Contradicted | Verdict::Unsupported) => "ℹ️",
    };
    let evidence: Vec<String> = judgement.evidence.iter().take(3).map(shown).collect();
    let why = match (judgement.reason, judgement.verdict) {
        _ if !evidence.is_empty() => evidence.join("; "),
        (Some(reason), _) => inline(reason),
        (None, Verdict::NotCheckable) => "the record cannot settle it".to_owned(),
        (None, _) => "no call or result shows this".to_owned(),
    };
    format!("{icon} {} ({}): {why}", judgement.verdict.name(), judgement.rule)
}

fn shown(evidence: &Evidence) -> String {
    let source = match &evidence.source {
        EvidenceSource::Execution { execution_id } => code(execution_id),
        EvidenceSource::Call { call_id } => format!("call {}", code(call_id)),
        EvidenceSource::Message { turn } => format!("message {turn}"),
        EvidenceSource::Fact { fact } => format!("fact {fact}"),
    };
    let tool = evidence.tool.as_deref().map(|tool| format!(" {}", code(tool))).unwrap_or_default();
    let line = if evidence.line > 0 { format!(", line {}", evidence.line) } else { String::new() };
    let pointer = if evidence.pointer.is_empty() {
        String::new()
    } else {
        format!(" at {}", code(&evidence.pointer))
    };
    format!("{source}{tool}{line}{pointer}: {}", code(&shorten(&evidence.excerpt, 160)))
}

/// Escapes text so that Markdown acts on nothing in it except line breaks.
fn prose(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// Escapes text for a single line, including a table cell.
fn inline(text: &str) -> String {
    escaped(text)
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '#' | '|' | '!' | '~' | '$' | '+' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Mention and notify no one.
            '@' => out.push_str("@<!-- -->"),
            _ => out.push(c),
        }
    }
    // Renderers turn plain addresses into links; prevent that.
    out.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
}

/// Formats text as code, whatever back-ticks it contains.
fn code(text: &str) -> String {
    let text = visible(text).replace('|', "\u{2758}");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 { format!("{fence} {text} {fence}") } else { format!("{fence}{text}{fence}") }
}
