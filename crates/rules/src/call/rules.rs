//! The call rules, in one table. Their issues are found once for all calls, in `recorded`; a row
//! has the metadata of a rule, and its code selects the issues.

use counterfoil_admission::{IssueSeverity, code};
use counterfoil_model::{CallRef, Confidence, Mode};

use super::recorded::admissions;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::rule::Rule;

/// All call rules.
pub(crate) static RULES: [Rule; 12] = [
    Rule::new(
        Group::Call,
        code::UNKNOWN_TOOL,
        "unknown-tool",
        Mode::Block,
        "the called tool does not exist or is not available",
        include_str!("../../spec/UNKNOWN_TOOL.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::MISSING_REQUIRED,
        "missing-required",
        Mode::Block,
        "a required parameter is missing",
        include_str!("../../spec/MISSING_REQUIRED.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::WRONG_TYPE,
        "wrong-type",
        Mode::Block,
        "an argument does not have the JSON type that its schema requires",
        include_str!("../../spec/WRONG_TYPE.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::INVALID_VALUE,
        "invalid-value",
        Mode::Block,
        "an argument has a value that its schema does not allow",
        include_str!("../../spec/INVALID_VALUE.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::INVALID_FORMAT,
        "invalid-format",
        Mode::Warn,
        "a string does not have the format that its schema requires",
        include_str!("../../spec/INVALID_FORMAT.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::UNKNOWN_PARAM,
        "unknown-param",
        Mode::Block,
        "the call has an argument that the tool does not declare",
        include_str!("../../spec/UNKNOWN_PARAM.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::MALFORMED_ARGUMENTS,
        "malformed-arguments",
        Mode::Block,
        "the arguments are not a single JSON object",
        include_str!("../../spec/MALFORMED_ARGUMENTS.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::PLACEHOLDER_VALUE,
        "placeholder-value",
        Mode::Warn,
        "an argument value is an unfilled template placeholder",
        include_str!("../../spec/PLACEHOLDER_VALUE.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::SUSPICIOUS_LENGTH,
        "suspicious-length",
        Mode::Warn,
        "a text argument is unusually long",
        include_str!("../../spec/SUSPICIOUS_LENGTH.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::UNGROUNDED_PATH,
        "ungrounded-path",
        Mode::Warn,
        "the agent read a path that was never mentioned and does not exist",
        include_str!("../../spec/UNGROUNDED_PATH.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::UNGROUNDED_VALUE,
        "ungrounded-value",
        Mode::Warn,
        "a call uses an id, e-mail address or URL that appears nowhere before it",
        include_str!("../../spec/UNGROUNDED_VALUE.md"),
        check,
    ),
    Rule::new(
        Group::Call,
        code::REPEATED_CALL,
        "repeated-call",
        Mode::Block,
        "the agent repeats the same call or cycle of calls without progress",
        include_str!("../../spec/REPEATED_CALL.md"),
        check,
    ),
];

/// Adds every issue with the rule's code to the findings.
fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    let code = findings.code();
    for (at, issue) in admissions(facts).issues.iter().filter(|(_, issue)| issue.code == code) {
        let Some(execution) = facts.record().executions().get(*at) else { continue };
        let Some(call) = execution.call else { continue };
        let line = match call.line {
            0 => facts.transcript().messages.get(execution.called_at).map_or(0, |m| m.line),
            line => line,
        };
        let subject = CallRef {
            id: call.id.clone(),
            tool: call.tool.clone(),
            pointer: issue.parameter.clone(),
            expected: issue.expected.clone(),
            actual: issue.actual.clone(),
        };
        let blocks = issue.severity == IssueSeverity::Block;
        let mut note = Note::proven(issue.message.clone()).provable_if(blocks);
        if !blocks {
            note.confidence = Confidence::Likely;
        }
        findings.call(execution.called_at, line, subject, note);
    }
}
