//! Describes events in words.

use counterfoil_agent::{Due, TurnError, TurnEvent, Turned};
use counterfoil_guard::{Answer, CallEvent, Guard, Question, ToolEvent};
use counterfoil_model::{Finding, Judgement, Severity, Status, ToolCall, Verdict};
use counterfoil_report::{shorten, visible};

use super::row::{Row, Tone};
use crate::exit::Complaint;

/// The maximum number of characters shown of arguments.
const LONGEST: usize = 100;

/// How an event is shown.
pub(crate) enum Seen {
    /// As the current status.
    State(String),
    /// As permanent lines.
    Rows(Vec<Row>),
    Nothing,
}

/// Returns how an event is shown.
pub(crate) fn seen(what: &TurnEvent<'_>) -> Seen {
    let note = |text: String| Seen::Rows(vec![noted(&text)]);
    match what {
        TurnEvent::Requested(_) => Seen::State("thinking".to_owned()),
        TurnEvent::Writing(count) => Seen::State(format!("writing, {count} characters")),
        TurnEvent::Again { after, why } => {
            note(format!("{}; retrying in {after} ms", visible(why)))
        }
        TurnEvent::Calling(call) => {
            let arguments = visible(call.arguments.as_str());
            let line = format!("running {} {arguments}", visible(&call.tool));
            Seen::State(shorten(&line, LONGEST).into_owned())
        }
        TurnEvent::Answered(call, answer) => Seen::Rows(called(call, answer)),
        TurnEvent::HeldBack(findings) => {
            let head =
                Row::new(Tone::Wrong, "checked").and(Tone::Plain, ": an answer was held back");
            Seen::Rows([vec![head], finding_rows(findings)].concat())
        }
        TurnEvent::Unjudged(why) => note(format!("the judge did not read the answer: {why}")),
        TurnEvent::Cut => note("the model's answer was cut off at its length limit".to_owned()),
        TurnEvent::Compressed(strategy) => {
            note(format!("the conversation was summarised ({strategy})"))
        }
        TurnEvent::NotCompressed(why) => note(visible(why).into_owned()),
        _ => Seen::Nothing,
    }
}

/// Describes the event of a running call; `None` if there is nothing to show.
pub(crate) fn under_way(event: &CallEvent) -> Option<String> {
    let text = match &event.what {
        ToolEvent::Output { text, .. } => text.lines().last().unwrap_or_default().to_owned(),
        ToolEvent::Progress { message: Some(message), .. } => message.clone(),
        ToolEvent::Progress { done, total: Some(total), .. } => format!("{done} of {total}"),
        _ => return None,
    };
    let line = format!("running {}: {}", event.call.tool, text.trim());
    Some(shorten(&visible(&line), LONGEST).into_owned())
}

/// Formats a notice.
pub(crate) fn noted(text: &str) -> Row {
    Row::new(Tone::Note, "note").and(Tone::Plain, format!(": {text}"))
}

/// Formats a warning.
pub(crate) fn warned(text: &str) -> Row {
    Row::new(Tone::Note, "warning").and(Tone::Plain, format!(": {text}"))
}

/// Formats an error.
pub(crate) fn wrong(text: &str) -> Row {
    Row::new(Tone::Wrong, "error").and(Tone::Plain, format!(": {text}"))
}

fn called(call: &ToolCall, answer: &Answer) -> Vec<Row> {
    let arguments = visible(call.arguments.as_str());
    let arguments = shorten(&arguments, LONGEST).into_owned();
    let tone = if answer.status == Status::Completed { Tone::Strong } else { Tone::Wrong };
    let codes = match answer.codes.as_slice() {
        [] => String::new(),
        codes => format!(" ({})", codes.join(", ")),
    };
    let ended = Row::plain("  ").and(tone, answer.status.name());
    vec![
        Row::plain(format!("• {} {arguments}", visible(&call.tool))),
        ended.and(Tone::Plain, format!("{codes}, ")).and(Tone::Code, &*answer.execution_id),
    ]
}

/// Formats each finding on one line, without duplicates.
pub(crate) fn finding_rows(findings: &[Finding]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for finding in findings {
        let (tone, word) = match finding.severity {
            Severity::Error => (Tone::Wrong, "error"),
            Severity::Warning => (Tone::Note, "warning"),
            Severity::Note => (Tone::Plain, "note"),
        };
        let message = visible(&finding.message);
        let row = Row::plain("  ").and(tone, word);
        let row = row.and(Tone::Plain, format!("[{}] {message}", finding.code));
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

/// Returns the findings about an answer that is shown.
pub(crate) fn doubts(turned: &Turned) -> Vec<Row> {
    if turned.accepted { finding_rows(&turned.findings) } else { Vec::new() }
}

/// Summarises the receipts, findings and held-back answers of a turn on one line, if there are any.
pub(crate) fn turn_summary(turned: &Turned) -> String {
    let count = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        more => Some(format!("{more} {one}s")),
    };
    let held = usize::try_from(turned.held_back).unwrap_or(usize::MAX);
    let parts = [
        count(turned.executions.len(), "receipt"),
        count(turned.findings.len(), "finding"),
        count(held, "answer").map(|text| format!("{text} held back")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

/// Lists the receipts and the claims of an answer, and its findings.
pub(crate) fn why(guard: &Guard, last: Option<&Turned>) -> anyhow::Result<Vec<Row>> {
    let Some(last) = last else { return Ok(vec![Row::plain("no answer yet")]) };
    let mut rows = vec![Row::new(Tone::Strong, "Receipts")];
    for id in &last.executions {
        let Some(receipt) = guard.ledger().receipt(id)? else { continue };
        let tone = if receipt.status == Status::Completed { Tone::Plain } else { Tone::Wrong };
        let row = Row::plain("  ").and(Tone::Code, &**id);
        let row = row.and(Tone::Plain, format!("  {}  ", visible(&receipt.tool)));
        rows.push(row.and(tone, receipt.status.name()));
    }
    if last.executions.is_empty() {
        rows.push(Row::plain("  no tool was called"));
    }
    rows.push(Row::new(Tone::Strong, "Claims"));
    rows.extend(last.judgements.iter().map(claimed));
    if last.judgements.is_empty() {
        rows.push(Row::plain("  no claims that a rule could check"));
    }
    if !last.findings.is_empty() {
        rows.push(Row::new(Tone::Strong, "Findings"));
        rows.extend(finding_rows(&last.findings));
    }
    rows.push(Row::new(Tone::Strong, "Verdict"));
    rows.push(Row::plain(match (last.accepted, last.findings.is_empty()) {
        (true, true) => "  no contradiction with the record",
        (true, false) => "  shown, with warnings",
        (false, _) => "  the answer was held back",
    }));
    Ok(rows)
}

fn claimed(judgement: &Judgement) -> Row {
    let tone = match judgement.verdict {
        Verdict::Supported => Tone::Strong,
        Verdict::NotCheckable => Tone::Dim,
        Verdict::Contradicted | Verdict::Unsupported => Tone::Wrong,
    };
    let claim = visible(&judgement.claim.text);
    let row = Row::plain("  ").and(tone, judgement.verdict.name());
    row.and(Tone::Plain, format!("  {} ({})", shorten(claim.trim(), LONGEST), judgement.rule))
}

/// Describes the task that begins, and its session.
pub(crate) fn begins(due: &Due) -> Vec<Row> {
    let task = &due.task;
    let (phrase, prompt) = (visible(&task.asked.phrase), visible(&task.asked.prompt));
    let of = format!(" {}: {phrase}, from session {}", task.id, visible(&task.asked.session));
    vec![Row::new(Tone::Strong, "task").and(Tone::Plain, of), Row::plain(format!("  {prompt}"))]
}

/// Explains why the user is asked.
pub(crate) fn question_rows(questions: &[Question], wrong: Option<&str>) -> Vec<Row> {
    let whys = questions.iter().map(|question| {
        let why = format!(" asks: {}", visible(&question.why));
        Row::new(Tone::Note, format!("the `{}` gate", question.gate)).and(Tone::Plain, why)
    });
    let call =
        questions.first().map(|question| Row::plain(format!("  {}", visible(&question.call))));
    let wrong = wrong.map(|wrong| {
        Row::new(Tone::Wrong, "error")
            .and(Tone::Plain, format!(": cannot use these arguments: {}", visible(wrong)))
    });
    whys.chain(call).chain(wrong).collect()
}

/// Explains why there is no answer.
pub(crate) fn complaint(error: &TurnError) -> Complaint {
    let complaint = Complaint::new(error.to_string());
    match error {
        TurnError::Model(error) => complaint.help(error.help()),
        _ => complaint,
    }
}
