use std::collections::HashMap;

use counterfoil_model::{
    CallRef, Code, Evidence, EvidenceSource, Mode, Outcome, RecordedReceipt, Status,
};
use counterfoil_record::failure_in;
use serde_json::{Map, Value};

use crate::facts::{Execution, Facts};
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::rule::Rule;
use crate::tool_use::same;

/// FK040: receipts contradict themselves, each other, or the calls they belong to.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("FK040"),
    "receipt-tampering",
    Mode::Block,
    "the record's receipts contradict themselves, each other or their calls",
    include_str!("../../spec/FK040.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    let mut seen: HashMap<&str, &RecordedReceipt> = HashMap::new();
    let calls = Calls::new(facts);
    for receipt in facts.transcript().receipts.iter().flatten() {
        let execution = calls.of_receipt(receipt);
        let earlier = seen.insert(receipt.id.as_str(), receipt);
        if turn(execution) < facts.first() {
            continue;
        }
        let faults = [
            earlier.and_then(|earlier| repeated(receipt, earlier)),
            backwards(receipt),
            execution.and_then(|execution| of_other_tool(receipt, execution)),
            execution.and_then(|execution| other_end(receipt, execution)),
            execution.and_then(|execution| other_result(receipt, execution)),
        ];
        for fault in faults.into_iter().flatten() {
            report(findings, receipt, execution, fault);
        }
    }
}

/// A fault of a receipt.
struct Fault {
    message: String,
    expected: String,
    actual: String,
}

impl Fault {
    fn new(
        message: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        Self { message: message.into(), expected: short(expected), actual: short(actual) }
    }
}

/// The executions by the ids of their calls. An id that a log repeats maps to none, because it is
/// ambiguous.
struct Calls<'f, 't>(HashMap<&'t str, Option<&'f Execution<'t>>>);

impl<'f, 't> Calls<'f, 't> {
    fn new(facts: &'f Facts<'t>) -> Self {
        let mut calls = HashMap::new();
        if facts.transcript().receipts.is_some() {
            for execution in facts.record().executions() {
                let Some(call) = execution.call else { continue };
                let one = calls.entry(call.id.as_str()).or_insert(Some(execution));
                *one = one.filter(|known| std::ptr::eq(*known, execution));
            }
        }
        Self(calls)
    }

    /// The call that a receipt names.
    fn of_receipt(&self, receipt: &RecordedReceipt) -> Option<&'f Execution<'t>> {
        let id = receipt.call_id.as_deref().filter(|id| !id.is_empty())?;
        self.0.get(id).copied().flatten()
    }
}

/// The message in which an execution ended; the first message for a receipt without an execution.
fn turn(execution: Option<&Execution<'_>>) -> usize {
    execution.map_or(0, |e| e.answered_at.unwrap_or(e.called_at))
}

fn repeated(receipt: &RecordedReceipt, earlier: &RecordedReceipt) -> Option<Fault> {
    (receipt != earlier).then(|| {
        Fault::new(
            format!("two different receipts have the id `{}`", receipt.id),
            format!("{} {:?}", earlier.tool, earlier.status),
            format!("{} {:?}", receipt.tool, receipt.status),
        )
    })
}

fn backwards(receipt: &RecordedReceipt) -> Option<Fault> {
    let (started, ended) = (receipt.started?, receipt.ended?);
    (ended < started).then(|| {
        let message = format!("receipt `{}` ends before it starts", receipt.id);
        Fault::new(message, format!("after {started}"), ended.to_string())
    })
}

fn of_other_tool(receipt: &RecordedReceipt, execution: &Execution<'_>) -> Option<Fault> {
    let called = execution.tool();
    let one = same(called, &receipt.tool) || same(&receipt.tool, called);
    (!called.is_empty() && !one).then(|| {
        let message = format!("receipt `{}` names a different tool than its call", receipt.id);
        Fault::new(message, called, receipt.tool.as_str())
    })
}

/// A receipt that states success where the result shows a failure.
fn other_end(receipt: &RecordedReceipt, execution: &Execution<'_>) -> Option<Fault> {
    let outcome = execution.outcome.filter(|outcome| !outcome.running && !outcome.unread)?;
    let ended = execution.status();
    let failed = !ended.succeeded() || failure_in(&outcome.text).is_some();
    let marked = outcome.is_error == Some(false) || outcome.exit_code == Some(0);
    let message = match (receipt.status, failed) {
        (Status::Completed, true) => {
            format!("receipt `{}` says that the call succeeded, but it failed", receipt.id)
        }
        (Status::Failed | Status::Denied | Status::Refused, false) if marked => {
            format!("receipt `{}` says that the call failed, but it succeeded", receipt.id)
        }
        _ => return None,
    };
    let recorded = if failed { "failed" } else { "completed" };
    Some(Fault::new(message, recorded, format!("{:?}", receipt.status).to_lowercase()))
}

/// Whether two forms of a result contradict each other. One may have members that the other lacks:
/// the execution id is added for the agent, and some members are removed.
fn contradict(stated: &Value, given: &Value) -> bool {
    match (stated, given) {
        (Value::Object(stated), Value::Object(given)) => {
            // A result that itself has a member `result` is not a wrapper.
            let wrapped = |one: &Map<String, Value>, other: &Map<String, Value>| {
                let wraps = one.contains_key("execution_id") && !other.contains_key("result");
                one.get("result").filter(|_| wraps).cloned()
            };
            match (wrapped(stated, given), wrapped(given, stated)) {
                (_, Some(inner)) => contradict(&Value::Object(stated.clone()), &inner),
                (Some(inner), None) => contradict(&inner, &Value::Object(given.clone())),
                (None, None) => stated.iter().any(|(name, value)| {
                    given.get(name).is_some_and(|other| contradict(value, other))
                }),
            }
        }
        // A list may be shortened for the agent, but not changed.
        (Value::Array(stated), Value::Array(given)) => {
            stated.iter().zip(given).any(|(a, b)| contradict(a, b))
        }
        (Value::Number(a), Value::Number(b)) => a.as_f64() != b.as_f64(),
        (Value::Object(wrapper), other) | (other, Value::Object(wrapper)) => {
            !wrapper.contains_key("execution_id")
                || wrapper.get("result").is_some_and(|inner| contradict(inner, other))
        }
        (stated, given) => stated != given,
    }
}

/// Whether neither text contains the other. One may be shortened, or have a line added.
fn texts_differ(stated: &str, given: &str) -> bool {
    let (stated, given) = (stated.trim(), given.trim());
    !given.contains(stated) && !stated.contains(given)
}

/// Whether a recorded value contradicts the text of a result.
fn values_differ(stated: &Value, given: &str) -> bool {
    match (stated, serde_json::from_str::<Value>(given)) {
        (Value::String(text), Ok(read)) => match serde_json::from_str::<Value>(text) {
            Ok(stated) => contradict(&stated, &read),
            Err(_) => read.as_str() != Some(text) && texts_differ(text, given),
        },
        (Value::String(text), Err(_)) => texts_differ(text, given),
        (stated, Ok(read)) => contradict(stated, &read),
        // A result that was recorded in another format cannot be compared.
        (_, Err(_)) => false,
    }
}

/// A receipt with a different result than the agent got.
fn other_result(receipt: &RecordedReceipt, execution: &Execution<'_>) -> Option<Fault> {
    let stated = receipt.result.as_ref().filter(|value| !value.is_null())?;
    let outcome = execution.outcome.filter(|o| !o.truncated && !o.running && !o.unread)?;
    let printed = printed_by_command(stated);
    let differs = match &printed {
        Some(printed) => texts_differ(printed, &outcome.text),
        None => values_differ(stated, &outcome.text),
    };
    differs.then(|| {
        let message = format!("receipt `{}` holds a different result than its call", receipt.id);
        let stated = || stated.as_str().map_or_else(|| stated.to_string(), str::to_owned);
        Fault::new(message, outcome.text.as_str(), printed.unwrap_or_else(stated))
    })
}

/// The output of a command, if the receipt holds the object in which its result was wrapped.
fn printed_by_command(stated: &Value) -> Option<String> {
    let text = stated.as_str().map_or_else(|| stated.to_string(), str::to_owned);
    let mut outcome = Outcome { text, ..Outcome::default() };
    outcome.unwrap_command();
    outcome.exit_code.map(|_| outcome.text)
}

fn report(
    findings: &mut Findings<'_>,
    receipt: &RecordedReceipt,
    execution: Option<&Execution<'_>>,
    fault: Fault,
) {
    let outcome = execution.and_then(|e| e.outcome);
    let turn = turn(execution);
    let line = outcome.map_or(0, |outcome| outcome.line);
    let call = CallRef {
        id: receipt.call_id.clone().unwrap_or_else(|| receipt.id.clone()),
        tool: receipt.tool.clone(),
        pointer: String::new(),
        expected: Some(fault.expected),
        actual: Some(fault.actual.clone()),
    };
    let evidence = Evidence {
        source: EvidenceSource::Execution { execution_id: receipt.id.clone() },
        tool: Some(receipt.tool.clone()),
        pointer: String::new(),
        excerpt: fault.actual,
        line,
    };
    let note = Note::proven(fault.message)
        .help("do not rely on this record; find out who had write access to it")
        .evidence([evidence]);
    findings.call(turn, line, call, note);
}

fn short(text: impl Into<String>) -> String {
    let mut text = text.into();
    text.truncate(text.floor_char_boundary(160));
    text
}
