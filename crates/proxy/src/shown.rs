//! What a request shows: the conversation, its calls and their results, and the tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use counterfoil_formats::{Options, read};
use counterfoil_guard::{Guard, HostTools};
use counterfoil_model::{Digest, Gap, Message, Role, Transcript};
use hyper::body::Bytes;

use crate::outcomes::{id_of, key_of, outcomes};
use crate::request::ModelRequest;
use crate::sessions::{Kept, Seen};
use crate::wire::Wire;

/// The maximum number of compiled tool lists that are kept.
const MOST_LISTS: usize = 64;

/// What answers to a request are checked against.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) transcript: Transcript,
    pub(crate) tools: Arc<HostTools>,
    /// The raw tool list of the client.
    written: Option<Bytes>,
    /// Whether its tools are not known, because the server keeps them.
    pub(crate) has_unknown_tools: bool,
    /// The amount of text to read, in bytes.
    pub(crate) size: usize,
    /// The index of the first new message, after the agent's last one.
    pub(crate) new: usize,
    /// Results that differ from the first report, or are missing.
    pub(crate) tampered: Vec<Tampered>,
}

/// A result that a client reported differently before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tampered {
    /// Its content is different.
    Changed { call_id: String, tool: String },
    /// It is missing, while its call is still there.
    Dropped { call_id: String },
}

/// Compiled tool lists.
#[derive(Debug, Default)]
pub(crate) struct Lists(Mutex<Vec<(Digest, Arc<HostTools>)>>);

impl Lists {
    /// The tools of a request, compiled once for all requests with the same list.
    fn host_tools(
        &self,
        guard: &Guard,
        written: Option<&Bytes>,
        transcript: &Transcript,
    ) -> Arc<HostTools> {
        let compiled = || {
            let tools = transcript.catalog.iter().cloned();
            Arc::new(HostTools::new(tools, guard.admission_settings()))
        };
        // Older requests list functions elsewhere.
        let Some(written) = written else { return compiled() };
        let digest = Digest::of_bytes(written);
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = lists.iter().position(|(known, _)| *known == digest) {
            // The list is ordered by last use.
            let known = lists.remove(at);
            let tools = Arc::clone(&known.1);
            lists.push(known);
            return tools;
        }
        drop(lists);
        // Compiling many schemas takes a while; others need not wait for it.
        let tools = compiled();
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() >= MOST_LISTS {
            lists.remove(0);
        }
        lists.push((digest, Arc::clone(&tools)));
        tools
    }
}

/// Parses a conversation; empty if it cannot be read.
pub(crate) fn read_conversation(wire: Wire, body: &[u8]) -> Transcript {
    let options = Options { format: Some(wire.format()), ..Options::new("proxy") };
    let mut found = None;
    let read = read(body, &options, &mut |reading| {
        found.get_or_insert(reading.transcript);
    });
    let mut transcript = found.unwrap_or_else(|| Transcript::new("proxy", wire.format()));
    if read.is_err() {
        transcript.completeness.add(Gap::Unreadable, 0);
    }
    transcript
}

/// What a request shows by itself, without what is known about its session.
pub(crate) fn of_request(guard: &Guard, lists: &Lists, request: &ModelRequest) -> Shown {
    let transcript = read_conversation(request.wire, &request.body);
    let tools = lists.host_tools(guard, request.tools.as_ref(), &transcript);
    let last = transcript.messages.iter().rposition(|message| message.role == Role::Assistant);
    Shown {
        new: last.map_or(0, |at| at + 1),
        has_unknown_tools: request.has_servers && transcript.catalog.iter().next().is_none(),
        transcript,
        tools,
        written: request.tools.clone(),
        size: request.body.len(),
        tampered: Vec::new(),
    }
}

impl Shown {
    /// Adds what is known about the session but missing from the request: what the server keeps,
    /// and calls that the client has left out or now reports differently.
    pub(crate) fn complete(&mut self, request: &ModelRequest, seen: &Seen) {
        if let Some(name) = request.previous.as_ref().or(request.conversation.as_ref()) {
            match seen.up_to(name) {
                Some(kept) => self.continue_from(&kept),
                // A conversation may be new.
                None if request.previous.is_none() => {}
                None => self.transcript.completeness.add(Gap::CutStart, 0),
            }
        }
        let (missing, changed) = self.compare(&seen.state().reported);
        if missing.is_empty() && changed.is_empty() {
            return;
        }
        self.tampered = self.holes(&missing);
        let Ok(recorded) = seen.session.transcript() else {
            self.transcript.completeness.add(Gap::Unreadable, 0);
            return;
        };
        for message in &mut self.transcript.messages {
            for outcome in message.outcomes.iter_mut().filter(|o| changed.contains(&o.call_id)) {
                let mut known = recorded.messages.iter().flat_map(|message| &message.outcomes);
                if let Some(first) = known.find(|known| known.call_id == outcome.call_id) {
                    outcome.text.clone_from(&first.text);
                }
            }
        }
        let names = self.names();
        self.tampered.extend(changed.into_iter().map(|call_id| {
            let tool = names.get(&call_id).cloned().unwrap_or_default();
            Tampered::Changed { call_id, tool }
        }));
        self.put_before(only(recorded.messages, &missing));
    }

    /// Puts the conversation that the server keeps before the request, which begins in the middle of
    /// it.
    fn continue_from(&mut self, kept: &Kept) {
        self.transcript.completeness.mend(Gap::CutStart);
        self.put_before(kept.messages.clone());
        for (gap, at) in kept.completeness.gaps() {
            self.transcript.completeness.add(*gap, *at);
        }
        let calls = self.names();
        let mut outcomes = self.transcript.messages.iter().flat_map(|message| &message.outcomes);
        if outcomes.all(|outcome| calls.contains_key(&outcome.call_id)) {
            self.transcript.completeness.mend(Gap::UnknownCalls);
        }
    }

    fn put_before(&mut self, mut messages: Vec<Message>) {
        let outcomes = messages.iter().flat_map(|message| &message.outcomes);
        let texts = messages.iter().map(|message| message.text.len());
        self.size += outcomes.map(|outcome| outcome.text.len()).chain(texts).sum::<usize>();
        let system = self.transcript.messages.iter().take_while(|m| m.role == Role::System).count();
        let count = messages.len();
        messages.extend(self.transcript.messages.drain(system..));
        self.transcript.messages.append(&mut messages);
        self.new += count;
    }

    /// The calls with a reported result that is missing here, and those whose result is different
    /// now.
    fn compare(
        &self,
        reported: &BTreeMap<String, Option<Digest>>,
    ) -> (BTreeSet<String>, BTreeSet<String>) {
        let mut missing: BTreeSet<String> = reported.keys().map(|key| id_of(key)).collect();
        let mut changed = BTreeSet::new();
        for (key, outcome) in outcomes(&self.transcript.messages) {
            missing.remove(&outcome.call_id);
            let now = Digest::of_bytes(outcome.text.as_bytes());
            // With several results for one id, it is not clear which one is meant.
            let several = reported.contains_key(&key_of(&outcome.call_id, 1));
            let first = reported.get(&key).copied().flatten();
            if !several && first.is_some_and(|first| first != now) {
                changed.insert(outcome.call_id.clone());
            }
        }
        (missing, changed)
    }

    /// Missing results whose calls are still there.
    fn holes(&self, missing: &BTreeSet<String>) -> Vec<Tampered> {
        let names = self.names();
        let gone = missing.iter().filter(|id| names.contains_key(*id));
        gone.map(|id| Tampered::Dropped { call_id: id.clone() }).collect()
    }

    /// The names of the called tools, by call id.
    fn names(&self) -> BTreeMap<String, String> {
        let calls = self.transcript.messages.iter().flat_map(|message| &message.calls);
        calls.map(|call| (call.id.clone(), call.tool.clone())).collect()
    }

    /// Whether the client lists a native tool of this kind, which has no name and no schema.
    pub(crate) fn declares(&self, kind: &str) -> bool {
        let quoted = format!("\"{kind}");
        self.written
            .as_deref()
            .is_some_and(|list| memchr::memmem::find(list, quoted.as_bytes()).is_some())
    }

    /// The latest message of the user.
    pub(crate) fn query(&self) -> String {
        let mut messages = self.transcript.messages.iter().rev();
        messages
            .find(|message| message.role == Role::User)
            .map(|m| m.text.clone())
            .unwrap_or_default()
    }
}

/// The parts of recorded messages that belong to these calls.
fn only(messages: Vec<Message>, calls: &BTreeSet<String>) -> Vec<Message> {
    let mut kept = Vec::new();
    for mut message in messages {
        message.calls.retain(|call| calls.contains(&call.id));
        message.outcomes.retain(|outcome| calls.contains(&outcome.call_id));
        if message.calls.is_empty() && message.outcomes.is_empty() {
            continue;
        }
        message.text.clear();
        kept.push(message);
    }
    kept
}
