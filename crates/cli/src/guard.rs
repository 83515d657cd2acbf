//! The guard as every command makes it: the configured one, with the tools that are built in.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use countersign_guard::{
    Approver, Guard, GuardSettings, Ledger, ShellExecutor, SystemClock, SystemRandomness,
};

use crate::config::Options;
use crate::exit::Complaint;
use crate::rule_names::Selection;
use crate::state::State;

/// What a guard is made of.
pub(crate) struct Making<'o> {
    /// The configuration.
    pub(crate) options: &'o Options,
    /// Where it records; `None` keeps nothing.
    pub(crate) state: Option<State>,
    /// Whom it asks.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// The project's root; `None` is the working directory.
    pub(crate) workspace: Option<PathBuf>,
}

impl Making<'_> {
    /// The guard. What the operator should know is said on standard error by the caller.
    pub(crate) fn guard(self) -> anyhow::Result<Guard> {
        let settings = settings(self.options)?;
        let workspace = match self.workspace {
            Some(folder) => folder
                .canonicalize()
                .with_context(|| format!("the workspace {} cannot be used", folder.display()))?,
            None => std::env::current_dir().context("the working directory is gone")?,
        };
        if !workspace.is_dir() {
            let named = workspace.display();
            return Err(Complaint::new(format!("the workspace {named} is not a folder")).into());
        }
        let mut builder = Guard::builder()
            .workspace(workspace)
            .executor(ShellExecutor::new(settings.shell.clone()))
            .settings(settings);
        if let Some(state) = self.state {
            builder = builder.state(state.folder());
        }
        if let Some(approver) = self.approver {
            builder = builder.approver(approver);
        }
        Ok(builder.build()?)
    }
}

/// The ledger in a state folder that is there, to be read.
pub(crate) fn ledger(state: &State, options: &Options) -> anyhow::Result<Ledger> {
    let path = state.folder().ledger();
    if !path.exists() {
        let missing = format!("nothing is recorded yet: `{}` is missing", path.display());
        return Err(Complaint::new(missing).help("`countersign run` records what it does").into());
    }
    let settings = options.ledger.clone().resolve()?;
    let (clock, randomness) = (Arc::new(SystemClock::default()), Arc::new(SystemRandomness));
    let (ledger, notices) = Ledger::open(&path, settings, clock, randomness)
        .map_err(|error| Complaint::new(error.to_string()).help(error.help()))?;
    for notice in notices {
        writeln!(io::stderr(), "note: {notice}")?;
    }
    Ok(ledger)
}

/// The checked settings of the guard.
pub(crate) fn settings(options: &Options) -> anyhow::Result<GuardSettings> {
    let mut settings = options.guard().resolve()?;
    let ignored = &options.check.ignore;
    let selection = Selection {
        configured: &options.rules,
        ignored,
        modes: &[],
        only: &[],
        obligations: &options.obligations,
    };
    settings.rules = selection.settings()?;
    Ok(settings)
}
