use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use counterfoil_admission::{AdmissionSettings, CatalogIssue};
use counterfoil_judge::AnswerJudge;
use counterfoil_ledger::{AppendError, AuditLog, Clock, Ledger, Opened, Randomness};
use counterfoil_model::Catalog;
use counterfoil_redact::Redactor;
use counterfoil_rules::Settings as RuleSettings;
use counterfoil_tools::{FilterMetrics, FilterPipeline, ShellPolicyHandle, ToolEvents};
use jiff::Timestamp;
use serde_json::Value;

use crate::builder::SessionEnd;
use crate::executor::{CompositeExecutor, ErasedToolExecutor};
use crate::gate::{Approvals, Gates};
use crate::offer::LastFilter;
use crate::ports::{Approver, Completion, Embedder};
use crate::retry::RetrySettings;
use crate::session::{Session, SessionStart};
use crate::settings::GuardSettings;
use crate::shown_id::ShowId;
use crate::toolset::Toolset;

/// The one door. Cheap to clone; every clone is the same guard.
///
/// Made by [`Guard::builder`] and by nothing else, so no surface can have a shorter chain.
#[derive(Clone)]
pub struct Guard {
    parts: Arc<Parts>,
}

/// A guard that somebody else holds: for tools that make calls themselves, and are held by it.
#[derive(Clone)]
pub(crate) struct WeakGuard(Weak<Parts>);

impl WeakGuard {
    /// The guard, while it is there.
    pub(crate) fn upgrade(&self) -> Option<Guard> {
        self.0.upgrade().map(|parts| Guard { parts })
    }
}

/// What a guard is made of.
pub(crate) struct Parts {
    pub(crate) tools: ArcSwap<Toolset>,
    /// Held while tools come or go.
    pub(crate) registering: Mutex<()>,
    /// It began without a tool: a host runs its own.
    pub(crate) for_host: bool,
    pub(crate) policy: ArcSwap<Policy>,
    pub(crate) approvals: Approvals,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) judge: Option<Arc<dyn Completion>>,
    pub(crate) answer_judge: Option<Arc<dyn AnswerJudge>>,
    pub(crate) reformatter: Option<Arc<dyn Completion>>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) last_filter: LastFilter,
    pub(crate) executor: Arc<CompositeExecutor>,
    pub(crate) ledger: Ledger,
    pub(crate) audit: Option<AuditLog>,
    pub(crate) redactor: Redactor,
    pub(crate) filters: FilterPipeline,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) randomness: Arc<dyn Randomness>,
    pub(crate) workspace: PathBuf,
    pub(crate) session_ends: Vec<SessionEnd>,
    pub(crate) events: ToolEvents,
    pub(crate) settings: GuardSettings,
    pub(crate) notices: Vec<String>,
}

/// What decides about calls, and is replaced as one while the guard runs.
pub(crate) struct Policy {
    pub(crate) gates: Arc<Gates>,
    /// What the gates go by. Of the rest only what was there in the beginning counts.
    pub(crate) settings: GuardSettings,
}

impl Policy {
    /// `executor`: whom to ask what wants a confirmation; nobody, where a host runs every tool.
    pub(crate) fn of(
        settings: GuardSettings,
        executor: Option<Arc<CompositeExecutor>>,
        judged: bool,
    ) -> Self {
        let gates = settings.gates();
        let gates = match executor {
            Some(executor) => gates.executor(executor as Arc<dyn ErasedToolExecutor>),
            None => gates.for_host(),
        };
        let gates = Arc::new(if judged { gates.with_judge() } else { gates }.build());
        Self { gates, settings }
    }
}

/// A session could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginSessionError {
    /// Its record could not be read.
    #[error("the record of the session cannot be read: {0}")]
    Unreadable(#[from] counterfoil_ledger::ReadLedgerError),
    /// Its beginning could not be recorded.
    #[error("the beginning of the session cannot be recorded: {0}")]
    NotRecorded(#[from] AppendError),
    /// No id could be made.
    #[error(transparent)]
    NoRandomness(#[from] counterfoil_ledger::RandomnessError),
    /// The id cannot be one.
    #[error("`{0}` cannot be the id of a session")]
    BadId(String),
}

impl Guard {
    /// Begins a session, or goes on with an earlier one.
    ///
    /// # Errors
    /// When what the ledger knows of the session cannot be read.
    pub fn session(&self, start: SessionStart) -> Result<Session, BeginSessionError> {
        let id = self.session_id(&start)?;
        Session::begin(self, id, start)
    }

    /// How strictly calls are held against their tools, for hosts that bring tools of their own.
    #[must_use]
    pub fn admission_settings(&self) -> &AdmissionSettings {
        &self.settings().admission
    }

    /// Every tool there is now, whatever a session may use.
    #[must_use]
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.toolset().catalog)
    }

    /// What is wrong with the definitions of the tools.
    #[must_use]
    pub fn catalog_issues(&self) -> Vec<CatalogIssue> {
        self.toolset().issues.clone()
    }

    /// What shell commands may do: by this handle it is replaced while the guard runs. A call that
    /// runs keeps what it began with.
    #[must_use]
    pub fn shell_policy(&self) -> ShellPolicyHandle {
        self.settings().shell.clone()
    }

    /// Puts other rules in force for every call from now on: what the gates go by (blocklist and
    /// quota, policy, permissions, trust, dependencies, protected places, utility, the policies in
    /// plain language) and what shell commands may do. A call that is being judged or runs keeps
    /// what it began with. The authorization (`[tools.authorization]`) is fixed when a guard is made;
    /// ledger, audit log, executors and the rules for answers stay as they are, too.
    pub fn reload(&self, settings: GuardSettings) {
        let shell = self.settings().shell.clone();
        shell.rebuild(Arc::unwrap_or_clone(settings.shell.load()));
        let executor = (!self.is_for_host()).then(|| Arc::clone(&self.parts.executor));
        let policy = settings.policy.authorized_as(&self.settings().policy);
        let settings = GuardSettings { shell, policy, ..settings };
        self.parts.policy.store(Arc::new(Policy::of(
            settings,
            executor,
            self.policy_judge().is_some(),
        )));
    }

    /// What the operator should know about the start: a torn tail that was cut, a clock that went
    /// back, tools that require one another.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.parts.notices
    }

    /// The record of what happened.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.parts.ledger
    }

    /// Approvals that were given ahead of a call.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.parts.approvals
    }

    /// The gates in force, to explain a verdict with.
    #[must_use]
    pub fn gates(&self) -> Arc<Gates> {
        Arc::clone(&self.policy().gates)
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.parts.policy.load_full()
    }

    /// The guard for whoever it holds itself.
    pub(crate) fn downgrade(&self) -> WeakGuard {
        WeakGuard(Arc::downgrade(&self.parts))
    }

    pub(crate) fn session_ends(&self) -> &[SessionEnd] {
        &self.parts.session_ends
    }

    pub(crate) fn from_parts(parts: Parts) -> Self {
        Self { parts: Arc::new(parts) }
    }

    pub(crate) fn toolset(&self) -> Arc<Toolset> {
        self.parts.tools.load_full()
    }

    pub(crate) fn swap_tools(&self, tools: Toolset) {
        self.parts.tools.store(Arc::new(tools));
    }

    pub(crate) fn registering(&self) -> &Mutex<()> {
        &self.parts.registering
    }

    pub(crate) fn is_for_host(&self) -> bool {
        self.parts.for_host
    }

    pub(crate) fn approver(&self) -> Option<&dyn Approver> {
        self.parts.approver.as_deref()
    }

    pub(crate) fn reformatter(&self) -> Option<&dyn Completion> {
        let wanted = self.settings().retry.parameter_reformat_provider.is_some();
        self.parts.reformatter.as_deref().filter(|_| wanted)
    }

    pub(crate) fn policy_judge(&self) -> Option<&dyn Completion> {
        self.parts.judge.as_deref()
    }

    pub(crate) fn embedder(&self) -> Option<&dyn Embedder> {
        self.parts.embedder.as_deref()
    }

    pub(crate) fn last_filter(&self) -> &LastFilter {
        &self.parts.last_filter
    }

    pub(crate) fn executor(&self) -> &CompositeExecutor {
        &self.parts.executor
    }

    pub(crate) fn audit(&self) -> Option<&AuditLog> {
        self.parts.audit.as_ref()
    }

    /// The judge that reads answers beside the rules.
    pub(crate) fn answer_judge(&self) -> Option<&Arc<dyn AnswerJudge>> {
        self.parts.answer_judge.as_ref()
    }

    /// What takes secrets out of texts.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.parts.redactor
    }

    /// What the filters left out of what commands printed, since this guard was made.
    #[must_use]
    pub fn filter_metrics(&self) -> &FilterMetrics {
        self.filters().metrics()
    }

    pub(crate) fn filters(&self) -> &FilterPipeline {
        &self.parts.filters
    }

    pub(crate) fn sender(&self) -> &ToolEvents {
        &self.parts.events
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.parts.clock
    }

    pub(crate) fn shared_clock(&self) -> &Arc<dyn Clock> {
        &self.parts.clock
    }

    pub(crate) fn randomness(&self) -> &dyn Randomness {
        &*self.parts.randomness
    }

    /// The project's root: what commands and files are confined to.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.parts.workspace
    }

    pub(crate) fn settings(&self) -> &GuardSettings {
        &self.parts.settings
    }

    /// Which rules judge what the agent says, and how strictly.
    #[must_use]
    pub fn rules(&self) -> &RuleSettings {
        &self.settings().rules
    }

    pub(crate) fn retry(&self) -> &RetrySettings {
        &self.settings().retry
    }

    pub(crate) fn quota(&self) -> Option<u64> {
        self.policy().settings.quota
    }

    pub(crate) fn longest_call(&self) -> Duration {
        self.settings().longest_call
    }

    /// Whether a tool takes shell commands, so that a missing exit code needs a reason.
    pub(crate) fn runs_commands(&self, tool: &str) -> bool {
        self.settings().shell.load().blocklist.takes_commands(tool)
    }

    /// The text with the id of its execution in it, where the settings want that.
    pub(crate) fn with_id(
        &self,
        text: &str,
        structured: Option<&Value>,
        opened: &Opened,
    ) -> String {
        let way = self.settings().show_id;
        if way == ShowId::Metadata {
            return text.to_owned();
        }
        let started = Timestamp::from_millisecond(opened.started_at);
        let started = started.map(|time| format!("{time:.3}")).unwrap_or_default();
        way.show(text, structured, &opened.execution_id, &opened.tool, &started)
    }

    /// The id that a session begins with.
    pub(crate) fn session_id(&self, start: &SessionStart) -> Result<String, BeginSessionError> {
        match &start.id {
            None => Ok(self.new_session_id()?),
            Some(id) if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) => {
                Err(BeginSessionError::BadId(id.clone()))
            }
            Some(id) => Ok(id.clone()),
        }
    }

    fn new_session_id(&self) -> Result<String, counterfoil_ledger::RandomnessError> {
        let mut unique = [0; 8];
        self.randomness().fill(&mut unique)?;
        let millis = self.clock().wall();
        Ok(format!("session-{millis:013}-{:016x}", u64::from_be_bytes(unique)))
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("tools", &self.toolset().names).finish_non_exhaustive()
    }
}
