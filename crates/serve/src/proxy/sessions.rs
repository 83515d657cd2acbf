//! Which requests belong together, and what was seen of each session.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use counterfoil_guard::{BeginSessionError, Guard, Session, SessionStart};
use counterfoil_model::{Digest, Message, Role, Transcript};
use hyper::body::Bytes;

use super::request::Asked;

/// So much of what ties requests to a session is kept of each.
const MOST_LINKS: usize = 4096;

/// So many responses that the server keeps are remembered of each session.
const MOST_RESPONSES: usize = 8;

/// The sessions that are known.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<String, Arc<Seen>>,
    /// Ids of calls and responses, and digests of conversations, to the session of each.
    links: HashMap<String, String>,
}

/// One session.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) session: Session,
    pub(super) model: String,
    /// Held while a request is recorded, so that records are in order.
    pub(super) recording: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

/// What is known of a session.
#[derive(Debug)]
pub(super) struct State {
    /// The result of each call as it was reported first.
    pub(super) reported: BTreeMap<String, Digest>,
    /// What was heard last, so that a request that is made again is not recorded again.
    pub(super) heard: Option<Digest>,
    /// The conversations that the server keeps, by response.
    responses: VecDeque<(String, Arc<Vec<Message>>)>,
    /// The client's tools by their digest, and what went on in their place.
    pub(super) pinned: Option<(Digest, Bytes)>,
    links: VecDeque<String>,
    used: Instant,
    pub(super) requests: u64,
    pub(super) findings: u64,
    pub(super) held: u64,
    pub(super) refused: u64,
}

impl Seen {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation up to a response.
    pub(super) fn up_to(&self, response: &str) -> Option<Arc<Vec<Message>>> {
        let state = self.state();
        let mut responses = state.responses.iter();
        responses.find(|(id, _)| id == response).map(|(_, messages)| Arc::clone(messages))
    }
}

impl Sessions {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of a request, and whether it began with it: by its name, by what it goes on
    /// from, by the calls that stand in it, or by its beginning.
    pub(super) fn of(
        &self,
        guard: &Guard,
        asked: &Asked,
        owner: Option<&str>,
        transcript: &Transcript,
    ) -> Result<(Arc<Seen>, bool), BeginSessionError> {
        let named = asked.session.as_ref().map(|name| match owner {
            Some(owner) => format!("proxy:{owner}:{name}"),
            None => format!("proxy:{name}"),
        });
        let mut known = self.known();
        let found = match &named {
            Some(name) => known.sessions.get(name),
            None => known.linked(asked, owner, transcript),
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
            model: Some(asked.model.clone()).filter(|model| !model.is_empty()),
            ..SessionStart::default()
        };
        let session = guard.host_session(start)?;
        let seen = Arc::new(Seen {
            session,
            model: asked.model.clone(),
            recording: tokio::sync::Mutex::default(),
            state: Mutex::new(State {
                reported: BTreeMap::new(),
                heard: None,
                responses: VecDeque::new(),
                pinned: None,
                links: VecDeque::new(),
                used: Instant::now(),
                requests: 1,
                findings: 0,
                held: 0,
                refused: 0,
            }),
        });
        known.sessions.insert(seen.session.id().to_owned(), Arc::clone(&seen));
        Ok((seen, true))
    }

    /// Ties what comes later to a session: the calls and the response of an answer, and the
    /// conversation with it.
    pub(super) fn link(
        &self,
        seen: &Seen,
        owner: Option<&str>,
        response: Option<&str>,
        conversation: Vec<Message>,
    ) {
        let mut links = Vec::new();
        links.extend(fingerprints(&conversation).last().map(|(_, digest)| owned(owner, digest)));
        let calls = conversation.last().into_iter().flat_map(|message| &message.calls);
        let ids = calls.map(|call| call.id.as_str()).chain(response);
        links.extend(ids.filter(|id| !id.is_empty()).map(|id| owned(owner, id)));
        let mut known = self.known();
        let mut state = seen.state();
        for link in links {
            known.links.insert(link.clone(), seen.session.id().to_owned());
            state.links.push_back(link);
        }
        while state.links.len() > MOST_LINKS {
            if let Some(old) = state.links.pop_front() {
                known.links.remove(&old);
            }
        }
        if let Some(response) = response {
            state.responses.push_back((response.to_owned(), Arc::new(conversation)));
            while state.responses.len() > MOST_RESPONSES {
                state.responses.pop_front();
            }
        }
    }

    /// Forgets sessions that nobody used for so long, and the oldest above so many.
    pub(super) fn sweep(&self, idle: Duration, most: usize) {
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

    /// Every session, the last used first.
    pub(super) fn all(&self) -> Vec<Arc<Seen>> {
        let mut all: Vec<_> = self.known().sessions.values().cloned().collect();
        all.sort_by_key(|seen| std::cmp::Reverse(seen.state().used));
        all
    }

    pub(super) fn len(&self) -> usize {
        self.known().sessions.len()
    }
}

impl Known {
    fn linked(
        &self,
        asked: &Asked,
        owner: Option<&str>,
        transcript: &Transcript,
    ) -> Option<&Arc<Seen>> {
        let session = |link: &str| self.sessions.get(self.links.get(&owned(owner, link))?);
        if let Some(seen) = asked.previous.as_deref().and_then(session) {
            return Some(seen);
        }
        let calls = transcript.messages.iter().rev().flat_map(|message| &message.calls);
        if let Some(seen) = calls.map(|call| call.id.as_str()).find_map(session) {
            return Some(seen);
        }
        let prints = fingerprints(&transcript.messages);
        prints.iter().rev().find_map(|(_, digest)| session(digest))
    }

    fn forget(&mut self, id: &str) {
        let Some(seen) = self.sessions.remove(id) else { return };
        for link in seen.state().links.drain(..) {
            self.links.remove(&link);
        }
    }
}

fn owned(owner: Option<&str>, link: &str) -> String {
    format!("{}\n{link}", owner.unwrap_or_default())
}

/// The conversation up to each of the agent's messages, as a digest. What the model is told first
/// does not count: it may hold the time of day.
fn fingerprints(messages: &[Message]) -> Vec<(usize, String)> {
    let mut before = Digest::of_bytes(b"").to_string();
    let mut prints = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::System || (message.text.is_empty() && message.calls.is_empty()) {
            continue;
        }
        let calls: Vec<&str> = message.calls.iter().map(|call| call.id.as_str()).collect();
        let own = format!("{before}\n{:?}\n{}\n{}", message.role, calls.join(" "), message.text);
        before = Digest::of_bytes(own.as_bytes()).to_string();
        if message.role == Role::Assistant {
            prints.push((at, before.clone()));
        }
    }
    prints
}
