//! Compares the tool calls of a session with its receipts.

use std::collections::{BTreeMap, BTreeSet};

use counterfoil_model::{CanonicalForm, Digest, JsonLimits, ToolCall, Transcript, canonical_text};
use serde_json::Value;

/// The part of a receipt that coverage needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipted {
    /// The agent's id of the call; empty if it gave none.
    pub call_id: String,
    /// The digest of `{tool, arguments}`.
    pub arguments: Digest,
}

/// Which calls of a session the hook recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The number of calls in the log.
    pub calls: usize,
    /// Of these, the calls without a receipt from before the hook's first event of the session.
    pub earlier: usize,
    /// Of these, the calls that the agent itself refused before it asked the hook. They did not
    /// run.
    pub refused: usize,
    /// The calls without a receipt that the hook should have recorded, in log order.
    pub uncovered: Vec<Uncovered>,
}

impl Coverage {
    /// The number of calls with a receipt.
    #[must_use]
    pub fn covered(&self) -> usize {
        self.calls.saturating_sub(self.earlier + self.refused + self.uncovered.len())
    }
}

/// A call without a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncovered {
    /// The tool.
    pub tool: String,
    /// The agent's id of the call; empty if it gave none.
    pub call_id: String,
    /// The time, in milliseconds since the Unix epoch, if recorded.
    pub time: Option<i64>,
    /// The 1-based line of the log; 0 if unknown.
    pub line: usize,
    /// The sub-agent that called.
    pub agent: Option<String>,
}

/// Compares the calls of a log with the receipts of its session. A receipt covers the call with its
/// id; one without an id covers one call of the same tool with the same arguments.
///
/// `since` is the time from which the hook should have recorded this session, in milliseconds since
/// the Unix epoch: when it was installed, or its first event. `None` means that there was no event,
/// so every call was earlier.
#[must_use]
pub fn coverage(transcript: &Transcript, receipts: &[Receipted], since: Option<i64>) -> Coverage {
    let ids: BTreeSet<&str> = receipts.iter().map(|receipt| receipt.call_id.as_str()).collect();
    let mut nameless: BTreeMap<Digest, usize> = BTreeMap::new();
    for receipt in receipts.iter().filter(|receipt| receipt.call_id.is_empty()) {
        *nameless.entry(receipt.arguments).or_default() += 1;
    }
    let outcomes = || transcript.messages.iter().flat_map(|message| &message.outcomes);
    let refused: BTreeSet<&str> = outcomes()
        .filter(|outcome| outcome.refused)
        .map(|outcome| outcome.call_id.as_str())
        .collect();
    let mut found = Coverage::default();
    for message in &transcript.messages {
        for call in &message.calls {
            found.calls += 1;
            if !call.id.is_empty() && ids.contains(call.id.as_str()) {
                continue;
            }
            let receipt = digests(call).find(|digest| nameless.get(digest).is_some_and(|n| *n > 0));
            if let Some(left) = receipt.and_then(|digest| nameless.get_mut(&digest)) {
                *left -= 1;
                continue;
            }
            if refused.contains(call.id.as_str()) {
                found.refused += 1;
                continue;
            }
            let seen = since.is_some_and(|since| message.time.is_none_or(|time| time >= since));
            if !seen {
                found.earlier += 1;
                continue;
            }
            found.uncovered.push(Uncovered {
                tool: call.tool.clone(),
                call_id: call.id.clone(),
                time: message.time,
                line: call.line,
                agent: message.agent.clone(),
            });
        }
    }
    found
}

/// The digests that receipts may have for this call: receipts in older ledgers use form 1.
fn digests(call: &ToolCall) -> impl Iterator<Item = Digest> {
    let called = format!(
        "{{\"tool\":{},\"arguments\":{}}}",
        Value::from(call.tool.as_str()),
        call.arguments.as_str()
    );
    let readable = call.arguments.canonical().is_ok();
    [CanonicalForm::Exact, CanonicalForm::Rfc8785].into_iter().filter(move |_| readable).filter_map(
        move |form| {
            let bytes = canonical_text(&called, form, JsonLimits::RECORDED).ok()?;
            Some(Digest::of_bytes(&bytes))
        },
    )
}

#[cfg(test)]
mod tests {
    use counterfoil_model::{Arguments, Format, Message, Role};
    use serde_json::json;

    use super::*;

    fn receipt(call_id: &str, tool: &str, arguments: &Value) -> Receipted {
        let arguments = Digest::of_json(&json!({ "tool": tool, "arguments": arguments }));
        Receipted { call_id: call_id.to_owned(), arguments }
    }

    /// A transcript with these calls: id, tool, arguments, time.
    fn transcript(calls: &[(&str, &str, &str, Option<i64>)]) -> Transcript {
        let mut transcript = Transcript::new("s", Format::ClaudeCode);
        for (line, (id, tool, arguments, time)) in calls.iter().enumerate() {
            let mut message = Message::text(Role::Assistant, "");
            message.time = *time;
            message.calls.push(ToolCall {
                id: (*id).to_owned(),
                tool: (*tool).to_owned(),
                arguments: Arguments::raw(*arguments),
                line: line + 1,
            });
            transcript.messages.push(message);
        }
        transcript
    }

    #[test]
    fn calls_and_receipts() {
        let a = json!({ "a": 1 });
        let by_id = [receipt("1", "Bash", &a)];
        let nameless = [receipt("", "Bash", &a)];
        let one: &[(&str, &str, &str, Option<i64>)] = &[("1", "Bash", "{\"a\":1}", Some(5))];
        let twice = &[one[0], ("2", "Bash", "{ \"a\": 1 }", Some(6))];
        let broken: &[_] = &[("3", "Bash", "{", None)];
        for (calls, receipts, since, (covered, earlier, lines)) in [
            (one, &by_id[..], Some(0), (1, 0, vec![])),
            (one, &by_id[..], Some(9), (1, 0, vec![])),
            (one, &[], Some(0), (0, 0, vec![1])),
            (one, &[], Some(5), (0, 0, vec![1])),
            (one, &[], Some(6), (0, 1, vec![])),
            (one, &[], None, (0, 1, vec![])),
            (twice, &by_id[..], Some(0), (1, 0, vec![2])),
            (twice, &nameless[..], Some(0), (1, 0, vec![2])),
            (broken, &nameless[..], Some(0), (0, 0, vec![1])),
            (broken, &[], None, (0, 1, vec![])),
        ] {
            let found = coverage(&transcript(calls), receipts, since);
            let uncovered: Vec<usize> = found.uncovered.iter().map(|call| call.line).collect();
            assert_eq!((found.covered(), found.earlier, uncovered), (covered, earlier, lines));
        }
    }
}
