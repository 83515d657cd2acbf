//! Checks what an agent said before it stops against the record.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use counterfoil_model::{
    Evidence, Finding, Message, MessageKind, Role, Severity, Subject, Transcript, Verdict,
};
use counterfoil_rules::{FEEDBACK_TO_AN_AGENT, Settings, check_from};

/// The maximum length of a quoted claim or excerpt, in characters.
const QUOTED: usize = 300;

/// The findings in what an agent said since it last stopped.
#[derive(Debug, Clone, Default)]
pub struct Review {
    /// The text that was judged last: the final message.
    pub answer: String,
    /// Findings that keep the agent from stopping.
    pub blocking: Vec<Finding>,
    /// Findings that are only mentioned.
    pub warnings: Vec<Finding>,
}

/// Judges what the agent said from message `first` on. Facts come from the whole transcript.
///
/// The final message has to be true. Earlier messages are judged by what is true at the end: a
/// claim that was false then may have become true since, so only a claim that never came true
/// blocks.
#[must_use]
pub fn review(transcript: &Transcript, first: usize, settings: &Settings) -> Review {
    let messages = &transcript.messages;
    let works = |m: &Message| !m.calls.is_empty() || !m.outcomes.is_empty();
    let last = messages.iter().rposition(|m| works(m) && m.agent.is_none());
    let last = last.or_else(|| messages.iter().rposition(works));
    let end = last.map_or(0, |at| at + 1).max(first);
    let (mut blocking, mut doubted, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for finding in findings_from(transcript, first, settings) {
        let stops = finding.severity == Severity::Error;
        let absent = stops && finding.verdict == Verdict::Unsupported;
        if stops && finding.turn >= end {
            blocking.push(finding);
        } else if absent {
            doubted.push(finding);
        } else if finding.severity >= Severity::Warning {
            warnings.push(finding);
        }
    }
    if !doubted.is_empty() {
        let still = repeated_at_the_end(transcript, &doubted, settings);
        for finding in doubted {
            let place =
                if still.contains(&quoted(&finding)) { &mut blocking } else { &mut warnings };
            place.push(finding);
        }
    }
    let answers = messages.iter().skip(first).rev().filter(|m| speaks(m));
    let answer = answers.map(|m| m.text.clone()).next().unwrap_or_default();
    Review { answer, blocking, warnings }
}

/// The doubtful claims of the agent from message `first` on. Messages of sub-agents in the main
/// agent's log are judged when the sub-agent stops.
fn findings_from(
    transcript: &Transcript,
    first: usize,
    settings: &Settings,
) -> impl Iterator<Item = Finding> {
    let messages = &transcript.messages;
    let main = messages.iter().skip(first).any(|m| m.agent.is_none() && speaks(m));
    let findings = check_from(transcript, settings, first).findings.into_iter();
    findings.filter(move |finding| {
        let own = messages.get(finding.turn).is_some_and(|m| m.agent.is_none() || !main);
        finding.turn >= first && own && matches!(finding.subject, Subject::Claim { .. })
    })
}

/// The claims that would still be unsupported if they were repeated now.
fn repeated_at_the_end(
    transcript: &Transcript,
    doubted: &[Finding],
    settings: &Settings,
) -> Vec<String> {
    let mut later = transcript.clone();
    let first = later.messages.len();
    let mut turns: Vec<usize> = doubted.iter().map(|finding| finding.turn).collect();
    turns.dedup();
    let repeated = turns.iter().filter_map(|turn| transcript.messages.get(*turn));
    later.messages.extend(repeated.map(|m| Message { calls: Vec::new(), ..m.clone() }));
    let absent = |f: &Finding| f.severity == Severity::Error && f.verdict == Verdict::Unsupported;
    findings_from(&later, first, settings).filter(absent).map(|finding| quoted(&finding)).collect()
}

fn speaks(message: &Message) -> bool {
    message.role == Role::Assistant
        && message.kind == MessageKind::Ordinary
        && !message.text.trim().is_empty()
}

/// The message for an agent that may not stop: each claim, what the record shows, and how to
/// resolve it.
#[must_use]
pub fn reason(findings: &[Finding], transcript: &Transcript) -> String {
    let mut text = format!("{FEEDBACK_TO_AN_AGENT}\n");
    for finding in findings {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n- You said: \"{}\"\n  The record: {} [{} {}]",
            quoted(finding),
            finding.message,
            finding.code,
            finding.name
        );
        for evidence in finding.evidence.iter().take(2) {
            let _ = write!(text, "\n  Looked at: {}", looked_at(evidence));
        }
        if finding.evidence.is_empty() {
            let _ = write!(text, "\n  Looked at: {}", all_before(transcript, finding.turn));
        }
        if let Some(help) = &finding.help {
            let _ = write!(text, "\n  To resolve this: {help}");
        }
    }
    text.push_str(
        "\n\nDo what is missing, or say in your answer what was actually done and what was not.",
    );
    text
}

/// Describes the calls before a message, for a claim that none of them concerns.
fn all_before(transcript: &Transcript, turn: usize) -> String {
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for call in transcript.messages.iter().take(turn).flat_map(|message| &message.calls) {
        *calls.entry(call.tool.as_str()).or_default() += 1;
    }
    let count: usize = calls.values().sum();
    let each: Vec<String> = calls.iter().map(|(tool, count)| format!("{tool} {count}")).collect();
    match count {
        0 => "no tool calls before this message".to_owned(),
        1 => {
            let tool = calls.keys().next().copied().unwrap_or_default();
            format!("the only tool call before this message (`{tool}`)")
        }
        _ => format!("all {count} tool calls before this message ({})", each.join(", ")),
    }
}

/// A finding on one line.
#[must_use]
pub fn remark(finding: &Finding) -> String {
    let help = finding.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    format!("\"{}\": {} [{}]{help}", quoted(finding), finding.message, finding.code)
}

fn looked_at(evidence: &Evidence) -> String {
    let tool = evidence.tool.as_deref().unwrap_or("a message");
    match short(&evidence.excerpt) {
        excerpt if excerpt.is_empty() => format!("`{tool}`"),
        excerpt => format!("`{tool}`: {excerpt}"),
    }
}

fn quoted(finding: &Finding) -> String {
    match &finding.subject {
        Subject::Claim { claim, .. } => short(&claim.text),
        Subject::Call(call) => call.tool.clone(),
    }
}

/// The text on one line, shortened.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= QUOTED {
        return line;
    }
    line.chars().take(QUOTED).chain(['…']).collect()
}
