use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use counterfoil_judge::AnswerJudge;
use counterfoil_ledger::{
    AuditLog, Clock, Ledger, OpenAuditError, OpenLedgerError, Randomness, SystemClock,
    SystemRandomness,
};
use counterfoil_redact::Redactor;
use counterfoil_tools::{FilterPipeline, ToolEvents};

use crate::executor::{CompositeExecutor, ErasedToolExecutor, OverflowExecutor, TwoOwners};
use crate::gate::Approvals;
use crate::guard::{Guard, Parts, Policy};
use crate::offer::LastFilter;
use crate::ports::{Approver, Completion, Embedder, SessionEnd};
use crate::settings::GuardSettings;
use crate::state::StateFolder;
use crate::toolset::Toolset;

/// Builds a guard. Whatever is not configured is closed: no tools, no approver.
#[derive(Default)]
pub struct GuardBuilder {
    state: Option<StateFolder>,
    ledger: Option<Ledger>,
    executors: Vec<Arc<dyn ErasedToolExecutor>>,
    read_overflow: bool,
    grows: bool,
    approver: Option<Arc<dyn Approver>>,
    judge: Option<Arc<dyn Completion>>,
    answer_judge: Option<Arc<dyn AnswerJudge>>,
    reformatter: Option<Arc<dyn Completion>>,
    embedder: Option<Arc<dyn Embedder>>,
    clock: Option<Arc<dyn Clock>>,
    randomness: Option<Arc<dyn Randomness>>,
    workspace: Option<PathBuf>,
    session_ends: Vec<SessionEnd>,
    settings: Option<GuardSettings>,
}

/// Why a guard could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildGuardError {
    /// The ledger cannot be opened.
    #[error(transparent)]
    Ledger(#[from] OpenLedgerError),
    /// The audit log cannot be opened.
    #[error(transparent)]
    Audit(#[from] OpenAuditError),
    /// Two executors claim one tool.
    #[error(transparent)]
    TwoOwners(#[from] TwoOwners),
    /// The folder to which commands and files are confined cannot be used.
    #[error("the workspace `{path}` cannot be used: {reason}")]
    Workspace {
        /// The folder.
        path: String,
        /// Why not.
        reason: String,
    },
}

impl Guard {
    /// Starts a builder. It is the only way to create a guard.
    #[must_use]
    pub fn builder() -> GuardBuilder {
        GuardBuilder::default()
    }
}

impl GuardBuilder {
    /// Keeps the ledger, audit log and keys in this folder. Without it, everything is kept in
    /// memory until the guard is dropped, and there is no audit log.
    #[must_use]
    pub fn state(mut self, folder: StateFolder) -> Self {
        self.state = Some(folder);
        self
    }

    /// Records events in this ledger instead of the one in the state folder.
    #[must_use]
    pub fn ledger(mut self, ledger: impl Into<Ledger>) -> Self {
        self.ledger = Some(ledger.into());
        self
    }

    /// Adds the tools of an executor.
    #[must_use]
    pub fn executor(mut self, executor: impl ErasedToolExecutor + 'static) -> Self {
        self.executors.push(Arc::new(executor));
        self
    }

    /// Adds the tool `read_overflow`, with which an agent reads long results of its own session
    /// piece by piece.
    #[must_use]
    pub fn read_overflow(mut self) -> Self {
        self.read_overflow = true;
        self
    }

    /// Allows the guard to start without tools. They are registered while it runs, and a host does
    /// not run tools of its own.
    #[must_use]
    pub fn growing(mut self) -> Self {
        self.grows = true;
        self
    }

    /// Sets the approver that is asked when a gate asks.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets the model that judges calls by policies in plain language, if the settings enable that.
    #[must_use]
    pub fn judge(mut self, judge: Arc<dyn Completion>) -> Self {
        self.judge = Some(judge);
        self
    }

    /// Sets the judge that reads answers in addition to the rules, in
    /// [`Session::verify`](crate::Session::verify).
    #[must_use]
    pub fn answer_judge(mut self, judge: Arc<dyn AnswerJudge>) -> Self {
        self.answer_judge = Some(judge);
        self
    }

    /// Sets the model that is asked once to rewrite arguments that do not fit their tool, if the
    /// settings enable that.
    #[must_use]
    pub fn reformatter(mut self, reformatter: Arc<dyn Completion>) -> Self {
        self.reformatter = Some(reformatter);
        self
    }

    /// Sets the embedding model that ranks tools for a request, if the settings enable that.
    /// Without it, tools are ranked by words alone.
    #[must_use]
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Replaces the system clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Replaces the system's source of randomness.
    #[must_use]
    pub fn randomness(mut self, randomness: Arc<dyn Randomness>) -> Self {
        self.randomness = Some(randomness);
        self
    }

    /// Sets the root of the project. Without it, executors that need one refuse to run.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }

    /// Registers a callback for the end of each session, so that callers can drop what they keep
    /// for it.
    #[must_use]
    pub fn at_session_end(mut self, end: SessionEnd) -> Self {
        self.session_ends.push(end);
        self
    }

    /// Sets all configurable settings.
    #[must_use]
    pub fn settings(mut self, settings: GuardSettings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Builds the guard.
    ///
    /// # Errors
    /// When the ledger or audit log cannot be opened, the workspace cannot be used, or two
    /// executors claim one tool.
    pub fn build(self) -> Result<Guard, BuildGuardError> {
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::default()));
        let randomness = self.randomness.unwrap_or_else(|| Arc::new(SystemRandomness));
        let settings = self.settings.unwrap_or_default();
        // A guard whose host runs every tool has no approver to ask for confirmations.
        let hosted = self.executors.is_empty() && !self.grows;
        let (ledger, mut notices) = match (self.ledger, &self.state) {
            (Some(ledger), _) => (ledger, Vec::new()),
            (None, None) => {
                (Ledger::in_memory(Arc::clone(&clock), Arc::clone(&randomness))?, Vec::new())
            }
            (None, Some(folder)) => Ledger::open(
                &folder.ledger(),
                settings.ledger.clone(),
                Arc::clone(&clock),
                Arc::clone(&randomness),
            )?,
        };
        notices.extend(settings.dependencies.notice());
        let audit = self.state.as_ref().map(|folder| {
            AuditLog::open(&folder.audit(), settings.audit.clone(), Arc::clone(&clock))
        });
        let audit = audit.transpose()?;
        let mut executors = self.executors;
        if self.read_overflow {
            let most = settings.overflow.max_chars;
            executors.push(Arc::new(OverflowExecutor::new(ledger.clone(), most)));
        }
        let executor = CompositeExecutor::in_order(settings.executors.clone(), executors)?;
        let tools = Toolset::new(&executor, &settings.admission);
        let executor = Arc::new(executor);
        let confirming = (!hosted).then(|| Arc::clone(&executor));
        let policy = Policy::new(settings.clone(), confirming, self.judge.is_some());
        Ok(Guard::from_parts(Parts {
            tools: ArcSwap::from_pointee(tools),
            registering: Mutex::new(()),
            for_host: hosted,
            policy: ArcSwap::from_pointee(policy),
            approvals: Approvals::new(Arc::clone(&clock), settings.approval_lifetime)
                .and_of(ledger.clone()),
            approver: self.approver,
            judge: self.judge,
            answer_judge: self.answer_judge,
            reformatter: self.reformatter,
            embedder: self.embedder,
            last_filter: LastFilter::default(),
            executor,
            ledger,
            audit,
            redactor: Redactor::standard(),
            filters: FilterPipeline::new(&settings.filters),
            clock,
            randomness,
            workspace: self.workspace.unwrap_or_default(),
            session_ends: self.session_ends,
            events: ToolEvents::default(),
            settings,
            notices,
        }))
    }
}
