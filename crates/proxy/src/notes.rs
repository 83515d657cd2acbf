//! Texts that are put below an answer, or in its place.

use counterfoil_model::{Evidence, EvidenceSource, Finding, Severity, Subject};
use serde_json::{Value, json};

use crate::calls::RefusedCall;

/// The maximum length of a quoted claim, in characters.
const QUOTED: usize = 120;

/// The text below an answer: each claim, and what the record shows about it.
pub(crate) fn footnotes(findings: &[Finding], refused: &[RefusedCall]) -> String {
    let mut text = "\n\n---\n".to_owned();
    if !findings.is_empty() {
        text.push_str(
            "Counterfoil: the record of this session does not support all of this answer.\n",
        );
    }
    for (at, finding) in findings.iter().enumerate() {
        let seen = evidence(finding).map(|seen| format!("; see {seen}")).unwrap_or_default();
        let number = at + 1;
        let quoted = claim(finding);
        text.push_str(&format!(
            "{number}. “{quoted}”: {} [{}{seen}]\n",
            finding.message, finding.code
        ));
    }
    for RefusedCall { call, why, .. } in refused {
        text.push_str(&format!("Counterfoil: the call to `{}` should not run: {why}\n", call.tool));
    }
    text
}

/// The text in place of words that are not passed on.
pub(crate) fn notice(findings: &[Finding]) -> String {
    let messages = findings.iter().map(|finding| format!("{} ({})", finding.message, finding.code));
    let messages = messages.collect::<Vec<_>>().join("; ");
    format!(
        "[Counterfoil held back the text from here on. According to the record of this session: \
         {messages}]"
    )
}

/// The text in place of calls that are not passed on.
pub(crate) fn no_calls(refused: &[RefusedCall]) -> String {
    let mut text = String::new();
    for RefusedCall { call, why, .. } in refused {
        text.push_str(&format!("[Counterfoil held back a call to `{}`: {why}]", call.tool));
    }
    text
}

/// The text in place of an answer that could not be judged.
pub(crate) fn unjudged(why: &str) -> String {
    format!("[Counterfoil held back this answer, because it could not be judged: {why}]")
}

/// The text below an answer that clients may read differently than it was judged.
pub(crate) fn not_checked(why: &str) -> String {
    format!("\n\n---\nCounterfoil: this answer was not checked: {why}\n")
}

/// A comment for programs in a stream.
pub(crate) fn comment(report: &Value) -> String {
    format!(": counterfoil {}\n\n", one_line(report))
}

/// The findings, for programs.
pub(crate) fn machine(
    findings: &[Finding],
    refused: &[RefusedCall],
    unjudged: Option<&str>,
) -> Value {
    let findings: Vec<Value> = findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Warning)
        .map(|finding| {
            json!({
                "code": finding.code,
                "severity": finding.severity,
                "verdict": finding.verdict,
                "claim": claim(finding),
                "evidence": evidence(finding),
            })
        })
        .collect();
    let calls: Vec<Value> = refused
        .iter()
        .map(|refused| json!({ "id": refused.call.id, "tool": refused.call.tool, "denied": refused.denied }))
        .collect();
    let mut report = json!({ "findings": findings, "refused_calls": calls });
    if let (Some(why), Some(members)) = (unjudged, report.as_object_mut()) {
        members.insert("not_judged".to_owned(), json!(why));
    }
    report
}

/// Removes the claims. If an answer is held back, its words must not reach the client.
pub(crate) fn without_claims(report: &mut Value) {
    let findings = report.get_mut("findings").and_then(Value::as_array_mut);
    for finding in findings.into_iter().flatten().filter_map(Value::as_object_mut) {
        finding.remove("claim");
    }
}

/// Formats a value as one line of ASCII, for a header or a comment.
pub(crate) fn one_line(value: &Value) -> String {
    let mut line = String::new();
    for letter in value.to_string().chars() {
        if letter.is_ascii() {
            line.push(letter);
            continue;
        }
        let mut units = [0; 2];
        for unit in letter.encode_utf16(&mut units) {
            line.push_str(&format!("\\u{unit:04x}"));
        }
    }
    line
}

fn claim(finding: &Finding) -> String {
    let Subject::Claim { claim, .. } = &finding.subject else { return String::new() };
    let line = claim.text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The call in the evidence of a finding, by name and id.
fn evidence(finding: &Finding) -> Option<String> {
    finding.evidence.iter().find_map(|Evidence { source, tool, .. }| {
        let id = match source {
            EvidenceSource::Execution { execution_id } => execution_id,
            EvidenceSource::Call { call_id } => call_id,
            EvidenceSource::Message { .. } | EvidenceSource::Fact { .. } => return None,
        };
        Some(match tool {
            Some(tool) => format!("`{tool}` {id}, as reported by the client"),
            None => id.clone(),
        })
    })
}
