//! Puts gates' verdicts into the words that people and programs see.

use serde_json::{Map, Value, json};

use crate::gate::{GateId, Judged, Verdict, combine};

/// The combined verdict of the gates: `allow`, `ask` or `deny`.
#[must_use]
pub fn verdict_word(verdicts: &[(GateId, Verdict)]) -> &'static str {
    match combine(verdicts.iter().cloned()) {
        Judged::Allowed { .. } => "allow",
        Judged::NeedsApproval(_) => "ask",
        Judged::Denied(_) => "deny",
    }
}

/// The parts of one gate's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerdictParts<'v> {
    /// `allow`, `ask` or `deny`.
    pub word: &'static str,
    /// The reason.
    pub why: Option<&'v str>,
    /// The rule that decided.
    pub rule: Option<&'v str>,
    /// The code of the reason.
    pub code: Option<&'static str>,
    /// What to do.
    pub help: Option<&'v str>,
}

impl<'v> VerdictParts<'v> {
    /// Takes this verdict apart.
    #[must_use]
    pub fn new(verdict: &'v Verdict) -> Self {
        match verdict {
            Verdict::Allow { matched } => {
                Self { word: "allow", why: None, rule: matched.as_deref(), code: None, help: None }
            }
            Verdict::Ask(question) => {
                Self { word: "ask", why: Some(&question.why), rule: None, code: None, help: None }
            }
            Verdict::Deny(reason) => Self {
                word: "deny",
                why: Some(&reason.message),
                rule: reason.matched.as_deref(),
                code: Some(reason.code),
                help: reason.help.as_deref(),
            },
        }
    }
}

/// The verdict of every gate, as JSON.
#[must_use]
pub fn verdicts_json(verdicts: &[(GateId, Verdict)]) -> Value {
    let one = |(gate, verdict): &(GateId, Verdict)| {
        let parts = VerdictParts::new(verdict);
        let mut object = Map::new();
        object.insert("gate".to_owned(), json!(gate.0));
        object.insert("verdict".to_owned(), json!(parts.word));
        let texts = [
            ("code", parts.code),
            ("message", parts.why),
            ("rule", parts.rule),
            ("help", parts.help),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                object.insert(key.to_owned(), json!(text));
            }
        }
        Value::Object(object)
    };
    Value::Array(verdicts.iter().map(one).collect())
}

/// The gates that determined the outcome, each with its reason.
#[must_use]
pub fn deciding_reasons(verdicts: &[(GateId, Verdict)]) -> Vec<String> {
    let word = verdict_word(verdicts);
    verdicts
        .iter()
        .map(|(gate, verdict)| (gate, VerdictParts::new(verdict)))
        .filter(|(_, parts)| parts.word == word)
        .filter_map(|(gate, parts)| match (parts.why, parts.rule) {
            (Some(why), Some(rule)) => Some(format!("{gate}: {why} ({rule})")),
            (Some(why), None) => Some(format!("{gate}: {why}")),
            (None, Some(rule)) => Some(format!("{gate}: {rule}")),
            (None, None) => None,
        })
        .collect()
}
