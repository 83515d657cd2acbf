use std::path::PathBuf;
use std::sync::Arc;

use countersign_model::Catalog;
use countersign_rules::Admission;

use crate::audit::{AuditLog, OpenAuditError};
use crate::executor::{CompositeExecutor, ErasedToolExecutor, TwoOwners};
use crate::gate::Approvals;
use crate::guard::{Guard, Parts};
use crate::ledger::{Ledger, OpenLedgerError};
use crate::ports::{Approver, Clock, Randomness, SystemClock, SystemRandomness};
use crate::redact::Redactor;
use crate::settings::GuardSettings;
use crate::state::StateFolder;

/// Puts a guard together. What is not said is closed: no tool, no approver.
#[derive(Default)]
pub struct GuardBuilder {
    state: Option<StateFolder>,
    executors: Vec<Arc<dyn ErasedToolExecutor>>,
    approver: Option<Arc<dyn Approver>>,
    clock: Option<Arc<dyn Clock>>,
    randomness: Option<Arc<dyn Randomness>>,
    workspace: Option<PathBuf>,
    settings: GuardSettings,
}

/// A guard could not be put together.
#[derive(Debug, thiserror::Error)]
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

    /// Adds the tools of an executor.
    #[must_use]
    pub fn executor(mut self, executor: impl ErasedToolExecutor + 'static) -> Self {
        self.executors.push(Arc::new(executor));
        self
    }

    /// Whom to ask when a gate asks.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
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

    /// Everything that can be configured.
    #[must_use]
    pub fn settings(mut self, settings: GuardSettings) -> Self {
        self.settings = settings;
        self
    }

    /// The guard.
    ///
    /// # Errors
    /// When its record cannot be kept, or two executors claim one tool.
    pub fn build(self) -> Result<Guard, BuildGuardError> {
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::default()));
        let randomness = self.randomness.unwrap_or_else(|| Arc::new(SystemRandomness));
        let settings = self.settings;
        let executor = CompositeExecutor::new(self.executors)?;
        let (catalog, _) = Catalog::known(executor.tool_definitions());
        let (admission, catalog_issues) = Admission::compile(&catalog, settings.admission.clone());
        let (ledger, audit, notices) = match &self.state {
            None => {
                (Ledger::in_memory(Arc::clone(&clock), Arc::clone(&randomness))?, None, Vec::new())
            }
            Some(folder) => {
                let (ledger, notices) = Ledger::open(
                    &folder.ledger(),
                    settings.ledger.clone(),
                    Arc::clone(&clock),
                    Arc::clone(&randomness),
                )?;
                let audit =
                    AuditLog::open(&folder.audit(), settings.audit.clone(), Arc::clone(&clock))?;
                (ledger, Some(audit), notices)
            }
        };
        let executor = Arc::new(executor);
        let gates =
            settings.gates().executor(Arc::clone(&executor) as Arc<dyn ErasedToolExecutor>).build();
        Ok(Guard::from_parts(Parts {
            catalog,
            catalog_issues,
            admission,
            gates,
            approvals: Approvals::new(Arc::clone(&clock), settings.approval_lifetime),
            approver: self.approver,
            executor,
            ledger,
            audit,
            redactor: Redactor::standard(),
            clock,
            randomness,
            workspace: self.workspace.unwrap_or_default(),
            settings,
            notices,
        }))
    }
}
