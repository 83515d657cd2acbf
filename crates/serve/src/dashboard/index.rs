//! An index of the ledger, so that pages do not have to read all of it.

use std::collections::{BTreeMap, HashMap};

use counterfoil_guard::{CallStats, Draft, Event, Lasts, Rejected};
use counterfoil_model::Digest;

/// Milliseconds of an hour.
pub(crate) const HOUR: i64 = 3_600_000;

/// Maximum number of hours with counts; older ones are dropped.
const MOST_HOURS: usize = 24 * 60;

/// The index: sessions, positions of listed events, and counts, as far as the ledger was read.
#[derive(Debug, Default)]
pub(crate) struct LedgerIndex {
    /// The seq of the next event to read.
    next: u64,
    sessions: Vec<SessionSeen>,
    by_name: HashMap<String, usize>,
    receipts: Vec<EventPlace>,
    rejections: Vec<EventPlace>,
    answers: Vec<EventPlace>,
    decisions: Vec<EventPlace>,
    decisions_on: HashMap<(usize, Digest), CallOfPerson>,
    hours: BTreeMap<i64, HourCounts>,
    stats: CallStats,
    /// Whether the existing ledger has been read once.
    pub(crate) is_complete: bool,
    /// Why reading stopped, if it did.
    pub(crate) trouble: Option<String>,
}

/// A session, with counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionSeen {
    pub(crate) id: String,
    pub(crate) model: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) began_at: i64,
    pub(crate) last_at: i64,
    /// The position of its last event.
    pub(crate) events: u64,
    pub(crate) calls: u64,
    pub(crate) rejected: u64,
    pub(crate) closed: u64,
    pub(crate) opened: u64,
    pub(crate) messages: u64,
    pub(crate) answers: u64,
    pub(crate) answers_with_findings: u64,
    pub(crate) has_ended: bool,
}

impl SessionSeen {
    /// Executions that have not ended.
    pub(crate) fn open(&self) -> u64 {
        self.opened.saturating_sub(self.closed)
    }
}

/// The position and session of an event.
#[derive(Debug, Clone, Copy)]
struct EventPlace {
    seq: u64,
    session: usize,
}

/// A call that needs a person's decision, or has one.
#[derive(Debug, Clone)]
pub(crate) struct CallOfPerson {
    /// The seq of the latest event that denied it.
    pub(crate) seq: u64,
    pub(crate) execution_id: String,
    pub(crate) session: usize,
    state: DecisionState,
    /// When the decision expires, if it does: milliseconds since the Unix epoch.
    until: Option<i64>,
    /// The position in the session of the latest event that determines this state.
    pub(crate) seen: u64,
}

/// The state of a person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecisionState {
    /// There is no decision yet.
    Waiting,
    /// Approved, either for every identical call of the session or for the next one.
    Granted { for_session: bool },
    /// Refused.
    Refused,
}

/// Counts for one hour.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HourCounts {
    pub(crate) calls: u64,
    pub(crate) rejected: u64,
    pub(crate) failed: u64,
    pub(crate) answers: u64,
    pub(crate) answers_with_findings: u64,
}

/// Lists of which only the positions are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Receipts,
    Rejections,
    Answers,
    Decisions,
}

impl CallOfPerson {
    /// The decision in force; an expired approval counts as waiting.
    pub(crate) fn state(&self, now: i64) -> DecisionState {
        match self.until {
            Some(until) if now >= until => DecisionState::Waiting,
            _ => self.state,
        }
    }
}

impl DecisionState {
    /// The display name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Granted { for_session: true } => "granted for the session",
            Self::Granted { for_session: false } => "granted once",
            Self::Refused => "refused",
        }
    }
}

impl LedgerIndex {
    /// The seq of the next event to read, which is also the number of events read.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn stats(&self) -> &CallStats {
        &self.stats
    }

    pub(crate) fn hours(&self) -> &BTreeMap<i64, HourCounts> {
        &self.hours
    }

    /// The sessions, in the order in which they began.
    pub(crate) fn sessions(&self) -> &[SessionSeen] {
        &self.sessions
    }

    pub(crate) fn session(&self, name: &str) -> Option<&SessionSeen> {
        self.by_name.get(name).and_then(|at| self.sessions.get(*at))
    }

    /// Calls waiting for a decision, or calls with one in force; newest first.
    pub(crate) fn calls_of_people(&self, waiting: bool, now: i64) -> Vec<&CallOfPerson> {
        let is_meant =
            |call: &&CallOfPerson| (call.state(now) == DecisionState::Waiting) == waiting;
        let mut calls: Vec<_> = self.decisions_on.values().filter(is_meant).collect();
        calls.sort_by_key(|call| std::cmp::Reverse(call.seq));
        calls
    }

    /// The call of a receipt, if it needs or has a person's decision.
    pub(crate) fn call_of_person(&self, session: &str, digest: Digest) -> Option<&CallOfPerson> {
        self.decisions_on.get(&(*self.by_name.get(session)?, digest))
    }

    pub(crate) fn waiting_count(&self, now: i64) -> usize {
        let waits = |call: &&CallOfPerson| call.state(now) == DecisionState::Waiting;
        self.decisions_on.values().filter(waits).count()
    }

    pub(crate) fn count(&self, list: List) -> usize {
        self.list(list).len()
    }

    /// Positions of list entries before `before`, newest first, of all sessions or of one.
    pub(crate) fn places(
        &self,
        list: List,
        before: Option<u64>,
        session: Option<&str>,
        limit: usize,
    ) -> Vec<u64> {
        let all = self.list(list);
        let end = before.map_or(all.len(), |seq| all.partition_point(|place| place.seq < seq));
        let of = session.map(|name| self.by_name.get(name).copied());
        let wanted = |place: &&EventPlace| of.is_none_or(|of| of == Some(place.session));
        let before = all.get(..end).unwrap_or_default();
        before.iter().rev().filter(wanted).take(limit).map(|place| place.seq).collect()
    }

    fn list(&self, list: List) -> &[EventPlace] {
        match list {
            List::Receipts => &self.receipts,
            List::Rejections => &self.rejections,
            List::Answers => &self.answers,
            List::Decisions => &self.decisions,
        }
    }

    /// Adds the next event of the ledger.
    pub(crate) fn add(&mut self, event: &Event) {
        self.next = event.seq.saturating_add(1);
        self.stats.add(event);
        let session = self.session_of(event);
        let place = EventPlace { seq: event.seq, session };
        self.list_event(event, place);
        let hour = self.hours.entry(event.at.div_euclid(HOUR)).or_default();
        let Some(seen) = self.sessions.get_mut(session) else { return };
        seen.events = event.session_seq;
        seen.last_at = event.at;
        seen.has_ended = false;
        match &event.draft {
            Draft::Began { model, parent, .. } => {
                seen.model = model.clone().or_else(|| seen.model.take());
                seen.parent = parent.clone().or_else(|| seen.parent.take());
            }
            Draft::Opened(opened) => {
                seen.opened += 1;
                if !opened.links.speculative {
                    seen.calls += 1;
                    hour.calls += 1;
                }
                if seen.model.is_none() {
                    seen.model.clone_from(&opened.model);
                }
            }
            Draft::Closed(closed) => {
                seen.closed += 1;
                hour.failed += u64::from(!closed.status.succeeded());
            }
            Draft::Rejected(_) => {
                seen.calls += 1;
                seen.rejected += 1;
                hour.calls += 1;
                hour.rejected += 1;
            }
            Draft::Judged { findings, .. } => {
                let found = u64::from(findings.as_array().is_some_and(|all| !all.is_empty()));
                seen.answers += 1;
                seen.answers_with_findings += found;
                hour.answers += 1;
                hour.answers_with_findings += found;
            }
            Draft::Said(_) => seen.messages += 1,
            Draft::Ended => seen.has_ended = true,
            _ => {}
        }
        if self.hours.len() > MOST_HOURS {
            self.hours.pop_first();
        }
    }

    /// Adds an event to the lists that show it.
    fn list_event(&mut self, event: &Event, place: EventPlace) {
        match &event.draft {
            Draft::Opened(opened) => {
                self.receipts.push(place);
                self.ran((place.session, opened.arguments_digest));
            }
            Draft::Rejected(rejected) => {
                self.receipts.push(place);
                self.rejections.push(place);
                self.denied(rejected, place, event.session_seq);
            }
            Draft::Approved(approved) => {
                self.decisions.push(place);
                let for_session = approved.lasts == Lasts::Session;
                let state = DecisionState::Granted { for_session };
                let call = (place.session, approved.arguments_digest);
                self.decided(call, state, approved.until, event.session_seq);
            }
            Draft::Declined(declined) => {
                self.decisions.push(place);
                let call = (place.session, declined.arguments_digest);
                self.decided(call, DecisionState::Refused, None, event.session_seq);
            }
            Draft::Judged { .. } => self.answers.push(place),
            _ => {}
        }
    }

    /// Records a denied call, which either needs a person's decision or cannot be approved.
    fn denied(&mut self, rejected: &Rejected, place: EventPlace, seen: u64) {
        let call = (place.session, rejected.call.arguments_digest);
        let state = if rejected.waits_for_approval() {
            DecisionState::Waiting
        } else if rejected.was_declined() {
            DecisionState::Refused
        } else {
            self.decisions_on.remove(&call);
            return;
        };
        let EventPlace { seq, session } = place;
        let execution_id = rejected.call.execution_id.clone();
        let until = None;
        let decided = CallOfPerson { seq, execution_id, session, state, until, seen };
        self.decisions_on.insert(call, decided);
    }

    /// Records that a call ran, which uses up a one-time approval.
    fn ran(&mut self, call: (usize, Digest)) {
        let granted = DecisionState::Granted { for_session: true };
        if self.decisions_on.get(&call).is_some_and(|known| known.state != granted) {
            self.decisions_on.remove(&call);
        }
    }

    fn decided(
        &mut self,
        call: (usize, Digest),
        state: DecisionState,
        until: Option<i64>,
        seen: u64,
    ) {
        if let Some(known) = self.decisions_on.get_mut(&call) {
            (known.state, known.until, known.seen) = (state, until, seen);
        }
    }

    fn session_of(&mut self, event: &Event) -> usize {
        if let Some(at) = self.by_name.get(&event.session) {
            return *at;
        }
        let at = self.sessions.len();
        self.by_name.insert(event.session.clone(), at);
        let (id, began_at) = (event.session.clone(), event.at);
        self.sessions.push(SessionSeen { id, began_at, ..SessionSeen::default() });
        at
    }
}
