//! Completes a transcript whose file is not up to date when an agent stops: with its last message,
//! from the event, and the ends of its latest calls, from the ledger.

use std::collections::{BTreeMap, BTreeSet};

use counterfoil_ledger::{Closed, Draft, Ledger, Opened};
use counterfoil_model::{
    Arguments, Gap, Message, MessageKind, Outcome, Role, Status, ToolCall, Transcript,
};
use counterfoil_shell::{ActivityKind, OutputVerdict, summary};
use serde_json::Value;

/// The number of latest events that are read.
const EVENTS: u64 = 200;

/// The number of calls in the turn, and how many of them have no receipt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage {
    pub(crate) calls: usize,
    pub(crate) without: usize,
    /// Receipts of calls that are missing from the agent's own log. They support nothing, but the
    /// log may be written late.
    pub(crate) unheard: Vec<Receipt>,
    /// Tools whose receipt and log entry disagree about how the run ended.
    pub(crate) differing: Vec<String>,
    /// Whether the ledger has any recent call of this agent, which shows that its tools trigger the
    /// hook.
    pub(crate) recorded: bool,
}

/// A call that ended, from the ledger.
#[derive(Debug, Clone)]
pub(crate) struct Receipt {
    call: Opened,
    outcome: Outcome,
}

impl Receipt {
    pub(crate) fn tool(&self) -> &str {
        &self.call.tool
    }

    fn called(&self, agent: Option<&str>) -> Message {
        let call = ToolCall {
            id: self.call.call_id.clone(),
            tool: self.call.tool.clone(),
            arguments: Arguments::from(&self.call.arguments),
            line: 0,
        };
        Message { calls: vec![call], ..self.message(Role::Assistant, agent) }
    }

    fn answered(&self, agent: Option<&str>) -> Message {
        Message { outcomes: vec![self.outcome.clone()], ..self.message(Role::Tool, agent) }
    }

    fn message(&self, role: Role, agent: Option<&str>) -> Message {
        Message {
            agent: agent.map(str::to_owned),
            time: Some(self.call.started_at),
            ..Message::text(role, "")
        }
    }
}

/// Adds the last message if it is missing. Returns whether it was.
pub(crate) fn add_last(
    transcript: &mut Transcript,
    first: usize,
    last: Option<&str>,
    agent: Option<&str>,
) -> bool {
    let Some(last) = last.map(str::trim).filter(|last| !last.is_empty()) else { return false };
    let spoken = |m: &&Message| m.role == Role::Assistant && m.kind == MessageKind::Ordinary;
    let messages = transcript.messages.iter().skip(first).filter(spoken);
    // One message may be in several lines, or be only the end of one.
    let mut whole = String::new();
    for message in messages {
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

/// Adds the calls and results of the turn that are in the ledger but not in the file.
pub(crate) fn add_receipts(
    transcript: &mut Transcript,
    first: usize,
    ledger: &Ledger,
    session: &str,
    agent: Option<&str>,
) -> Coverage {
    let kept = Kept::load(ledger, session, agent);
    let mut coverage = kept.coverage(transcript.messages.get(first..).unwrap_or_default(), agent);
    let presences = presences(transcript, &kept.opened);
    let mut place = end_of_work(transcript, first);
    let since = began(transcript, first);
    for receipt in kept.ended_since(since, ledger) {
        let presence = presences.get(&receipt.call.call_id).copied().unwrap_or_default();
        if presence.answered {
            if correct(transcript, &receipt.outcome) {
                coverage.differing.push(receipt.call.tool);
            }
            continue;
        }
        if !presence.called {
            // An agent that can run commands could send forged events to the hook. So evidence
            // against the agent is believed; evidence for it is not, although its log may only be
            // late.
            let failed = tells_failure(&receipt.outcome);
            coverage.unheard.push(receipt.clone());
            if !failed {
                transcript.completeness.add(Gap::MissingResults, place);
                continue;
            }
            transcript.messages.insert(place, receipt.called(agent));
            place += 1;
        }
        transcript.messages.insert(place, receipt.answered(agent));
        place += 1;
    }
    if coverage.unheard.is_empty() && every_call_ended(transcript) {
        transcript.completeness.mend(Gap::MissingResults);
    }
    coverage
}

/// The transcript with all receipts treated as real calls.
pub(crate) struct Believed {
    pub(crate) transcript: Transcript,
    /// Where messages were inserted, and how many.
    place: usize,
    added: usize,
}

impl Believed {
    /// The index in the original transcript of a message of this one.
    pub(crate) fn before(&self, turn: usize) -> usize {
        if turn < self.place { turn } else { turn.saturating_sub(self.added).max(self.place) }
    }
}

/// Adds the calls of all receipts that the log lacks. A claim that is not shown even then is not
/// just waiting for a late log.
pub(crate) fn believed(
    mut transcript: Transcript,
    first: usize,
    unheard: &[Receipt],
    agent: Option<&str>,
) -> Believed {
    let known: BTreeSet<String> =
        transcript.messages.iter().flat_map(|m| &m.calls).map(|call| call.id.clone()).collect();
    let place = end_of_work(&transcript, first);
    let new = unheard.iter().filter(|receipt| !known.contains(&receipt.call.call_id));
    let messages: Vec<Message> =
        new.flat_map(|receipt| [receipt.called(agent), receipt.answered(agent)]).collect();
    let added = messages.len();
    transcript.messages.splice(place..place, messages);
    if every_call_ended(&transcript) {
        transcript.completeness.mend(Gap::MissingResults);
    }
    Believed { transcript, place, added }
}

/// Where missing messages belong. The file is written in order, so they come after what it has and
/// before the answer.
fn end_of_work(transcript: &Transcript, first: usize) -> usize {
    let works = |m: &Message| !m.calls.is_empty() || !m.outcomes.is_empty() || m.role == Role::User;
    let last = transcript.messages.iter().rposition(works);
    last.map_or(0, |at| at + 1).max(first)
}

/// When the turn began; the maximum if the log has no times.
fn began(transcript: &Transcript, first: usize) -> i64 {
    let turn = transcript.messages.get(first..).unwrap_or_default();
    let since = turn.iter().find_map(|message| message.time);
    let since = since.or_else(|| transcript.messages.iter().rev().find_map(|m| m.time));
    since.unwrap_or(i64::MAX)
}

fn every_call_ended(transcript: &Transcript) -> bool {
    let messages = || transcript.messages.iter();
    let ended: BTreeSet<&str> =
        messages().flat_map(|m| &m.outcomes).map(|outcome| outcome.call_id.as_str()).collect();
    messages().flat_map(|m| &m.calls).all(|call| ended.contains(call.id.as_str()))
}

/// An agent's latest events in the ledger.
struct Kept {
    opened: Vec<Opened>,
    closed: Vec<Closed>,
    /// The agent's ids of all recorded calls, including rejected ones.
    recorded: BTreeSet<String>,
}

impl Kept {
    fn load(ledger: &Ledger, session: &str, agent: Option<&str>) -> Self {
        let mut kept = Self { opened: Vec::new(), closed: Vec::new(), recorded: BTreeSet::new() };
        for event in ledger.last_events(session, EVENTS).unwrap_or_default() {
            match event.draft {
                Draft::Opened(open) if open.caller_id.as_deref() == agent => {
                    kept.recorded.insert(open.call_id.clone());
                    kept.opened.push(open);
                }
                Draft::Closed(closed) => kept.closed.push(closed),
                Draft::Rejected(rejected) => {
                    kept.recorded.insert(rejected.call.call_id);
                }
                _ => {}
            }
        }
        kept
    }

    fn coverage(&self, turn: &[Message], agent: Option<&str>) -> Coverage {
        let own = turn.iter().filter(|message| message.agent.as_deref() == agent);
        let calls: Vec<&ToolCall> = own.flat_map(|message| &message.calls).collect();
        let without = calls.iter().filter(|call| !self.recorded.contains(&call.id)).count();
        let recorded = !self.opened.is_empty();
        Coverage { calls: calls.len(), without, recorded, ..Coverage::default() }
    }

    /// The calls with an id that began since then and have ended.
    fn ended_since(self, since: i64, ledger: &Ledger) -> Vec<Receipt> {
        let Self { opened, closed, .. } = self;
        let of_turn = opened.into_iter().filter(|o| o.started_at >= since && !o.call_id.is_empty());
        let receipts = of_turn.filter_map(|call| {
            let closed = closed.iter().find(|end| end.execution_id == call.execution_id)?;
            let bytes = ledger.result(&closed.recorded_digest).ok().flatten();
            let outcome = Outcome {
                call_id: call.call_id.clone(),
                text: bytes.as_deref().map(shown).unwrap_or_default(),
                is_error: Some(closed.status != Status::Completed),
                exit_code: closed.exit_code,
                truncated: closed.is_partial() || bytes.is_none(),
                ..Outcome::default()
            };
            Some(Receipt { call, outcome })
        });
        receipts.collect()
    }
}

/// Whether the result reports a failure.
fn tells_failure(outcome: &Outcome) -> bool {
    let report = summary(&outcome.text, ActivityKind::Test);
    outcome.is_error == Some(true)
        || outcome.exit_code.is_some_and(|code| code != 0)
        || report.verdict == Some(OutputVerdict::Failed)
}

/// Replaces a run's result in the agent's log with the recorded one if they disagree: the receipt
/// was made when the tool ended, while the log can be edited. Only reports of runs are compared,
/// which both contain in the same words. Returns whether anything was replaced.
fn correct(transcript: &mut Transcript, recorded: &Outcome) -> bool {
    let outcomes = transcript.messages.iter_mut().flat_map(|message| &mut message.outcomes);
    let mut corrected = false;
    for logged in outcomes.filter(|logged| logged.call_id == recorded.call_id) {
        let report = |text: &str| {
            let report = summary(text, ActivityKind::Test);
            report.verdict.map(|verdict| (verdict, report.passed, report.failed))
        };
        let (Some(recorded_end), Some(logged_end)) = (report(&recorded.text), report(&logged.text))
        else {
            continue;
        };
        if recorded_end != logged_end && !logged.truncated && !recorded.truncated {
            *logged = recorded.clone();
            corrected = true;
        }
    }
    corrected
}

/// What the transcript contains of a call.
#[derive(Debug, Clone, Copy, Default)]
struct Presence {
    called: bool,
    answered: bool,
}

/// Looks up these few calls in the transcript, which may be long.
fn presences(transcript: &Transcript, opened: &[Opened]) -> BTreeMap<String, Presence> {
    let mut presences: BTreeMap<String, Presence> =
        opened.iter().map(|open| (open.call_id.clone(), Presence::default())).collect();
    if presences.is_empty() {
        return presences;
    }
    for message in &transcript.messages {
        for call in &message.calls {
            if let Some(presence) = presences.get_mut(&call.id) {
                presence.called = true;
            }
        }
        for outcome in &message.outcomes {
            if let Some(presence) = presences.get_mut(&outcome.call_id) {
                presence.answered = true;
            }
        }
    }
    presences
}

/// The text of a recorded result, as the agent saw it.
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
    use counterfoil_model::Format;

    use super::*;

    #[test]
    fn the_last_message_is_added_where_the_file_lacks_it() {
        for (messages, last, added) in [
            (&["All done."][..], Some("All done."), false),
            (&["All done.\nTests pass."], Some("Tests pass."), false),
            (&["All done.", "Tests pass."], Some("All done.\n\nTests pass."), false),
            (&["All done."], Some("Nothing is done."), true),
            (&[], Some("Nothing is done."), true),
            (&[], Some("  "), false),
            (&[], None, false),
        ] {
            let mut transcript = Transcript::new("t", Format::ClaudeCode);
            let messages = messages.iter().map(|text| Message::text(Role::Assistant, *text));
            transcript.messages.extend(messages);
            assert_eq!(add_last(&mut transcript, 0, last, None), added, "{last:?}");
        }
    }
}
