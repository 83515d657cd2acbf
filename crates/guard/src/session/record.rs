use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_ledger::{Draft, Event, Ledger, ReadLedgerError};
use counterfoil_model::{Digest, Role, Status, Transcript};

use super::calls::Calls;
use crate::heard::Heard;
use crate::named::named;
use crate::timeline::Timeline;
use crate::toolset::Toolset;

/// What this process knows about the messages and calls of a session: a view of the ledger.
pub(crate) struct Record {
    timeline: Timeline,
    pub(crate) calls: Calls,
    pub(crate) heard: Heard,
    /// The tools that the latest message of the user names.
    pub(super) mentioned: Arc<BTreeSet<String>>,
    /// The latest list of tools in the ledger; `None` if a host's tools are not listed.
    pub(super) listed: Option<Digest>,
    /// Whether this process's calls are left out of the timeline, which is then read from the
    /// ledger when needed.
    pub(super) lean: bool,
    /// The session's sequence number up to which events are in the timeline.
    applied: u64,
    /// Events that come after a missing one, with the data that they stored.
    waiting: BTreeMap<u64, (Event, Vec<Vec<u8>>)>,
}

impl Record {
    /// Creates the record of a session. It need not read the list of `tools`, if there are any.
    pub(super) fn new(id: &str, tools: Option<&Toolset>) -> Self {
        let known = tools.map(|tools| (tools.digest, tools.recorded().clone()));
        Self {
            timeline: Timeline::new(id, known),
            calls: Calls::default(),
            heard: Heard::default(),
            mentioned: Arc::default(),
            listed: None,
            lean: false,
            applied: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// The messages and calls, as far as this process knows them.
    pub(crate) fn transcript(&self) -> &Transcript {
        self.timeline.transcript()
    }

    /// How an execution ended, as far as the transcript shows.
    pub(super) fn status_of(&self, execution_id: &str) -> Option<Status> {
        self.timeline.status_of(execution_id)
    }

    /// The digest of the tools that the session began with.
    pub(super) fn tools(&self) -> Option<Digest> {
        self.timeline.tools()
    }

    /// Whether the ledger already has a list of tools that differs from this one.
    pub(crate) fn lists_others(&self, tools: Digest) -> bool {
        self.listed.is_some_and(|listed| listed != tools)
    }

    /// Records that the ledger has this list of tools.
    pub(crate) fn lists(&mut self, tools: Digest) {
        self.listed = Some(tools);
    }

    /// Adds an event that this process recorded.
    pub(super) fn note(&mut self, event: Event, stored: Vec<Vec<u8>>) {
        if matches!(&event.draft, Draft::Opened(opened) if !opened.links.speculative) {
            self.calls.made += 1;
        }
        if self.lean {
            self.calls.apply(&event.draft);
            return;
        }
        self.waiting.insert(event.session_seq, (event, stored));
        while let Some((event, stored)) = self.waiting.remove(&(self.applied + 1)) {
            let find = |digest: &Digest| {
                stored.iter().find(|bytes| Digest::of_bytes(bytes) == *digest).cloned()
            };
            self.apply(&event, &find);
        }
    }

    /// Reads events that other processes recorded, if later ones wait for them. If reading fails,
    /// it is tried again later.
    pub(super) fn fill_gaps(&mut self, session: &str, ledger: &Ledger) {
        if !self.waiting.is_empty() {
            drop(self.catch_up(session, ledger));
        }
    }

    /// Reads the events of the ledger that are not here yet.
    pub(super) fn catch_up(
        &mut self,
        session: &str,
        ledger: &Ledger,
    ) -> Result<(), ReadLedgerError> {
        for event in ledger.events_after(session, self.applied)? {
            let find = |digest: &Digest| ledger.result(digest).ok().flatten();
            self.apply(&event, &find);
            self.waiting.remove(&event.session_seq);
        }
        Ok(())
    }

    fn apply(&mut self, event: &Event, stored: &dyn Fn(&Digest) -> Option<Vec<u8>>) {
        let before = self.timeline.transcript().messages.len();
        self.timeline.apply(event, stored);
        self.applied = event.session_seq;
        self.calls.apply(&event.draft);
        let transcript = self.timeline.transcript();
        for (at, message) in transcript.messages.iter().enumerate().skip(before) {
            self.heard.message(at, message);
            if message.role == Role::User {
                let tools = transcript.catalog.iter().map(|tool| &tool.name);
                self.mentioned = Arc::new(named(&message.text, tools));
            }
        }
    }
}
