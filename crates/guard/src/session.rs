use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_admission::{
    Corrections, Ending, Fixation, FixationEvent, FixationSettings, RejectionLog, Step, StreakInfo,
};
use counterfoil_ledger::{
    Draft, Event, Ledger, Opened, Phase, ReadLedgerError, Requested, TraceContext, TrustLevel,
};
use counterfoil_model::{Arguments, Digest, PermitBasis, Role, Transcript};
use counterfoil_tools::{RecentCall, ResultCacheSettings, Scene, ToolResultCache};
use futures_util::future::AbortHandle;

use crate::guard::{BeginSessionError, Guard};
use crate::heard::Heard;
use crate::repeated::remembered;
use crate::speculation::{SpeculationEngine, SpeculationSettings};
use crate::timeline::Timeline;
use crate::toolset::Toolset;

/// How many executions a session remembers by the clock of this process.
const RECENT: usize = 100;

/// How many calls a session remembers to score others by.
const REMEMBERED: usize = 20;

/// One conversation of one agent. Cheap to clone; every clone is the same session.
///
/// All state of a session lives here or in the ledger: nothing is global.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

/// How a session begins.
#[derive(Debug, Clone, Default)]
pub struct SessionStart {
    /// Its id; `None` makes one. The id of an earlier session goes on with that one.
    pub id: Option<String>,
    /// The model, where known.
    pub model: Option<String>,
    /// The session that it is a part of, where a sub-agent has one of its own.
    pub parent: Option<String>,
    /// How far its sources are trusted.
    pub trust: TrustLevel,
    /// Variables that the host passes on.
    pub environment: BTreeMap<String, String>,
    /// Its calls run out of our sight: a client tells of them.
    pub reported: bool,
}

/// What is particular to one call.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// When in the agent's cycle it is made.
    pub phase: Phase,
    /// Who asked for it.
    pub requested: Requested,
    /// The trust of this turn, where it is less than the session's. More is not possible.
    pub trust: Option<TrustLevel>,
    /// The sub-agent that makes it.
    pub caller: Option<String>,
    /// Where the content that led to it came from.
    pub claim_source: Option<String>,
    /// The execution that this one repeats.
    pub retry_of: Option<String>,
    /// The execution that this one undoes.
    pub rollback_of: Option<String>,
    /// The result is for a program: nothing is left out of it, cut, or added. What is redacted
    /// stays redacted.
    pub verbatim: bool,
    /// Variables for this call, beside those of the session and before them.
    pub environment: BTreeMap<String, String>,
    /// The trace that it belongs to.
    pub trace: Option<TraceContext>,
}

struct Shared {
    id: String,
    start: SessionStart,
    environment: Arc<BTreeMap<String, String>>,
    cache: ToolResultCache,
    speculation: SpeculationEngine,
    state: Mutex<State>,
}

pub(crate) struct State {
    pub(crate) fixation: Fixation,
    /// `fixation` knows what was done before this process joined.
    past_known: bool,
    /// The latest list of tools that its record has; `None` where a host's are not listed.
    listed: Option<Digest>,
    pub(crate) heard: Heard,
    pub(crate) rejections: RejectionLog,
    /// Rounds of correction since the user spoke, or a call succeeded.
    pub(crate) corrections: Option<Corrections>,
    /// Executions that are open, with their tools.
    running: BTreeMap<String, String>,
    completed: Arc<BTreeSet<String>>,
    /// Tools whose results the agent has.
    answered: BTreeSet<String>,
    /// Tools that the agent called since the user spoke.
    referenced: BTreeSet<String>,
    /// Tools that the latest message of the user names.
    mentioned: Arc<BTreeSet<String>>,
    /// What ran of late, the newest last.
    recent: Arc<Vec<RecentCall>>,
    calls_made: u64,
    /// When executions of this process began, by the clock that never goes back; the latest.
    begun: VecDeque<(String, Duration)>,
    /// Calls that run and can be cancelled: the id of the receipt and of the call.
    cancellable: Vec<(String, String, AbortHandle)>,
    /// Calls that a host executes and this process opened; the latest.
    handed_over: VecDeque<Opened>,
    timeline: Timeline,
    /// Calls of this process are not kept in the timeline: it is read when it is asked for.
    lean: bool,
    /// The session's sequence number up to which events are in the timeline.
    applied: u64,
    /// Events that came before one that is still missing, with what they stored.
    waiting: BTreeMap<u64, (Event, Vec<Vec<u8>>)>,
}

/// What a session does about results of calls that only read.
#[derive(Clone, Copy)]
pub(crate) struct ReadSettings {
    pub(crate) cache: ResultCacheSettings,
    pub(crate) speculation: SpeculationSettings,
}

impl Session {
    pub(crate) fn begin(
        id: String,
        start: SessionStart,
        tools: &Toolset,
        (fixation, reads): (FixationSettings, ReadSettings),
        ledger: &Ledger,
        now: i64,
    ) -> Result<Self, BeginSessionError> {
        let mut state = State::new(&id, fixation.clone());
        state.catch_up(&id, ledger)?;
        state.calls_made = ledger.calls_made(&id)?;
        // What other processes did in this session counts as well.
        if state.calls_made > 0 {
            (state.fixation, _) = remembered(ledger, &id, None, Fixation::new(fixation))?;
        }
        state.past_known = true;
        if state.timeline.tools() != Some(tools.digest) {
            let (model, parent) = (start.model.clone(), start.parent.clone());
            let draft = Draft::Began { tools: tools.digest, model, parent, at: now };
            let event = ledger.append(&id, draft, vec![tools.list.clone()]).wait()?;
            state.waiting.insert(event.session_seq, (event, vec![tools.list.clone()]));
            state.apply_waiting();
        }
        state.listed = Some(tools.digest);
        Ok(Self::with(id, start, reads, state))
    }

    /// A session whose calls a host executes. Its past is read when it is asked for; here only as
    /// far as the gates need it: how many calls were made, and, if they depend on that, which
    /// tools completed. The host's tools are not known to the end, so no list of them is recorded.
    pub(crate) fn hosted(
        id: String,
        start: SessionStart,
        (fixation, reads): (FixationSettings, ReadSettings),
        ledger: &Ledger,
        dependencies: bool,
    ) -> Result<Self, BeginSessionError> {
        let mut state = State::new(&id, fixation);
        if dependencies {
            state.catch_up(&id, ledger)?;
        }
        state.calls_made = ledger.calls_made(&id)?;
        Ok(Self::with(id, start, reads, state))
    }

    fn with(id: String, start: SessionStart, reads: ReadSettings, state: State) -> Self {
        let environment = Arc::new(start.environment.clone());
        let (cache, state) = (ToolResultCache::new(reads.cache), Mutex::new(state));
        let speculation = SpeculationEngine::new(reads.speculation);
        Self { shared: Arc::new(Shared { id, start, environment, cache, speculation, state }) }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// The model, where known.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.shared.start.model.as_deref()
    }

    /// On what calls run that we do not execute.
    pub(crate) fn host_basis(&self) -> PermitBasis {
        if self.shared.start.reported { PermitBasis::Reported } else { PermitBasis::Host }
    }

    /// The session that it is a part of, where a sub-agent has one of its own.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        self.shared.start.parent.as_deref()
    }

    /// Where the current streak of one tool stands.
    #[must_use]
    pub fn streak(&self) -> StreakInfo {
        self.state().fixation.streak_info()
    }

    /// What was repeated without progress so far.
    #[must_use]
    pub fn repetitions(&self) -> Vec<FixationEvent> {
        self.state().fixation.events().to_vec()
    }

    /// The same as text.
    #[must_use]
    pub fn repetition_report(&self) -> String {
        self.state().fixation.report()
    }

    /// What was rejected in this session since this process joined it.
    #[must_use]
    pub fn rejections(&self) -> counterfoil_admission::RejectionCounts {
        self.state().rejections.counts().clone()
    }

    /// Results of this session that are given again.
    #[must_use]
    pub fn cache(&self) -> &ToolResultCache {
        &self.shared.cache
    }

    /// Its calls that run ahead.
    #[must_use]
    pub(crate) fn speculation(&self) -> &SpeculationEngine {
        &self.shared.speculation
    }

    /// A poisoned lock is taken all the same: every change under it is made in one step.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a call is judged in; `with` sees it.
    pub(crate) fn scene<'s>(
        &'s self,
        held: &'s Held,
        around: &'s Surroundings,
        workspace: &'s Path,
        now: i64,
    ) -> Scene<'s> {
        let own = self.shared.start.trust;
        let own = if held.tainted_by.is_some() { TrustLevel::Untrusted } else { own };
        Scene {
            session: &self.shared.id,
            phase: around.phase,
            trust: around.trust.map_or(own, |trust| trust.min(own)),
            tainted_by: held.tainted_by.as_deref(),
            caller: around.caller.as_deref(),
            model: self.model(),
            requested: around.requested,
            workspace,
            environment: &held.environment,
            calls_made: held.calls_made,
            completed: &held.completed,
            tools: &held.tools,
            mentioned: &held.mentioned,
            recent: &held.recent,
            claim_source: around.claim_source.as_deref(),
            trace: around.trace.as_ref(),
            now,
        }
    }

    /// What a scene borrows from the session, as it is now.
    pub(crate) fn hold(&self, guard: &Guard, around: &Surroundings) -> Held {
        let mut state = self.state();
        // Something is missing that this process did not note: another one wrote it, or it was
        // written for a call that was given up. What cannot be read now is asked for again.
        if !state.waiting.is_empty() {
            drop(state.catch_up(&self.shared.id, guard.ledger()));
        }
        let own = &self.shared.environment;
        let environment = match around.environment.is_empty() {
            true => Arc::clone(own),
            false => {
                let mut environment = around.environment.clone();
                own.iter().for_each(|(name, value)| {
                    environment.entry(name.clone()).or_insert_with(|| value.clone());
                });
                Arc::new(environment)
            }
        };
        let trust = &guard.policy().settings.trust;
        Held {
            tainted_by: trust.stranger(&state.answered).cloned(),
            environment,
            tools: Arc::clone(&guard.toolset().names),
            completed: Arc::clone(&state.completed),
            mentioned: Arc::clone(&state.mentioned),
            recent: Arc::clone(&state.recent),
            calls_made: state.calls_made,
        }
    }

    /// Tools that the agent called since the user spoke.
    pub(crate) fn referenced(&self) -> BTreeSet<String> {
        self.state().referenced.clone()
    }

    /// Takes note of when an execution began.
    pub(crate) fn began(&self, execution_id: &str, monotonic: Duration) {
        let mut state = self.state();
        state.begun.push_back((execution_id.to_owned(), monotonic));
        if state.begun.len() > RECENT {
            state.begun.pop_front();
        }
    }

    pub(crate) fn begin_cancellable(&self, execution_id: &str, call_id: &str, by: AbortHandle) {
        let ids = (execution_id.to_owned(), call_id.to_owned());
        self.state().cancellable.push((ids.0, ids.1, by));
    }

    pub(crate) fn end_cancellable(&self, execution_id: &str) {
        self.state().cancellable.retain(|(id, ..)| id != execution_id);
    }

    /// What cancels the calls of this id, of the call or the receipt.
    pub(crate) fn cancellable(&self, id: &str) -> Vec<AbortHandle> {
        let state = self.state();
        let named = |(execution_id, call_id, _): &&(String, String, AbortHandle)| {
            !id.is_empty() && (execution_id == id || call_id == id)
        };
        state.cancellable.iter().filter(named).map(|(.., by)| by.clone()).collect()
    }

    /// Whether the session's record has another list of tools than this.
    pub(crate) fn lists_others(&self, tools: Digest) -> bool {
        self.state().listed.is_some_and(|listed| listed != tools)
    }

    /// Takes note that its record has this list of tools.
    pub(crate) fn lists(&self, tools: Digest) {
        self.state().listed = Some(tools);
    }

    /// Takes note of a call that a host executes now.
    pub(crate) fn hand_over(&self, opened: Opened) {
        let mut state = self.state();
        state.handed_over.push_back(opened);
        if state.handed_over.len() > RECENT {
            state.handed_over.pop_front();
        }
    }

    /// A call that a host executed, if it is a recent one that this process opened; once.
    pub(crate) fn handed_over(&self, call_id: &str) -> Option<Opened> {
        let handed_over = &mut self.state().handed_over;
        let at = handed_over.iter().rposition(|opened| opened.call_id == call_id)?;
        handed_over.remove(at)
    }

    /// `fixation` knows what was done before this process joined.
    pub(crate) fn past_known(&self) -> bool {
        self.state().past_known
    }

    /// Takes note of what was done before this process joined.
    pub(crate) fn know_past(&self, fixation: Fixation) {
        let mut state = self.state();
        state.fixation = fixation;
        state.past_known = true;
    }

    /// When an execution began, if it is a recent one of this process.
    pub(crate) fn begun(&self, execution_id: &str) -> Option<Duration> {
        let state = self.state();
        let found = state.begun.iter().rev().find(|(id, _)| id == execution_id);
        found.map(|(_, monotonic)| *monotonic)
    }

    /// Takes note of an event that this process wrote.
    pub(crate) fn note(&self, event: Event, stored: Vec<Vec<u8>>) {
        let mut state = self.state();
        if matches!(&event.draft, Draft::Opened(opened) if !opened.links.speculative) {
            state.calls_made += 1;
        }
        if state.lean {
            state.count(&event.draft);
            return;
        }
        state.waiting.insert(event.session_seq, (event, stored));
        state.apply_waiting();
    }

    /// For a session of very many calls: this process does not keep them in memory. What was said
    /// and done is read from the ledger when it is asked for.
    pub fn keep_lean(&self) {
        self.state().lean = true;
    }

    /// The whole session as a transcript, with what other processes wrote meanwhile.
    pub(crate) fn transcript(&self, ledger: &Ledger) -> Result<Transcript, ReadLedgerError> {
        let mut state = self.state();
        state.catch_up(&self.shared.id, ledger)?;
        Ok(state.timeline.transcript().clone())
    }

    /// Takes note of how a call went.
    pub(crate) fn went(
        &self,
        tool: &str,
        arguments: &Arguments,
        result: &str,
        ending: Ending,
        writes: Option<bool>,
    ) -> Option<String> {
        let mut state = self.state();
        if ending == Ending::Succeeded {
            Arc::make_mut(&mut state.completed).insert(tool.to_owned());
            state.corrections = None;
        }
        state.fixation.record(Step { tool, arguments, result, ending, writes })
    }

    /// Takes note of a call that ran. One that may have changed something makes what was read
    /// before it old.
    pub(crate) fn ran(&self, call: RecentCall, wrote: bool) {
        let mut state = self.state();
        let recent = Arc::make_mut(&mut state.recent);
        if wrote {
            recent.iter_mut().for_each(|call| call.outdated = true);
        }
        recent.push(call);
        if recent.len() > REMEMBERED {
            recent.remove(0);
        }
    }

    /// Forgets what the session learned about its calls: completed tools, repetitions and cached
    /// results. What is recorded stays.
    pub(crate) fn clear(&self) {
        self.cache().clear();
        let mut state = self.state();
        state.completed = Arc::default();
        state.answered.clear();
        state.recent = Arc::default();
        state.fixation.reset();
    }
}

/// What a scene borrows.
pub(crate) struct Held {
    tainted_by: Option<String>,
    environment: Arc<BTreeMap<String, String>>,
    pub(crate) tools: Arc<BTreeSet<String>>,
    pub(crate) completed: Arc<BTreeSet<String>>,
    pub(crate) mentioned: Arc<BTreeSet<String>>,
    recent: Arc<Vec<RecentCall>>,
    calls_made: u64,
}

impl State {
    fn new(id: &str, fixation: FixationSettings) -> Self {
        Self {
            fixation: Fixation::new(fixation),
            past_known: false,
            listed: None,
            heard: Heard::default(),
            rejections: RejectionLog::default(),
            corrections: None,
            running: BTreeMap::new(),
            completed: Arc::default(),
            answered: BTreeSet::new(),
            referenced: BTreeSet::new(),
            mentioned: Arc::default(),
            recent: Arc::default(),
            calls_made: 0,
            begun: VecDeque::new(),
            cancellable: Vec::new(),
            handed_over: VecDeque::new(),
            timeline: Timeline::new(id),
            lean: false,
            applied: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// What was said and done, as far as it is known here.
    pub(crate) fn transcript(&self) -> &Transcript {
        self.timeline.transcript()
    }

    fn apply_waiting(&mut self) {
        while let Some((event, stored)) = self.waiting.remove(&(self.applied + 1)) {
            let find = |digest: &Digest| {
                stored.iter().find(|bytes| Digest::of_bytes(bytes) == *digest).cloned()
            };
            self.apply(&event, &find);
        }
    }

    fn apply(&mut self, event: &Event, stored: &dyn Fn(&Digest) -> Option<Vec<u8>>) {
        let before = self.timeline.transcript().messages.len();
        self.timeline.apply(event, stored);
        self.applied = event.session_seq;
        self.count(&event.draft);
        let messages = self.timeline.transcript().messages.iter().enumerate();
        for (at, message) in messages.skip(before) {
            self.heard.message(at, message);
            if message.role == Role::User {
                let catalog = &self.timeline.transcript().catalog;
                let named = catalog.iter().filter(|tool| message.text.contains(&tool.name));
                self.mentioned = Arc::new(named.map(|tool| tool.name.clone()).collect());
            }
        }
    }

    /// Takes note of which tools run and completed.
    fn count(&mut self, draft: &Draft) {
        match draft {
            Draft::Said(said) if said.role == Role::User && said.caller_id.is_none() => {
                self.referenced.clear();
            }
            Draft::Rejected(rejected) => {
                self.referenced.insert(rejected.call.tool.clone());
            }
            // Nobody made that call.
            Draft::Opened(opened) if opened.links.speculative => {}
            Draft::Opened(opened) => {
                self.referenced.insert(opened.tool.clone());
                self.running.insert(opened.execution_id.clone(), opened.tool.clone());
            }
            Draft::Closed(closed) => {
                let tool = self.running.remove(&closed.execution_id);
                if let Some(tool) = tool.as_ref().filter(|tool| !self.answered.contains(*tool)) {
                    self.answered.insert(tool.clone());
                }
                let tool =
                    tool.filter(|tool| closed.status.succeeded() && !self.completed.contains(tool));
                if let Some(tool) = tool {
                    Arc::make_mut(&mut self.completed).insert(tool);
                }
            }
            Draft::Cleared => {
                self.completed = Arc::default();
                self.answered.clear();
            }
            _ => {}
        }
    }

    /// Reads what is in the ledger and not yet here.
    fn catch_up(&mut self, session: &str, ledger: &Ledger) -> Result<(), ReadLedgerError> {
        for event in ledger.events_after(session, self.applied)? {
            let find = |digest: &Digest| ledger.result(digest).ok().flatten();
            self.apply(&event, &find);
            self.waiting.remove(&event.session_seq);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.shared.id).finish_non_exhaustive()
    }
}
