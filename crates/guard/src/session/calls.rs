use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_ledger::Draft;
use counterfoil_model::Role;
use counterfoil_tools::RecentCall;

/// The maximum number of recent calls that other calls are scored by.
const REMEMBERED: usize = 20;

/// Which calls a session made, by whichever process.
#[derive(Default)]
pub(crate) struct Calls {
    /// How many were opened, without those that ran ahead.
    pub(super) made: u64,
    /// Executions that are open, with their tools.
    open: BTreeMap<String, String>,
    /// Tools that succeeded.
    pub(super) completed: Arc<BTreeSet<String>>,
    /// Tools whose results the agent has.
    pub(super) answered: BTreeSet<String>,
    /// Tools that the agent called since the user spoke.
    referenced: BTreeSet<String>,
    /// What ran recently, the newest last.
    pub(super) recent: Arc<Vec<RecentCall>>,
}

impl Calls {
    /// Takes note of which tools run and completed.
    pub(super) fn apply(&mut self, draft: &Draft) {
        match draft {
            Draft::Said(said) if said.role == Role::User && said.caller_id.is_none() => {
                self.referenced.clear();
            }
            Draft::Rejected(rejected) => {
                self.referenced.insert(rejected.call.tool.clone());
            }
            // The model did not make that call.
            Draft::Opened(opened) if opened.links.speculative => {}
            Draft::Opened(opened) => {
                self.referenced.insert(opened.tool.clone());
                self.open.insert(opened.execution_id.clone(), opened.tool.clone());
            }
            Draft::Closed(closed) => {
                let Some(tool) = self.open.remove(&closed.execution_id) else { return };
                if closed.status.succeeded() {
                    self.complete(&tool);
                }
                self.answered.insert(tool);
            }
            Draft::Cleared => {
                self.completed = Arc::default();
                self.answered.clear();
            }
            _ => {}
        }
    }

    /// Takes note that a tool succeeded.
    pub(super) fn complete(&mut self, tool: &str) {
        if !self.completed.contains(tool) {
            Arc::make_mut(&mut self.completed).insert(tool.to_owned());
        }
    }

    /// Takes note of a call that ran. One that may have changed something makes what was read
    /// before it old.
    pub(crate) fn ran(&mut self, call: RecentCall, wrote: bool) {
        let recent = Arc::make_mut(&mut self.recent);
        if wrote {
            recent.iter_mut().for_each(|call| call.outdated = true);
        }
        recent.push(call);
        if recent.len() > REMEMBERED {
            recent.remove(0);
        }
    }

    /// Tools that the agent called since the user spoke.
    pub(crate) fn referenced(&self) -> &BTreeSet<String> {
        &self.referenced
    }

    /// Forgets which tools completed and what they gave.
    pub(super) fn forget(&mut self) {
        self.completed = Arc::default();
        self.answered.clear();
        self.recent = Arc::default();
    }
}
