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
use crate::ports::{Approver, Completion, Embedder};
use crate::settings::GuardSettings;
use crate::state::StateFolder;
use crate::toolset::Toolset;

/// Called with the id of a session that has ended.
pub type SessionEnd = Arc<dyn Fn(&str) + Send + Sync>;

/// Puts a guard together. What is not said is closed: no tool, no approver.
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

/// A guard could not be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildGuardError {
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] OpenLedgerError),
    /// The audit log.
    #[error(transparent)]
    Audit(#[from] OpenAuditError),
    /// Two executors claim one tool.
    #[error(transparent)]
    TwoOwners(#[from] TwoOwners),
    /// There is no folder that commands and files could be confined to.
    #[error("the workspace `{path}` cannot be used: {reason}")]
    Workspace {
        /// The folder.
        path: String,
        /// Why not.
        reason: String,
    },
}

impl Guard {
    /// The only way to a guard.
    #[must_use]
    pub fn builder() -> GuardBuilder {
        GuardBuilder::default()
    }
}

impl GuardBuilder {
    /// Keeps ledger, audit log and keys in this folder. Without it all is kept in memory and gone
    /// with the guard, and there is no audit log.
    #[must_use]
    pub fn state(mut self, folder: StateFolder) -> Self {
        self.state = Some(folder);
        self
    }

    /// Keeps what happens in this ledger, not in one of the state folder.
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

    /// Adds the tool `read_overflow`, with which an agent reads long results of its own session in
    /// pieces.
    #[must_use]
    pub fn read_overflow(mut self) -> Self {
        self.read_overflow = true;
        self
    }

    /// It may begin without a tool: its tools are registered while it runs, and a host runs none of
    /// its own.
    #[must_use]
    pub fn growing(mut self) -> Self {
        self.grows = true;
        self
    }

    /// Whom to ask when a gate asks.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// The model that judges calls by policies in plain language, where the settings want that.
    #[must_use]
    pub fn judge(mut self, judge: Arc<dyn Completion>) -> Self {
        self.judge = Some(judge);
        self
    }

    /// The judge that reads answers beside the rules, in [`Session::verify`](crate::Session::verify).
    #[must_use]
    pub fn answer_judge(mut self, judge: Arc<dyn AnswerJudge>) -> Self {
        self.answer_judge = Some(judge);
        self
    }

    /// The model that is asked once to rewrite arguments that do not fit their tool, where the
    /// settings name one.
    #[must_use]
    pub fn reformatter(mut self, reformatter: Arc<dyn Completion>) -> Self {
        self.reformatter = Some(reformatter);
        self
    }

    /// The model for meanings, by which a request chooses among many tools where the settings want
    /// that. Without it, words alone decide.
    #[must_use]
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Another clock than the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Another source of randomness than the system's.
    #[must_use]
    pub fn randomness(mut self, randomness: Arc<dyn Randomness>) -> Self {
        self.randomness = Some(randomness);
        self
    }

    /// The project's root. Without it, executors that need one refuse to run.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }

    /// Called with the id of each session that is ended: whoever keeps something for a session
    /// lets go of it.
    #[must_use]
    pub fn at_session_end(mut self, end: SessionEnd) -> Self {
        self.session_ends.push(end);
        self
    }

    /// Everything that can be configured.
    #[must_use]
    pub fn settings(mut self, settings: GuardSettings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// The guard.
    ///
    /// # Errors
    /// When its record cannot be kept, or two executors claim one tool.
    pub fn build(self) -> Result<Guard, BuildGuardError> {
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::default()));
        let randomness = self.randomness.unwrap_or_else(|| Arc::new(SystemRandomness));
        let settings = self.settings.unwrap_or_default();
        // A guard whose host runs every tool has nobody to ask what wants a confirmation.
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
        let tools = Toolset::of(&executor, &settings.admission);
        let executor = Arc::new(executor);
        let confirming = (!hosted).then(|| Arc::clone(&executor));
        let policy = Policy::of(settings.clone(), confirming, self.judge.is_some());
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
