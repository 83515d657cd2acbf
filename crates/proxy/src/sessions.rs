//! Which requests belong to the same session, and what is known about each session.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use counterfoil_guard::{BeginSessionError, Guard, Session, SessionStart, recorded_transcript};
use counterfoil_model::{Completeness, Digest, Message, Role, ToolCall, Transcript};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::outcomes::outcomes;
use crate::request::ModelRequest;

/// The maximum number of links that are kept per session.
const MOST_LINKS: usize = 4096;

/// The maximum number of responses and conversations on the server that are remembered per session.
const MOST_RESPONSES: usize = 16;

/// How long a request waits until the answer that it continues from is linked.
const LINKING: Duration = Duration::from_secs(10);

/// The known sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: Mutex<Known>,
    /// The answers whose ids their clients may know, but that are not linked yet.
    announced: Mutex<HashMap<String, watch::Receiver<()>>>,
}

/// An answer that will be linked. Requests that continue from it wait until this is dropped.
#[derive(Debug)]
pub(crate) struct Announced(
    #[expect(dead_code, reason = "it ends when dropped")] watch::Sender<()>,
);

/// A conversation that a server keeps.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) messages: Vec<Message>,
    /// What is missing in it.
    pub(crate) completeness: Completeness,
}

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<String, Arc<Seen>>,
    /// The session for each call id, response id and conversation digest.
    links: HashMap<String, String>,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) session: Session,
    pub(crate) model: String,
    /// Held while a request is recorded, so that records are in order.
    pub(crate) recording: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

/// The state of a session.
#[derive(Debug)]
pub(crate) struct State {
    /// The first reported result of each call; `None` if only the ledger has it.
    pub(crate) reported: BTreeMap<String, Option<Digest>>,
    /// The digest of what was recorded last, so that a repeated request is not recorded again.
    pub(crate) heard: Option<Digest>,
    /// The conversations that the server keeps, by response and by name.
    responses: VecDeque<(String, Arc<Kept>)>,
    /// The digest of the client's tools, and the names that were passed on.
    pub(crate) pinned: Option<(Digest, BTreeSet<String>)>,
    links: VecDeque<String>,
    /// The digest of the conversation so far.
    latest: Option<String>,
    used: Instant,
    pub(crate) requests: u64,
    pub(crate) findings: u64,
    pub(crate) held: u64,
    pub(crate) refused: u64,
}

impl Seen {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation up to a response, or the one with this name.
    pub(crate) fn up_to(&self, name: &str) -> Option<Arc<Kept>> {
        let state = self.state();
        let mut responses = state.responses.iter();
        responses.find(|(id, _)| id == name).map(|(_, kept)| Arc::clone(kept))
    }
}

impl Sessions {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announced(&self) -> MutexGuard<'_, HashMap<String, watch::Receiver<()>>> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces that an answer with this id, or in this conversation, will be linked.
    pub(crate) fn announce(&self, owner: &str, name: &str) -> Announced {
        let (sender, receiver) = watch::channel(());
        let mut announced = self.announced();
        announced.retain(|_, open| open.has_changed().is_ok());
        announced.insert(owned(owner, name), receiver);
        Announced(sender)
    }

    /// The answers that a request continues from and that are not linked yet.
    pub(crate) fn awaited(&self, request: &ModelRequest, owner: &str) -> Vec<watch::Receiver<()>> {
        let announced = self.announced();
        let names = request.previous.iter().chain(&request.conversation);
        names.filter_map(|name| announced.get(&owned(owner, name)).cloned()).collect()
    }

    /// The session of a request, and whether the request begins it. It is found by its name, by
    /// what the request continues from, by the calls in it, or by its beginning.
    pub(crate) fn find_or_begin(
        &self,
        guard: &Guard,
        request: &ModelRequest,
        owner: &str,
        transcript: &Transcript,
    ) -> Result<(Arc<Seen>, bool), BeginSessionError> {
        let named = request.session.as_ref().map(|name| match owner {
            "" => format!("proxy:{name}"),
            owner => {
                let digest = Digest::of_bytes(owner.as_bytes()).to_string();
                let short = digest.rsplit(':').next().unwrap_or_default();
                format!("proxy:{}:{name}", short.get(..8).unwrap_or_default())
            }
        });
        let mut known = self.known();
        let found = match &named {
            Some(name) => known.sessions.get(name),
            None => known.linked(request, owner, transcript),
        };
        if let Some(seen) = found.cloned() {
            let mut state = seen.state();
            (state.used, state.requests) = (Instant::now(), state.requests + 1);
            drop(state);
            return Ok((seen, false));
        }
        let start = SessionStart {
            id: named,
            reported: true,
            model: Some(request.model.clone()).filter(|model| !model.is_empty()),
            ..SessionStart::default()
        };
        let session = guard.host_session(start)?;
        // It may have begun in another process, or may have been forgotten here.
        let reported = match &request.session {
            Some(_) => recorded(guard, session.id()),
            None => BTreeMap::new(),
        };
        let first = reported.is_empty();
        let seen = Arc::new(Seen {
            session,
            model: request.model.clone(),
            recording: tokio::sync::Mutex::default(),
            state: Mutex::new(State {
                reported,
                heard: None,
                responses: VecDeque::new(),
                pinned: None,
                links: VecDeque::new(),
                latest: None,
                used: Instant::now(),
                requests: 1,
                findings: 0,
                held: 0,
                refused: 0,
            }),
        });
        known.sessions.insert(seen.session.id().to_owned(), Arc::clone(&seen));
        Ok((seen, first))
    }

    /// Links future requests to a session, by the calls of an answer, by the conversation, and by
    /// the names under which the server keeps it.
    pub(crate) fn link(&self, seen: &Seen, owner: &str, names: Vec<String>, kept: Kept) {
        let conversation = &kept.messages;
        let latest = fingerprints(conversation).pop();
        let calls = conversation.last().into_iter().flat_map(|message| &message.calls);
        let calls = calls.map(|call| of_call(conversation, call));
        let links = calls.chain(latest.clone()).chain(names.iter().cloned());
        let links: Vec<String> = links.map(|link| owned(owner, &link)).collect();
        let mut known = self.known();
        if !known.sessions.contains_key(seen.session.id()) {
            return;
        }
        let mut state = seen.state();
        state.latest = latest.or(state.latest.take());
        for link in links {
            known.links.insert(link.clone(), seen.session.id().to_owned());
            state.links.push_back(link);
        }
        while state.links.len() > MOST_LINKS {
            if let Some(old) = state.links.pop_front() {
                known.links.remove(&old);
            }
        }
        let kept = Arc::new(kept);
        for name in names {
            state.responses.retain(|(known, _)| *known != name);
            state.responses.push_back((name, Arc::clone(&kept)));
        }
        while state.responses.len() > MOST_RESPONSES {
            state.responses.pop_front();
        }
    }

    /// Forgets sessions that were idle for `idle`, and the oldest ones above `most`.
    pub(crate) fn sweep(&self, idle: Duration, most: usize) {
        let mut known = self.known();
        let mut ages: Vec<(Instant, String)> =
            known.sessions.iter().map(|(id, seen)| (seen.state().used, id.clone())).collect();
        ages.sort();
        let above = ages.len().saturating_sub(most);
        for (at, (used, id)) in ages.into_iter().enumerate() {
            if at < above || used.elapsed() > idle {
                known.forget(&id);
            }
        }
    }

    /// All sessions, most recently used first.
    pub(crate) fn all(&self) -> Vec<Arc<Seen>> {
        let mut all: Vec<_> = self.known().sessions.values().cloned().collect();
        all.sort_by_cached_key(|seen| std::cmp::Reverse(seen.state().used));
        all
    }

    pub(crate) fn len(&self) -> usize {
        self.known().sessions.len()
    }
}

impl Known {
    fn linked(
        &self,
        request: &ModelRequest,
        owner: &str,
        transcript: &Transcript,
    ) -> Option<&Arc<Seen>> {
        let session = |link: &str| self.sessions.get(self.links.get(&owned(owner, link))?);
        if let Some(seen) = request.previous.as_deref().and_then(session) {
            return Some(seen);
        }
        let messages = &transcript.messages;
        let calls = messages.iter().rev().flat_map(|message| &message.calls);
        if let Some(seen) = calls.map(|call| of_call(messages, call)).find_map(|c| session(&c)) {
            return Some(seen);
        }
        // Many conversations begin alike, so only one that continues at the latest point is the
        // same.
        let latest = fingerprints(messages).pop()?;
        session(&latest).filter(|seen| seen.state().latest.as_ref() == Some(&latest))
    }

    fn forget(&mut self, id: &str) {
        let Some(seen) = self.sessions.remove(id) else { return };
        for link in seen.state().links.drain(..) {
            self.links.remove(&link);
        }
    }
}

fn owned(owner: &str, link: &str) -> String {
    format!("{owner}\n{link}")
}

/// The key of a call in a conversation. Some servers number their calls from 0 in each
/// conversation.
fn of_call(conversation: &[Message], call: &ToolCall) -> String {
    let first = conversation.iter().find(|message| message.role == Role::User);
    let first = first.map(|message| message.text.as_str()).unwrap_or_default();
    // Clients serialize arguments in their own way.
    let arguments = call.arguments.exact().map(|arguments| arguments.to_string());
    let arguments = arguments.unwrap_or_else(|_| call.arguments.as_str().to_owned());
    let whole = format!("{first}\n{}\n{}\n{arguments}", call.id, call.tool);
    Digest::of_bytes(whole.as_bytes()).to_string()
}

/// The results in the record of a session.
fn recorded(guard: &Guard, session: &str) -> BTreeMap<String, Option<Digest>> {
    let recorded = recorded_transcript(guard.ledger(), session).ok().flatten();
    let messages = recorded.map(|recorded| recorded.messages).unwrap_or_default();
    outcomes(&messages).into_iter().map(|(key, _)| (key, None)).collect()
}

/// Digests of the conversation up to each of the agent's messages. System messages do not count,
/// because they may contain the time of day.
fn fingerprints(messages: &[Message]) -> Vec<String> {
    let mut before = Digest::of_bytes(b"").to_string();
    let mut prints = Vec::new();
    for message in messages {
        if message.role == Role::System || (message.text.is_empty() && message.calls.is_empty()) {
            continue;
        }
        let calls: Vec<&str> = message.calls.iter().map(|call| call.id.as_str()).collect();
        let own = format!("{before}\n{:?}\n{}\n{}", message.role, calls.join(" "), message.text);
        before = Digest::of_bytes(own.as_bytes()).to_string();
        if message.role == Role::Assistant {
            prints.push(before.clone());
        }
    }
    prints
}

/// Waits until the answers that a request continues from are linked.
pub(crate) async fn linked(awaited: Vec<watch::Receiver<()>>) {
    for mut answer in awaited {
        timeout(LINKING, async { while answer.changed().await.is_ok() {} }).await.ok();
    }
}
