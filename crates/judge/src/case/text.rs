//! Renders a case as text. The second and later lines of any quoted text are indented: only lines
//! written by this file start in the first column, so nothing in a record or an answer can pass for
//! a line of the case.

use std::fmt::Write as _;

use counterfoil_record::{CallStatus, Facts, LineKind};

use super::{Case, CaseLine};

/// Maximum size of the headings in bytes.
pub(super) const HEADINGS: usize = 400;

pub(super) fn render(case: &Case<'_>) -> String {
    let mut text = String::new();
    line(&mut text, "TOOLS OFFERED", &tools(case.facts));
    record(case, &mut text);
    text.push_str("FACTS (worked out by code from the whole record)\n");
    sheet(case, &mut text, 0);
    text.push_str("ANSWER\n");
    answer(case, &mut text, 0);
    text
}

/// Renders several answers of one session, each at its position in the record; its record is
/// everything above it. Numbering of sentences and facts continues from answer to answer. The
/// record must be complete.
pub(super) fn of_several(cases: &[Case<'_>]) -> String {
    let mut text = String::new();
    let Some(last) = cases.last() else { return text };
    line(&mut text, "TOOLS OFFERED", &tools(last.facts));
    text.push_str("RECORD WITH ANSWERS\n");
    let (mut sentences, mut facts) = (0, 0);
    let mut add = |text: &mut String, case: &Case<'_>| {
        let state =
            if case.facts.is_complete() { "complete" } else { "not complete, see the facts" };
        let _ = writeln!(text, "ANSWER (the record above it is {state}; facts about that first)");
        sheet(case, text, facts);
        answer(case, text, sentences);
        text.push_str("END OF THIS ANSWER\n");
        facts += case.sheet.len();
        sentences += case.sentences.len();
    };
    let mut answers = cases.iter().peekable();
    for (at, shown) in last.lines.iter().enumerate() {
        if let Some(case) = answers.next_if(|case| case.lines.len() == at) {
            add(&mut text, case);
            if shown.line.label.kind == LineKind::Agent {
                continue;
            }
        }
        line(&mut text, &heading(shown), &shown.shown);
    }
    answers.for_each(|case| add(&mut text, case));
    text
}

fn sheet(case: &Case<'_>, text: &mut String, before: usize) {
    for (at, fact) in case.sheet.iter().enumerate() {
        line(text, &format!("F{}", before + at + 1), &fact.text);
    }
    if case.left_out.facts > 0 {
        let _ = writeln!(text, "[…] {} more facts", case.left_out.facts);
    }
}

fn answer(case: &Case<'_>, text: &mut String, before: usize) {
    for sentence in &case.sentences {
        line(text, &format!("S{}", before + sentence.number), case.words(sentence));
    }
    if case.left_out.sentences > 0 {
        let _ = writeln!(text, "[…] {} more sentences, not to be judged", case.left_out.sentences);
    }
}

/// The names of the tools that the agent was offered.
pub(super) fn tools(facts: Facts<'_>) -> String {
    const MOST_BYTES: usize = 2_000;
    let catalog = facts.catalog();
    let mut names = String::new();
    for tool in catalog.iter() {
        if names.len() + tool.name.len() > MOST_BYTES {
            names.push_str(", […]");
            break;
        }
        let _ = write!(names, "{}{}", if names.is_empty() { "" } else { ", " }, tool.name);
    }
    match (catalog.is_known(), names.is_empty()) {
        (false, _) => "not recorded".to_owned(),
        (true, true) => "none".to_owned(),
        (true, false) => names,
    }
}

fn record(case: &Case<'_>, text: &mut String) {
    let state = if case.facts.is_complete() { "complete" } else { "not complete, see the facts" };
    let _ = match case.left_out.lines {
        0 => writeln!(text, "RECORD ({state})"),
        lines => writeln!(
            text,
            "RECORD ({state}; long: {lines} of {} lines are left out or cut, marked […])",
            case.facts.lines().len()
        ),
    };
    let mut groups = case.groups.iter().peekable();
    for (at, shown) in case.lines.iter().enumerate() {
        while let Some((_, group)) = groups.next_if(|(before, _)| *before <= at) {
            line_alone(text, group);
        }
        line(text, &heading(shown), &shown.shown);
    }
    groups.for_each(|(_, group)| line_alone(text, group));
}

/// The heading of a line, such as `R7 (failed)`.
fn heading(shown: &CaseLine<'_>) -> String {
    let label = shown.line.label;
    let status = shown.status.filter(|status| {
        *status != CallStatus::Completed || (label.kind == LineKind::Call && shown.cut)
    });
    match (status, shown.line.note) {
        (None, None) => label.to_string(),
        (Some(status), None) => format!("{label} ({})", status.name()),
        (None, Some(note)) => format!("{label} ({note})"),
        (Some(status), Some(note)) => format!("{label} ({note}, {})", status.name()),
    }
}

fn line(text: &mut String, heading: &str, words: &str) {
    text.push_str(heading);
    text.push_str(": ");
    push_indented(text, words);
    text.push('\n');
}

fn line_alone(text: &mut String, words: &str) {
    push_indented(text, words);
    text.push('\n');
}

/// Appends a text, indenting each new line by two spaces and dropping invisible characters.
fn push_indented(text: &mut String, words: &str) {
    for c in words.trim_end().chars() {
        match c {
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => text.push_str("\n  "),
            '\t' => text.push(' '),
            c if c.is_control() || crate::citation::is_format(c) => {}
            c => text.push(c),
        }
    }
}
