//! A conversation of one agent, which `begin.rs` begins or continues. Its parts are what is recorded
//! of it (`record.rs`), which calls it made (`calls.rs`), how its model makes calls (`conduct.rs`),
//! and its executions in this process (`running.rs`).

mod begin;
mod calls;
mod conduct;
mod record;
mod running;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_admission::{Ending, FixationEvent, Step, StreakInfo};
use counterfoil_ledger::{
    AppendError, Draft, Event, Phase, ReadLedgerError, Receipt, Requested, TraceContext, TrustLevel,
};
use counterfoil_model::{PermitBasis, Status, Transcript};
use counterfoil_tools::{RecentCall, Scene, ToolResultCache};

use crate::guard::{Guard, WeakGuard};
use crate::speculation::SpeculationEngine;

pub use begin::BeginSessionError;
pub(crate) use calls::Calls;
pub(crate) use conduct::Conduct;
pub(crate) use record::Record;
pub(crate) use running::Running;

/// A conversation of one agent. Cheap to clone; every clone is the same session.
///
/// All state of a session is here or in the ledger; none is global.
#[derive(Clone)]
pub struct Session {
    guard: Guard,
    shared: Arc<Shared>,
}

/// A session with a weak reference to its guard, for tools that make calls themselves and belong to
/// that guard.
#[derive(Clone)]
pub struct WeakSession {
    guard: WeakGuard,
    shared: Arc<Shared>,
}

impl WeakSession {
    /// Returns the session, if its guard still exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<Session> {
        Some(Session { guard: self.guard.upgrade()?, shared: Arc::clone(&self.shared) })
    }
}

/// How a session begins.
#[derive(Debug, Clone, Default)]
pub struct SessionStart {
    /// The session's id; `None` creates one. The id of an earlier session continues that session.
    pub id: Option<String>,
    /// The model, if known.
    pub model: Option<String>,
    /// The session that it is part of, if a sub-agent has a session of its own.
    pub parent: Option<String>,
    /// How far its sources are trusted.
    pub trust: TrustLevel,
    /// Environment variables that the host passes on.
    pub environment: BTreeMap<String, String>,
    /// Whether its calls run elsewhere and a client reports them.
    pub reported: bool,
}

/// The circumstances of one call.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The phase of the agent's cycle.
    pub phase: Phase,
    /// Who requested the call.
    pub requested: Requested,
    /// The trust of this turn, if it is lower than the session's. It cannot be higher.
    pub trust: Option<TrustLevel>,
    /// The sub-agent that makes the call.
    pub caller: Option<String>,
    /// The source of the content that led to the call.
    pub claim_source: Option<String>,
    /// The execution that this call retries.
    pub retry_of: Option<String>,
    /// The execution that this call undoes.
    pub rollback_of: Option<String>,
    /// Whether the result is for a program: nothing is removed, cut or added. It is still redacted.
    pub verbatim: bool,
    /// Environment variables for this call. They take precedence over the session's.
    pub environment: BTreeMap<String, String>,
    /// The trace that the call belongs to.
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

impl Session {
    /// The guard of this session.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// A weak reference, for a tool that the guard owns.
    #[must_use]
    pub fn downgrade(&self) -> WeakSession {
        WeakSession { guard: self.guard.downgrade(), shared: Arc::clone(&self.shared) }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// The model, if known.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.shared.start.model.as_deref()
    }

    /// The basis of calls that we do not execute ourselves.
    pub(crate) fn host_basis(&self) -> PermitBasis {
        if self.shared.start.reported { PermitBasis::Reported } else { PermitBasis::Host }
    }

    /// The session that it is part of, if a sub-agent has a session of its own.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        self.shared.start.parent.as_deref()
    }

    /// The current streak of calls to one tool.
    #[must_use]
    pub fn streak(&self) -> StreakInfo {
        self.conduct().fixation.streak_info()
    }

    /// The repetitions without progress so far.
    #[must_use]
    pub fn repetitions(&self) -> Vec<FixationEvent> {
        self.conduct().fixation.events().to_vec()
    }

    /// The repetitions as text.
    #[must_use]
    pub fn repetition_report(&self) -> String {
        self.conduct().fixation.report()
    }

    /// The rejected calls of this session since this process joined it.
    #[must_use]
    pub fn rejections(&self) -> counterfoil_admission::RejectionCounts {
        self.conduct().rejections.counts().clone()
    }

    /// The cache of this session's results.
    #[must_use]
    pub fn cache(&self) -> &ToolResultCache {
        &self.shared.cache
    }

    /// The session's speculative calls.
    #[must_use]
    pub(crate) fn speculation(&self) -> &SpeculationEngine {
        &self.shared.speculation
    }

    /// The recorded messages and calls.
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

    /// The scene in which a call is judged.
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

    /// The data that a scene borrows from the session, in its current state.
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

    /// Adds an event that this process recorded.
    pub(crate) fn note(&self, event: Event, stored: Vec<Vec<u8>>) {
        self.record().note(event, stored);
    }

    /// Keeps this process from holding the session's calls in memory, for sessions with very many
    /// calls. They are read from the ledger when needed.
    pub fn keep_lean(&self) {
        self.record().lean = true;
    }

    /// The whole session as a transcript, including what other processes have recorded:
    /// [`crate::export`] writes it, and `counterfoil check` reads that.
    ///
    /// # Errors
    /// When the session's record cannot be read.
    pub fn transcript(&self) -> Result<Transcript, ReadLedgerError> {
        let mut record = self.record();
        record.catch_up(&self.shared.id, self.guard.ledger())?;
        Ok(record.transcript().clone())
    }

    /// How an execution ended: for a command in the background, what later executions saw of it.
    pub(crate) fn status_of(&self, receipt: &Receipt) -> Result<Status, ReadLedgerError> {
        if receipt.background.is_none() {
            return Ok(receipt.status);
        }
        let mut record = self.record();
        record.catch_up(&self.shared.id, self.guard.ledger())?;
        Ok(record.status_of(&receipt.execution_id).unwrap_or(receipt.status))
    }

    /// Ends the session: its background processes are stopped, and its record is signed up to this
    /// point.
    ///
    /// # Errors
    /// When the end cannot be recorded.
    pub async fn end(&self) -> Result<(), AppendError> {
        self.leave();
        self.guard.ledger().append(self.id(), Draft::Ended, Vec::new()).await.map(drop)
    }

    /// Stops the session's background processes and removes its temporary folder, because this
    /// process works on it no longer. Its record stays open: another process may continue it.
    pub fn leave(&self) {
        self.guard.session_ends().iter().for_each(|end| end(self.id()));
    }

    /// Forgets what the session has learned from its calls: completed tools, repetitions and cached
    /// results. The record stays, and the clearing is recorded, too.
    ///
    /// # Errors
    /// When it cannot be recorded. Nothing is forgotten then.
    pub async fn clear(&self) -> Result<(), AppendError> {
        let event = self.guard.ledger().append(self.id(), Draft::Cleared, Vec::new()).await?;
        self.note(event, Vec::new());
        self.cache().clear();
        self.record().calls.forget();
        self.conduct().fixation.reset();
        Ok(())
    }

    /// Records how a call went. Returns a hint for a model that repeats itself.
    pub(crate) fn went(&self, step: Step<'_>) -> Option<String> {
        if step.ending == Ending::Succeeded {
            self.record().calls.complete(step.tool);
        }
        self.conduct().went(step)
    }
}

/// Every change under these locks is a single step, so a poisoned lock is still usable.
fn locked<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The data that a scene borrows.
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
