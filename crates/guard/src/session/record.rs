use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_ledger::{Draft, Event, Ledger, ReadLedgerError};
use counterfoil_model::{Digest, Role, Transcript};

use super::calls::Calls;
use crate::heard::Heard;
use crate::timeline::Timeline;

/// What this process knows of what was said and done in a session: a view of the ledger.
pub(crate) struct Record {
    timeline: Timeline,
    pub(crate) calls: Calls,
    pub(crate) heard: Heard,
    /// Tools that the latest message of the user names.
    pub(super) mentioned: Arc<BTreeSet<String>>,
    /// The latest list of tools that the ledger has; `None` if a host's are not listed.
    pub(super) listed: Option<Digest>,
    /// Calls of this process are not kept in the timeline: it is read when it is asked for.
    pub(super) lean: bool,
    /// The session's sequence number up to which events are in the timeline.
    applied: u64,
    /// Events after one that is still missing, with what they stored.
    waiting: BTreeMap<u64, (Event, Vec<Vec<u8>>)>,
}

impl Record {
    pub(super) fn new(id: &str) -> Self {
        Self {
            timeline: Timeline::new(id),
            calls: Calls::default(),
            heard: Heard::default(),
            mentioned: Arc::default(),
            listed: None,
            lean: false,
            applied: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// What was said and done, as far as it is known here.
    pub(crate) fn transcript(&self) -> &Transcript {
        self.timeline.transcript()
    }

    /// The digest of the tools that the session began with.
    pub(super) fn tools(&self) -> Option<Digest> {
        self.timeline.tools()
    }

    /// Whether the ledger has another list of tools than this.
    pub(crate) fn lists_others(&self, tools: Digest) -> bool {
        self.listed.is_some_and(|listed| listed != tools)
    }

    /// Takes note that the ledger has this list of tools.
    pub(crate) fn lists(&mut self, tools: Digest) {
        self.listed = Some(tools);
    }

    /// Takes note of an event that this process wrote.
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

    /// Reads events that this process did not write, if later ones wait for them. What cannot be
    /// read now is read another time.
    pub(super) fn fill_gaps(&mut self, session: &str, ledger: &Ledger) {
        if !self.waiting.is_empty() {
            drop(self.catch_up(session, ledger));
        }
    }

    /// Reads what is in the ledger and not yet here.
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
                let catalog = transcript.catalog.iter();
                let named = catalog.filter(|tool| message.text.contains(&tool.name));
                self.mentioned = Arc::new(named.map(|tool| tool.name.clone()).collect());
            }
        }
    }
}
