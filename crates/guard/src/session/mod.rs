//! One conversation of one agent: what is recorded of it (`record.rs`), which calls it made
//! (`calls.rs`), how its model makes them (`conduct.rs`), and what runs of it in this process
//! (`running.rs`).

mod calls;
mod conduct;
mod record;
mod running;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_admission::{Ending, Fixation, FixationEvent, Step, StreakInfo};
use counterfoil_ledger::{
    AppendError, Draft, Event, Phase, ReadLedgerError, Requested, TraceContext, TrustLevel,
};
use counterfoil_model::{PermitBasis, Transcript};
use counterfoil_tools::{RecentCall, ResultCacheSettings, Scene, ToolResultCache};

use crate::guard::{BeginSessionError, Guard, WeakGuard};
use crate::repeated::remembered;
use crate::speculation::{SpeculationEngine, SpeculationSettings};

pub(crate) use conduct::Conduct;
pub(crate) use record::Record;
pub(crate) use running::Running;

/// One conversation of one agent. Cheap to clone; every clone is the same session.
///
/// All state of a session lives here or in the ledger: nothing is global.
#[derive(Clone)]
pub struct Session {
    guard: Guard,
    shared: Arc<Shared>,
}

/// A session whose guard someone else holds: for tools that make calls themselves and belong to
/// that guard.
#[derive(Clone)]
pub struct WeakSession {
    guard: WeakGuard,
    shared: Arc<Shared>,
}

impl WeakSession {
    /// The session, while its guard exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<Session> {
        Some(Session { guard: self.guard.upgrade()?, shared: Arc::clone(&self.shared) })
    }
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
    record: Mutex<Record>,
    conduct: Mutex<Conduct>,
    running: Mutex<Running>,
}

/// What a session does about results of calls that only read.
#[derive(Clone, Copy)]
pub(crate) struct ReadSettings {
    pub(crate) cache: ResultCacheSettings,
    pub(crate) speculation: SpeculationSettings,
}

impl Session {
    pub(crate) fn begin(
        guard: &Guard,
        id: String,
        start: SessionStart,
    ) -> Result<Self, BeginSessionError> {
        let (ledger, tools) = (guard.ledger(), guard.toolset());
        let mut record = Record::new(&id);
        record.catch_up(&id, ledger)?;
        record.calls.made = ledger.calls_made(&id)?;
        let mut fixation = Fixation::new(guard.settings().fixation.clone());
        // What other processes did in this session counts as well.
        if record.calls.made > 0 {
            (fixation, _) = remembered(ledger, &id, None, fixation)?;
        }
        if record.tools() != Some(tools.digest) {
            let (model, parent) = (start.model.clone(), start.parent.clone());
            let at = guard.clock().wall();
            let draft = Draft::Began { tools: tools.digest, model, parent, at };
            let event = ledger.append(&id, draft, vec![tools.list.clone()]).wait()?;
            record.note(event, vec![tools.list.clone()]);
        }
        record.listed = Some(tools.digest);
        Ok(Self::with(guard, id, start, record, Conduct::knowing(fixation)))
    }

    /// A session whose calls a host executes. Its past is read when it is asked for; here only as
    /// far as the gates need it: how many calls were made, and, if they depend on that, which
    /// tools completed. The host's tools are not known to the end, so no list of them is recorded.
    pub(crate) fn hosted(
        guard: &Guard,
        id: String,
        start: SessionStart,
    ) -> Result<Self, BeginSessionError> {
        let (ledger, policy) = (guard.ledger(), guard.policy());
        let mut record = Record::new(&id);
        if policy.settings.dependencies.is_enabled() || policy.settings.trust.taints() {
            record.catch_up(&id, ledger)?;
        }
        record.calls.made = ledger.calls_made(&id)?;
        let conduct = Conduct::new(Fixation::new(guard.settings().fixation.clone()));
        Ok(Self::with(guard, id, start, record, conduct))
    }

    fn with(
        guard: &Guard,
        id: String,
        start: SessionStart,
        record: Record,
        conduct: Conduct,
    ) -> Self {
        let (guard, reads) = (guard.clone(), guard.settings().reads());
        let environment = Arc::new(start.environment.clone());
        let cache = ToolResultCache::new(reads.cache);
        let speculation = SpeculationEngine::new(reads.speculation);
        let (record, conduct) = (Mutex::new(record), Mutex::new(conduct));
        let running = Mutex::default();
        let shared =
            Shared { id, start, environment, cache, speculation, record, conduct, running };
        Self { guard, shared: Arc::new(shared) }
    }

    /// The guard that it belongs to.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The session for a tool that its guard holds.
    #[must_use]
    pub fn downgrade(&self) -> WeakSession {
        WeakSession { guard: self.guard.downgrade(), shared: Arc::clone(&self.shared) }
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
        self.conduct().fixation.streak_info()
    }

    /// What was repeated without progress so far.
    #[must_use]
    pub fn repetitions(&self) -> Vec<FixationEvent> {
        self.conduct().fixation.events().to_vec()
    }

    /// The same as text.
    #[must_use]
    pub fn repetition_report(&self) -> String {
        self.conduct().fixation.report()
    }

    /// What was rejected in this session since this process joined it.
    #[must_use]
    pub fn rejections(&self) -> counterfoil_admission::RejectionCounts {
        self.conduct().rejections.counts().clone()
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

    /// What is known of what was said and done.
    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        locked(&self.shared.record)
    }

    /// How the model makes its calls.
    pub(crate) fn conduct(&self) -> MutexGuard<'_, Conduct> {
        locked(&self.shared.conduct)
    }

    /// The executions of this process.
    pub(crate) fn running(&self) -> MutexGuard<'_, Running> {
        locked(&self.shared.running)
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
        let mut record = self.record();
        record.fill_gaps(&self.shared.id, guard.ledger());
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
            tainted_by: trust.stranger(&record.calls.answered).cloned(),
            environment,
            tools: Arc::clone(&guard.toolset().names),
            completed: Arc::clone(&record.calls.completed),
            mentioned: Arc::clone(&record.mentioned),
            recent: Arc::clone(&record.calls.recent),
            calls_made: record.calls.made,
        }
    }

    /// Takes note of an event that this process wrote.
    pub(crate) fn note(&self, event: Event, stored: Vec<Vec<u8>>) {
        self.record().note(event, stored);
    }

    /// For a session of very many calls: this process does not keep them in memory. What was said
    /// and done is read from the ledger when it is asked for.
    pub fn keep_lean(&self) {
        self.record().lean = true;
    }

    /// The whole session as a transcript, with what other processes wrote meanwhile:
    /// what [`crate::export`] writes and `counterfoil check` reads.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub fn transcript(&self) -> Result<Transcript, ReadLedgerError> {
        let mut record = self.record();
        record.catch_up(&self.shared.id, self.guard.ledger())?;
        Ok(record.transcript().clone())
    }

    /// Ends the session: what still runs of it in the background ends, and its record is signed to
    /// here.
    ///
    /// # Errors
    /// When that cannot be recorded.
    pub async fn end(&self) -> Result<(), AppendError> {
        self.guard.session_ends().iter().for_each(|end| end(self.id()));
        self.guard.ledger().append(self.id(), Draft::Ended, Vec::new()).await.map(drop)
    }

    /// Forgets what the session learned about its calls: completed tools, repetitions and cached
    /// results. What is recorded stays, and that it was cleared is recorded, too.
    ///
    /// # Errors
    /// When that cannot be recorded; then nothing is forgotten.
    pub async fn clear(&self) -> Result<(), AppendError> {
        let event = self.guard.ledger().append(self.id(), Draft::Cleared, Vec::new()).await?;
        self.note(event, Vec::new());
        self.cache().clear();
        self.record().calls.forget();
        self.conduct().fixation.reset();
        Ok(())
    }

    /// Takes note of how a call went; returns what to say to a model that repeats itself.
    pub(crate) fn went(&self, step: Step<'_>) -> Option<String> {
        if step.ending == Ending::Succeeded {
            self.record().calls.complete(step.tool);
        }
        self.conduct().went(step)
    }
}

/// Every change under these locks is made in one step, so a poisoned one is taken all the same.
fn locked<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
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

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.shared.id).finish_non_exhaustive()
    }
}
