use counterfoil_model::{Finding, Subject};

use crate::checked::{Checked, Unread};
use crate::fingerprint::Fingerprint;
use crate::renderer::{Fragment, Renderer};
use crate::summary::Summary;
use crate::visible::visible;

const COLUMNS: [&str; 18] = [
    "path",
    "transcript",
    "format",
    "model",
    "line",
    "turn",
    "severity",
    "rule",
    "name",
    "verdict",
    "confidence",
    "message",
    "claim",
    "tool",
    "help",
    "fingerprint",
    "grade",
    "judge",
];

/// One row per finding, for spreadsheets. Each problem with reading has a row with its message.
pub(crate) struct Csv;

impl Renderer for Csv {
    fn head(&self) -> String {
        row(COLUMNS.map(str::to_owned))
    }

    fn transcript(&self, checked: &Checked<'_>) -> Fragment {
        Fragment::body(
            checked.findings.iter().map(|finding| finding_row(checked, finding)).collect(),
        )
    }

    fn unread(&self, unread: &Unread<'_>) -> Fragment {
        let rows = unread.problems.iter().map(|problem| {
            let mut cells: [String; COLUMNS.len()] = Default::default();
            let level = if unread.fatal { "unread" } else { "problem" };
            let filled = [
                (0, unread.path.to_owned()),
                (4, number(problem.line)),
                (6, level.to_owned()),
                (11, problem.message.clone()),
                (14, problem.help.clone().unwrap_or_default()),
            ];
            for (at, text) in filled {
                cells.get_mut(at).into_iter().for_each(|cell| cell.clone_from(&text));
            }
            row(cells)
        });
        Fragment::body(rows.collect())
    }

    fn separator(&self) -> &'static str {
        ""
    }

    fn tail(&self, _: &Summary, _: &str) -> String {
        String::new()
    }
}

fn finding_row(checked: &Checked<'_>, finding: &Finding) -> String {
    let transcript = checked.transcript;
    let (claim, tool) = match &finding.subject {
        Subject::Claim { claim, .. } => (claim.text.as_str(), ""),
        Subject::Call(call) => ("", call.tool.as_str()),
    };
    row([
        checked.path.to_owned(),
        transcript.id.clone(),
        transcript.format.name().to_owned(),
        transcript.model_at(finding.turn).unwrap_or_default().to_owned(),
        number(finding.line),
        finding.turn.to_string(),
        finding.severity.name().to_owned(),
        finding.code.0.to_owned(),
        finding.name.to_owned(),
        finding.verdict.name().to_owned(),
        finding.confidence.name().to_owned(),
        finding.message.clone(),
        claim.to_owned(),
        tool.to_owned(),
        finding.help.as_deref().unwrap_or_default().to_owned(),
        Fingerprint::new(transcript, finding).to_string(),
        finding.grade.name().to_owned(),
        finding.judge.as_ref().map(ToString::to_string).unwrap_or_default(),
    ])
}

/// Formats a source line number; empty if there is none.
fn number(line: usize) -> String {
    if line > 0 { line.to_string() } else { String::new() }
}

/// Formats a row so that a spreadsheet does not interpret any cell as a formula.
fn row(cells: [String; COLUMNS.len()]) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let safe = cells.map(|cell| {
        let cell = visible(&cell).into_owned();
        if cell.starts_with(['=', '+', '-', '@']) { format!("'{cell}") } else { cell }
    });
    // Writing to memory cannot fail, and neither can rows that all have eighteen cells.
    let written = writer.write_record(&safe).is_ok();
    let bytes = writer.into_inner().unwrap_or_default();
    if written { String::from_utf8(bytes).unwrap_or_default() } else { String::new() }
}
