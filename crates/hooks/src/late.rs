//! What the transcript's file lacks still when an agent stops: its last message, which the event
//! has, and the end of its latest calls, which the ledger has.

use std::collections::{BTreeMap, BTreeSet};

use countersign_guard::{Closed, Draft, Ledger, Opened};
use countersign_model::{
    Arguments, Gap, Message, MessageKind, Outcome, Role, Status, ToolCall, Transcript,
};
use countersign_shell::{ActivityKind, OutputVerdict, summary};
use serde_json::Value;

use crate::agent::Agent;
use crate::toolbox::tool;

/// How many of the latest events are looked at.
const EVENTS: u64 = 200;

/// How many of the turn's calls there are, and how many of them have no receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    pub(crate) calls: usize,
    pub(crate) without: usize,
    /// Tools with a receipt for a call that the agent's own log does not have, which therefore
    /// supports nothing.
    pub(crate) unheard: Vec<String>,
    /// Whether the log lacks any call that has a receipt: it may be written late.
    pub(crate) late: bool,
    /// Tools whose receipt tells another end than the agent's own log.
    pub(crate) differing: Vec<String>,
    /// Whether the ledger has any recent call of this agent: then its tools tell the hook.
    pub(crate) recorded: bool,
}

/// Adds the last message where it is missing. Says whether it was.
pub(crate) fn add_last(
    transcript: &mut Transcript,
    first: usize,
    last: Option<&str>,
    agent: Option<&str>,
) -> bool {
    let Some(last) = last.map(str::trim).filter(|last| !last.is_empty()) else { return false };
    let spoken = |m: &&Message| m.role == Role::Assistant && m.kind == MessageKind::Ordinary;
    let said = transcript.messages.iter().skip(first).filter(spoken);
    // One message may stand in several lines, or be only the end of one.
    let mut whole = String::new();
    for message in said {
        let text = message.text.trim();
        if text.contains(last) {
            return false;
        }
        whole.push_str(text);
        whole.push('\n');
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if squeezed(&whole).contains(&squeezed(last)) {
        return false;
    }
    transcript
        .messages
        .push(Message { agent: agent.map(str::to_owned), ..Message::text(Role::Assistant, last) });
    true
}

/// Adds what the ledger knows of the turn's calls and the file does not.
pub(crate) fn add_receipts(
    transcript: &mut Transcript,
    first: usize,
    ledger: &Ledger,
    session: &str,
    whose: Agent,
    agent: Option<&str>,
) -> Coverage {
    let events = ledger.last_events(session, EVENTS).unwrap_or_default();
    let turn = transcript.messages.get(first..).unwrap_or_default();
    let time = |message: &Message| message.time;
    let since = turn.iter().find_map(time);
    let since = since.or_else(|| transcript.messages.iter().rev().find_map(time));
    let since = since.unwrap_or(i64::MAX);
    let ids = |message: &Message| -> Vec<String> {
        message.calls.iter().map(|call| call.id.clone()).collect()
    };
    let (mut opened, mut ended): (Vec<Opened>, Vec<Closed>) = (Vec::new(), Vec::new());
    let mut recorded = BTreeSet::new();
    for event in events {
        match event.draft {
            Draft::Opened(open) if open.caller_id.as_deref() == agent => opened.push(open),
            Draft::Closed(closed) => ended.push(closed),
            Draft::Rejected(rejected) => {
                recorded.insert(rejected.call.call_id);
            }
            _ => {}
        }
    }
    recorded.extend(opened.iter().map(|open| open.call_id.clone()));
    let stands = standing(transcript, &opened);
    let calls: Vec<String> =
        turn.iter().filter(|m| m.agent.as_deref() == agent).flat_map(ids).collect();
    let without = calls.iter().filter(|id| !recorded.contains(*id)).count();
    let mut coverage = Coverage {
        calls: calls.len(),
        without,
        recorded: !opened.is_empty(),
        ..Coverage::default()
    };
    // The file is written in order: what it lacks comes behind what it has, before the answer.
    let works = |m: &Message| !m.calls.is_empty() || !m.outcomes.is_empty() || m.role == Role::User;
    let mut place = transcript.messages.iter().rposition(works).map_or(0, |at| at + 1);
    place = place.max(first);
    for open in opened.into_iter().filter(|open| open.started_at >= since) {
        let Some(closed) = ended.iter().find(|end| end.execution_id == open.execution_id) else {
            continue;
        };
        let stands = stands.get(&open.call_id).copied().unwrap_or_default();
        if open.call_id.is_empty() {
            continue;
        }
        let bytes = ledger.result(&closed.recorded_digest).ok().flatten();
        let ended = Outcome {
            call_id: open.call_id.clone(),
            text: bytes.as_deref().map(shown).unwrap_or_default(),
            is_error: Some(closed.status != Status::Completed),
            exit_code: closed.exit_code,
            truncated: closed.truncated || bytes.is_none(),
            ..Outcome::default()
        };
        if stands.answered {
            if correct(transcript, &ended) {
                coverage.differing.push(open.tool);
            }
            continue;
        }
        let message = |role| Message {
            agent: agent.map(str::to_owned),
            time: Some(open.started_at),
            ..Message::text(role, "")
        };
        if !stands.called {
            coverage.late = true;
            // Whoever may run commands may feed the hook with events. What speaks against the agent
            // is taken at its word, and so is that it looked at something; what else would speak
            // for it is not, and may be only late.
            let looked = tool(whose, &open.tool).effects.writes == Some(false);
            if !looked {
                coverage.unheard.push(open.tool.clone());
            }
            if !looked && !tells_failure(&ended) {
                transcript.completeness.add(Gap::MissingResults, place);
                continue;
            }
            let call = ToolCall {
                id: open.call_id.clone(),
                tool: open.tool.clone(),
                arguments: Arguments::from(&open.arguments),
                line: 0,
            };
            let call = Message { calls: vec![call], ..message(Role::Assistant) };
            transcript.messages.insert(place, call);
            place += 1;
        }
        let outcome = Message { outcomes: vec![ended], ..message(Role::Tool) };
        transcript.messages.insert(place, outcome);
        place += 1;
    }
    if coverage.unheard.is_empty() && every_call_ended(transcript) {
        transcript.completeness.mend(Gap::MissingResults);
    }
    coverage
}

fn every_call_ended(transcript: &Transcript) -> bool {
    let messages = || transcript.messages.iter();
    let ended: BTreeSet<&str> =
        messages().flat_map(|m| &m.outcomes).map(|outcome| outcome.call_id.as_str()).collect();
    messages().flat_map(|m| &m.calls).all(|call| ended.contains(call.id.as_str()))
}

/// Whether the result says that something went wrong.
fn tells_failure(outcome: &Outcome) -> bool {
    let said = summary(&outcome.text, ActivityKind::Test);
    outcome.is_error == Some(true)
        || outcome.exit_code.is_some_and(|code| code != 0)
        || said.verdict == Some(OutputVerdict::Failed)
}

/// Puts the recorded end of a run in the place of another one that the agent's own log tells: the
/// receipt was made when the tool ended, and the log can be written to. Only reports of runs are
/// compared, which both have in the same words.
fn correct(transcript: &mut Transcript, recorded: &Outcome) -> bool {
    let outcomes = transcript.messages.iter_mut().flat_map(|message| &mut message.outcomes);
    let mut corrected = false;
    for told in outcomes.filter(|told| told.call_id == recorded.call_id) {
        let report = |text: &str| {
            let said = summary(text, ActivityKind::Test);
            said.verdict.map(|verdict| (verdict, said.passed, said.failed))
        };
        let (Some(recorded_end), Some(told_end)) = (report(&recorded.text), report(&told.text))
        else {
            continue;
        };
        if recorded_end != told_end && !told.truncated && !recorded.truncated {
            *told = recorded.clone();
            corrected = true;
        }
    }
    corrected
}

/// What the transcript has of a call.
#[derive(Debug, Clone, Copy, Default)]
struct Stands {
    called: bool,
    answered: bool,
}

/// What the transcript, which may be long, has of these few calls.
fn standing(transcript: &Transcript, opened: &[Opened]) -> BTreeMap<String, Stands> {
    let mut stands: BTreeMap<String, Stands> =
        opened.iter().map(|open| (open.call_id.clone(), Stands::default())).collect();
    if stands.is_empty() {
        return stands;
    }
    for message in &transcript.messages {
        for call in &message.calls {
            if let Some(stands) = stands.get_mut(&call.id) {
                stands.called = true;
            }
        }
        for outcome in &message.outcomes {
            if let Some(stands) = stands.get_mut(&outcome.call_id) {
                stands.answered = true;
            }
        }
    }
    stands
}

/// The text that the agent saw of a recorded result.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let Ok(Value::Object(members)) = serde_json::from_str::<Value>(&text) else {
        return text.into_owned();
    };
    let part = |name: &str| members.get(name).and_then(Value::as_str).filter(|t| !t.is_empty());
    let parts: Vec<&str> =
        ["stdout", "stderr", "output", "llmContent"].into_iter().filter_map(part).collect();
    if parts.is_empty() { text.into_owned() } else { parts.join("\n") }
}

#[cfg(test)]
mod tests {
    use countersign_model::Format;

    use super::*;

    #[test]
    fn the_last_message_is_added_where_the_file_lacks_it() {
        for (said, last, added) in [
            (&["All done."][..], Some("All done."), false),
            (&["All done.\nTests pass."], Some("Tests pass."), false),
            (&["All done.", "Tests pass."], Some("All done.\n\nTests pass."), false),
            (&["All done."], Some("Nothing is done."), true),
            (&[], Some("Nothing is done."), true),
            (&[], Some("  "), false),
            (&[], None, false),
        ] {
            let mut transcript = Transcript::new("t", Format::ClaudeCode);
            let said = said.iter().map(|text| Message::text(Role::Assistant, *text));
            transcript.messages.extend(said);
            assert_eq!(add_last(&mut transcript, 0, last, None), added, "{last:?}");
        }
    }
}
