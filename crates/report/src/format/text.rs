use annotate_snippets::renderer::{AnsiColor, DEFAULT_LINE_NUM_STYLE, DecorStyle, Effects, Style};
use annotate_snippets::{AnnotationKind, Group, Level, Padding, Snippet};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use counterfoil_model::{
    ClauseReading, Evidence, EvidenceSource, Finding, Judgement, NamedReading, Severity, Subject,
    Verdict,
};

use crate::checked::{Checked, Unread};
use crate::excerpt::Excerpt;
use crate::fingerprint::Fingerprint;
use crate::record::line_of;
use crate::renderer::{Fragment, Look, Renderer};
use crate::summary::{Summary, counted};
use crate::visible::{shorten, visible};

/// The maximum number of problems shown for one file; the rest are counted.
const PROBLEMS: usize = 10;
/// The maximum number of pieces of evidence shown for a finding.
const EVIDENCE: usize = 4;

/// For people at a terminal: the agent's words, underlined, with the evidence beside them.
pub(crate) struct Text {
    snippets: annotate_snippets::Renderer,
    colour: bool,
    width: usize,
    show_supported: bool,
    why: bool,
    statistics: bool,
    fingerprints: bool,
    quiet: bool,
}

impl Text {
    pub(crate) fn new(look: &Look) -> Self {
        let width = if look.width == 0 { 100 } else { look.width.clamp(60, 160) };
        let snippets = if look.colour {
            annotate_snippets::Renderer::styled()
        } else {
            annotate_snippets::Renderer::plain()
        };
        Self {
            snippets: snippets.decor_style(DecorStyle::Ascii).term_width(width + 20),
            colour: look.colour,
            width,
            show_supported: look.show_supported,
            why: look.why,
            statistics: look.statistics,
            fingerprints: look.fingerprints,
            quiet: look.quiet,
        }
    }

    fn finding(&self, checked: &Checked<'_>, finding: &Finding) -> String {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let message = visible(&finding.message);
        let mut group = Group::with_title(level.primary_title(message).id(finding.code.0));
        let excerpt = self.excerpt(checked, finding);
        let label = match &finding.subject {
            Subject::Claim { .. } => finding.verdict.name(),
            Subject::Call(_) => "",
        };
        if !excerpt.text.is_empty() {
            let last = excerpt.marks.len().saturating_sub(1);
            let marks = excerpt.marks.iter().enumerate().map(|(at, mark)| {
                let label = (at == last && !label.is_empty()).then_some(label);
                AnnotationKind::Primary.span(mark.clone()).label(label)
            });
            let snippet = Snippet::source(excerpt.text.as_str())
                .line_numbering(false)
                .fold(false)
                .annotations(marks);
            group = group.element(snippet);
        }
        let mut notes = self.notes(finding);
        if self.fingerprints {
            let fingerprint = Fingerprint::new(checked.transcript, finding);
            notes.push(("fingerprint", fingerprint.to_string()));
        }
        if !notes.is_empty() && !excerpt.text.is_empty() {
            group = group.element(Padding);
        }
        for (name, text) in notes {
            let level = if name == "help" { Level::HELP } else { Level::NOTE.with_name(name) };
            group = group.element(level.message(text));
        }
        self.placed(&place(checked, finding.turn, finding.line), &group)
    }

    /// Renders a group with its location below the title. The library's own location would add the
    /// line and column of the excerpt, which mean nothing in a log.
    fn placed(&self, place: &str, group: &Group<'_>) -> String {
        let text = self.snippets.render(std::slice::from_ref(group));
        let arrow = self.paint(DEFAULT_LINE_NUM_STYLE, "-->");
        match text.split_once('\n') {
            Some((title, rest)) => format!("{title}\n{arrow} {place}\n{rest}\n"),
            None => format!("{text}\n{arrow} {place}\n"),
        }
    }

    fn excerpt(&self, checked: &Checked<'_>, finding: &Finding) -> Excerpt {
        let Some(message) = checked.transcript.messages.get(finding.turn) else {
            return Excerpt::default();
        };
        let width = self.width.saturating_sub(8);
        match &finding.subject {
            Subject::Claim { span, .. } => Excerpt::around(&message.text, *span, width),
            Subject::Call(call) => message
                .calls
                .iter()
                .find(|made| made.id == call.id && made.tool == call.tool)
                .map(|made| {
                    Excerpt::of_call(&made.tool, made.arguments.as_str(), &call.pointer, width)
                })
                .unwrap_or_default(),
        }
    }

    /// The notes below the excerpt.
    fn notes(&self, finding: &Finding) -> Vec<(&'static str, String)> {
        let mut notes = Vec::new();
        if let Subject::Call(call) = &finding.subject {
            if let Some(expected) = &call.expected {
                notes.push(("expected", self.cut(expected)));
            }
            if let Some(actual) = &call.actual {
                notes.push(("actual", self.cut(actual)));
            }
        }
        for evidence in finding.evidence.iter().take(EVIDENCE) {
            notes.push(("record", self.evidence(evidence)));
        }
        if finding.evidence.is_empty()
            && finding.judge.is_none()
            && finding.verdict == Verdict::Unsupported
        {
            notes.push(("record", "no call or result shows this".to_owned()));
        }
        if finding.evidence.len() > EVIDENCE {
            let more = finding.evidence.len() - EVIDENCE;
            notes.push(("record", format!("and {more} more, see `--format json`")));
        }
        if let Some(judge) = &finding.judge {
            notes.push(("judge", visible(&judge.to_string()).into_owned()));
        }
        if let Some(help) = &finding.help {
            notes.push(("help", visible(help).into_owned()));
        }
        notes
    }

    /// `get_order (call_1), line 14, at /status: "pending"`
    fn evidence(&self, evidence: &Evidence) -> String {
        let mut text = source_of(evidence);
        let room = self.width.saturating_sub(text.chars().count() + 14).max(12);
        let excerpt = evidence.excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        if !excerpt.is_empty() {
            text.push_str(&format!(": {}", shorten(&excerpt, room)));
        }
        visible(&text).into_owned()
    }

    fn cut(&self, text: &str) -> String {
        visible(&shorten(text, self.width * 2)).into_owned()
    }

    /// Renders every claim of the transcript on a line, with its evidence below.
    fn claims(&self, checked: &Checked<'_>) -> String {
        let mut out = format!("{}\n", self.bold(&name_of(checked)));
        if checked.judgements.is_empty() {
            out.push_str("  no claims\n");
        }
        let mut turn = None;
        for judgement in checked.judgements {
            if turn != Some(judgement.claim.turn) {
                turn = Some(judgement.claim.turn);
                out.push_str(&self.turn(checked, judgement.claim.turn));
            }
            out.push_str(&self.claim(judgement, 4));
        }
        out
    }

    /// Renders a claim with its verdict, indented by `margin`.
    fn claim(&self, judgement: &Judgement, margin: usize) -> String {
        let (mark, colour) = match judgement.verdict {
            Verdict::Supported => ("✓", AnsiColor::Green),
            Verdict::Contradicted => ("✗", AnsiColor::BrightRed),
            Verdict::Unsupported => ("!", AnsiColor::Yellow),
            Verdict::NotCheckable => ("?", AnsiColor::BrightBlack),
        };
        let words = self.one_line(&judgement.claim.text);
        let verdict = self.paint(
            Style::new().fg_color(Some(colour.into())),
            &format!("{mark} {:<13}", judgement.verdict.name()),
        );
        let mut out = format!("{:margin$}{verdict} {:<6} {words}\n", "", judgement.rule.0);
        if let Some(reason) = judgement.reason {
            let line = format!("{:1$}because: {reason}", "", margin + 23);
            out.push_str(&self.faint(&line));
            out.push('\n');
        }
        for evidence in judgement.evidence.iter().take(EVIDENCE) {
            let line = format!("{:1$}{2}", "", margin + 23, self.evidence(evidence));
            out.push_str(&self.faint(&line));
            out.push('\n');
        }
        out
    }

    /// Renders the words of a claim on one line.
    fn one_line(&self, words: &str) -> String {
        let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
        visible(&shorten(&line, self.width.saturating_sub(26))).into_owned()
    }

    /// Renders every clause of the agent's text: its verdict, or why it has none.
    fn readings(&self, checked: &Checked<'_>) -> String {
        let mut out = format!("{}\n", self.bold(&name_of(checked)));
        let mut turn = None;
        for (at, reading) in checked.readings.iter().enumerate() {
            if turn != Some(reading.turn) {
                turn = Some(reading.turn);
                out.push_str(&self.turn(checked, reading.turn));
            }
            let before = checked.readings.get(..at).unwrap_or_default();
            let decided: Vec<&Judgement> =
                checked.judgements.iter().filter(|j| is_about(j, reading)).collect();
            let is_repeated =
                |judgement: &Judgement| before.iter().any(|other| is_about(judgement, other));
            out.push_str(&format!("    {}\n", self.one_line(&reading.text)));
            for judgement in &decided {
                match is_repeated(judgement) {
                    true => out.push_str(&self.aside(&format!("{}, see above", judgement.rule.0))),
                    false => out.push_str(&self.claim(judgement, 8)),
                }
            }
            for line in reasons(reading, !decided.is_empty()) {
                out.push_str(&self.aside(&line));
            }
        }
        if checked.readings.is_empty() {
            out.push_str("  the agent said nothing\n");
        }
        out
    }

    fn turn(&self, checked: &Checked<'_>, turn: usize) -> String {
        let line = line_of(checked.transcript, turn);
        let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
        self.faint(&format!("  turn {turn}{line}")) + "\n"
    }

    /// Renders a line below a clause.
    fn aside(&self, text: &str) -> String {
        let room = self.width.saturating_sub(8);
        self.faint(&format!("        {}", visible(&shorten(text, room)))) + "\n"
    }

    /// Renders a table of counts: one row per line, numbers right-aligned.
    fn table(&self, grid: &[Vec<String>]) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(self.width).unwrap_or(100));
        let mut rows = grid.iter();
        let heads = rows.next().map_or(&[][..], Vec::as_slice);
        table.set_header(heads.iter().map(|head| head.to_uppercase()));
        for row in rows {
            table.add_row(row.iter().map(|cell| visible(cell).into_owned()));
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!("{}\n", table.trim_fmt())
    }

    fn bold(&self, text: &str) -> String {
        self.paint(Style::new().effects(Effects::BOLD), text)
    }

    fn faint(&self, text: &str) -> String {
        self.paint(Style::new().effects(Effects::DIMMED), text)
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

impl Renderer for Text {
    fn head(&self) -> String {
        String::new()
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        if self.statistics {
            return Fragment::default();
        }
        let mut parts: Vec<String> =
            checked.findings.iter().map(|f| self.finding(checked, f)).collect();
        if self.show_supported {
            parts.push(self.claims(checked));
        }
        if self.why {
            parts.push(self.readings(checked));
        }
        Fragment::body(parts.join("\n"))
    }

    fn unread(&self, unread: &Unread<'_>) -> Fragment {
        let mut parts: Vec<String> = Vec::new();
        for problem in unread.problems.iter().take(PROBLEMS) {
            let level = if unread.fatal { Level::ERROR } else { Level::WARNING };
            let mut origin = visible(unread.path).into_owned();
            if problem.line > 0 {
                origin.push_str(&format!(":{}", problem.line));
            }
            let mut group = Group::with_title(level.primary_title(visible(&problem.message)));
            if let Some(help) = &problem.help {
                // Help may be a list, so its line breaks are kept.
                let help: Vec<_> = help.lines().map(visible).collect();
                group = group.element(Level::HELP.message(help.join("\n")));
            }
            parts.push(self.placed(&origin, &group));
        }
        if let Some(more) = unread.problems.len().checked_sub(PROBLEMS).filter(|&more| more > 0) {
            let more = counted(more, "more problem");
            parts.push(format!("{more} in {}\n", visible(unread.path)));
        }
        Fragment::body(parts.join("\n"))
    }

    fn separator(&self) -> &'static str {
        "\n"
    }

    fn tail(&self, summary: &Summary, _: &str) -> String {
        if self.quiet {
            return String::new();
        }
        let mut lines = Vec::new();
        if let Some(statistics) = &summary.statistics {
            lines.extend(statistics.grids().iter().map(|grid| self.table(grid)));
        }
        let begun = (summary.shown() > 0 && !self.statistics)
            || summary.problem_count > 0
            || ((self.show_supported || self.why) && summary.transcripts > 0);
        if begun {
            lines.push(String::new());
        }
        if summary.transcripts > 0 {
            lines.push(self.bold(&summary.line()));
        }
        lines.extend(summary.beside().iter().map(|line| self.faint(&visible(line))));
        lines.iter().map(|line| line.clone() + "\n").collect()
    }
}

/// Formats a location as `path:line (turn 4)`, with the transcript's id unless the path already
/// shows it, and with the model if the log names one.
fn place(checked: &Checked<'_>, turn: usize, line: usize) -> String {
    let line = if line > 0 { format!(":{line}") } else { String::new() };
    let (path, id) = (visible(checked.path), visible(&checked.transcript.id));
    let id = if path.contains(id.as_ref()) { String::new() } else { format!("{id}, ") };
    let model = checked.transcript.model_at(turn).map(visible);
    let model = model.map(|model| format!(", {model}")).unwrap_or_default();
    format!("{path}{line} ({id}turn {turn}{model})")
}

fn name_of(checked: &Checked<'_>) -> String {
    let (path, id) = (visible(checked.path), visible(&checked.transcript.id));
    if path.contains(id.as_ref()) { path.into_owned() } else { format!("{path} ({id})") }
}

/// Formats the source of a piece of evidence: `get_order (call_1), line 14, at /status`
fn source_of(evidence: &Evidence) -> String {
    let tool = evidence.tool.as_deref();
    let mut text = match (&evidence.source, tool) {
        (EvidenceSource::Execution { execution_id }, _) => execution_id.clone(),
        (EvidenceSource::Call { call_id }, Some(tool)) if call_id.is_empty() => tool.to_owned(),
        (EvidenceSource::Call { call_id }, Some(tool)) => format!("{tool} ({call_id})"),
        (EvidenceSource::Call { call_id }, None) => format!("call {call_id}"),
        (EvidenceSource::Message { turn }, _) => format!("message {turn}"),
        (EvidenceSource::Fact { fact }, _) => format!("fact {fact}"),
    };
    if evidence.line > 0 {
        text.push_str(&format!(", line {}", evidence.line));
    }
    if !evidence.pointer.is_empty() && !evidence.pointer.starts_with("bytes:") {
        text.push_str(&format!(", at {}", evidence.pointer));
    }
    text
}

/// Whether a judgement is about words of this clause.
fn is_about(judgement: &Judgement, reading: &ClauseReading) -> bool {
    let (own, span) = (judgement.claim.span, reading.span);
    judgement.claim.turn == reading.turn && own.start < span.end && span.start < own.end
}

/// Explains why nothing more was decided about a clause, one reason per line.
fn reasons(reading: &ClauseReading, decided: bool) -> Vec<String> {
    let mut lines = Vec::new();
    match reading.left {
        Some(left) => lines.push(format!("not asserted: {left}")),
        None if !decided => {
            lines.push("not judged: no rule checks this kind of statement".to_owned());
        }
        None => {}
    }
    for act in &reading.acts {
        let of = act.family.map(|family| format!("side effect: {}", family.name()));
        let of =
            of.or(act.left.map(|left| format!("not a side effect: {left}"))).unwrap_or_default();
        lines.push(format!("{}: {of}", act.verb));
    }
    for NamedReading { object, found } in &reading.named {
        let place = found.as_ref().map(|evidence| format!("found in {}", source_of(evidence)));
        let place = place.unwrap_or_else(|| "not found earlier in this exact form".to_owned());
        lines.push(format!("{}: {place}", object.text));
    }
    lines
}
