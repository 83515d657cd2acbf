use counterfoil_guard::{GateId, Judged, Verdict, combine};
use serde_json::{Map, Value, json};

/// What gates say together: `allow`, `ask` or `deny`.
pub(super) fn outcome(verdicts: &[(GateId, Verdict)]) -> &'static str {
    match combine(verdicts.iter().cloned()) {
        Judged::Allowed { .. } => "allow",
        Judged::Asked(_) => "ask",
        Judged::Denied(_) => "deny",
    }
}

/// One gate's verdict in parts: the word, why, the rule, and advice.
pub(super) struct Said<'v> {
    pub(super) word: &'static str,
    pub(super) why: Option<&'v str>,
    pub(super) rule: Option<&'v str>,
    pub(super) code: Option<&'static str>,
    pub(super) help: Option<&'v str>,
}

pub(super) fn said(verdict: &Verdict) -> Said<'_> {
    match verdict {
        Verdict::Allow { matched } => {
            Said { word: "allow", why: None, rule: matched.as_deref(), code: None, help: None }
        }
        Verdict::Ask(question) => {
            Said { word: "ask", why: Some(&question.why), rule: None, code: None, help: None }
        }
        Verdict::Deny(reason) => Said {
            word: "deny",
            why: Some(&reason.message),
            rule: reason.matched.as_deref(),
            code: Some(reason.code),
            help: reason.help.as_deref(),
        },
    }
}

pub(super) fn as_json(verdicts: &[(GateId, Verdict)]) -> Value {
    let one = |(gate, verdict): &(GateId, Verdict)| {
        let said = said(verdict);
        let mut object = Map::new();
        object.insert("gate".to_owned(), json!(gate.0));
        object.insert("verdict".to_owned(), json!(said.word));
        let parts =
            [("code", said.code), ("message", said.why), ("rule", said.rule), ("help", said.help)];
        for (key, text) in parts {
            if let Some(text) = text {
                object.insert(key.to_owned(), json!(text));
            }
        }
        Value::Object(object)
    };
    Value::Array(verdicts.iter().map(one).collect())
}

/// The gates behind an outcome, each with its reason.
pub(super) fn reasons(verdicts: &[(GateId, Verdict)]) -> Vec<String> {
    let outcome = outcome(verdicts);
    verdicts
        .iter()
        .map(|(gate, verdict)| (gate, said(verdict)))
        .filter(|(_, said)| said.word == outcome)
        .filter_map(|(gate, said)| match (said.why, said.rule) {
            (Some(why), Some(rule)) => Some(format!("{gate}: {why} ({rule})")),
            (Some(why), None) => Some(format!("{gate}: {why}")),
            (None, Some(rule)) => Some(format!("{gate}: {rule}")),
            (None, None) => None,
        })
        .collect()
}

/// A call in one line, cut to what fits.
pub(super) fn call_line(tool: &str, arguments: &str) -> String {
    const LONGEST: usize = 100;
    let line = format!("{tool} {}", arguments.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
