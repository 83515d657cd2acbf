use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use counterfoil_admission::{AdmissionSettings, CatalogIssue};
use counterfoil_judge::AnswerJudge;
use counterfoil_ledger::{AuditLog, Clock, Ledger, Opened, Randomness};
use counterfoil_model::Catalog;
use counterfoil_redact::Redactor;
use counterfoil_rules::Settings as RuleSettings;
use counterfoil_tools::{FilterMetrics, FilterPipeline, ShellPolicyHandle, ToolEvents};
use jiff::Timestamp;
use serde_json::Value;

use crate::executor::{CompositeExecutor, ErasedToolExecutor};
use crate::gate::{Approvals, Gates, IdleRule};
use crate::offer::LastFilter;
use crate::ports::{Approver, Completion, Embedder, SessionEnd};
use crate::retry::RetrySettings;
use crate::settings::GuardSettings;
use crate::shown_id::ShowId;
use crate::toolset::Toolset;

/// The single entry point for tool calls. Cheap to clone; every clone is the same guard.
///
/// Only [`Guard::builder`] creates one, so no surface can skip part of the chain.
#[derive(Clone)]
pub struct Guard {
    parts: Arc<Parts>,
}

/// A weak reference to a guard, for tools that make calls themselves and are owned by the guard.
#[derive(Clone)]
pub(crate) struct WeakGuard(Weak<Parts>);

impl WeakGuard {
    /// Returns the guard, if it still exists.
    pub(crate) fn upgrade(&self) -> Option<Guard> {
        self.0.upgrade().map(|parts| Guard { parts })
    }
}

/// The parts of a guard.
pub(crate) struct Parts {
    pub(crate) tools: ArcSwap<Toolset>,
    /// Held while tools are added or removed.
    pub(crate) registering: Mutex<()>,
    /// Whether it started without tools, because a host runs its own.
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

/// The rules for calls, which are replaced as a whole while the guard runs.
pub(crate) struct Policy {
    pub(crate) gates: Arc<Gates>,
    /// The settings of the gates. For everything else, only the initial settings count.
    pub(crate) settings: GuardSettings,
}

impl Policy {
    /// Builds the policy. `executor` decides which calls need confirmation; it is `None` if a host
    /// runs every tool.
    pub(crate) fn new(
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

impl Guard {
    /// The admission settings, for hosts that bring their own tools.
    #[must_use]
    pub fn admission_settings(&self) -> &AdmissionSettings {
        &self.settings().admission
    }

    /// All current tools, including those that a session may not use.
    #[must_use]
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.toolset().catalog)
    }

    /// Problems in the definitions of the tools.
    #[must_use]
    pub fn catalog_issues(&self) -> Vec<CatalogIssue> {
        self.toolset().issues.clone()
    }

    /// The handle of the shell policy, through which it can be replaced while the guard runs. A
    /// running call keeps the policy that it began with.
    #[must_use]
    pub fn shell_policy(&self) -> ShellPolicyHandle {
        self.settings().shell.clone()
    }

    /// Replaces the rules for all calls from now on: the settings of the gates (blocklist and
    /// quota, policy, permissions, trust, dependencies, protected places, utility, the policies in
    /// plain language) and the shell policy. A call that is being judged or runs keeps the rules it
    /// began with. The authorization (`[tools.authorization]`) is fixed when a guard is built; the
    /// ledger, the audit log, the executors and the rules for answers do not change either.
    pub fn reload(&self, settings: GuardSettings) {
        let shell = self.settings().shell.clone();
        shell.rebuild(Arc::unwrap_or_clone(settings.shell.load()));
        let executor = (!self.is_for_host()).then(|| Arc::clone(&self.parts.executor));
        let policy = settings.policy.authorized_as(&self.settings().policy);
        let settings = GuardSettings { shell, policy, ..settings };
        self.parts.policy.store(Arc::new(Policy::new(
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

    /// The ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.parts.ledger
    }

    /// Approvals that were given before their call.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.parts.approvals
    }

    /// The gates in force, for explaining a verdict.
    #[must_use]
    pub fn gates(&self) -> Arc<Gates> {
        Arc::clone(&self.policy().gates)
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.parts.policy.load_full()
    }

    /// A weak reference, for parts that the guard owns.
    pub(crate) fn downgrade(&self) -> WeakGuard {
        WeakGuard(Arc::downgrade(&self.parts))
    }

    pub(crate) fn session_ends(&self) -> &[SessionEnd] {
        &self.parts.session_ends
    }

    pub(crate) fn from_parts(parts: Parts) -> Self {
        Self { parts: Arc::new(parts) }
    }

    /// The rules in force that match none of these tools: see [`GuardSettings::idle_rules`].
    #[must_use]
    pub fn idle_rules(&self, tools: &[&str], away: &[String]) -> Vec<IdleRule> {
        self.policy().settings.idle_rules(tools, away)
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

    /// The judge that reads answers in addition to the rules.
    pub(crate) fn answer_judge(&self) -> Option<&Arc<dyn AnswerJudge>> {
        self.parts.answer_judge.as_ref()
    }

    /// The redactor that removes secrets from texts.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.parts.redactor
    }

    /// What the filters removed from the output of commands since this guard was built.
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

    /// The root of the project, to which commands and files are confined.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.parts.workspace
    }

    pub(crate) fn settings(&self) -> &GuardSettings {
        &self.parts.settings
    }

    /// The settings of the rules that check what the agent says.
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

    /// Adds the execution id to the text, if the settings say so.
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
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("tools", &self.toolset().names).finish_non_exhaustive()
    }
}
