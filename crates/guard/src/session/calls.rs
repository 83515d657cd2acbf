use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_ledger::Draft;
use counterfoil_model::Role;
use counterfoil_tools::RecentCall;

/// The maximum number of recent calls that are kept for scoring.
const REMEMBERED: usize = 20;

/// The calls that a session made, in any process.
#[derive(Default)]
pub(crate) struct Calls {
    /// The number of calls that were opened, not counting speculative ones.
    pub(super) made: u64,
    /// Open executions, with their tools.
    open: BTreeMap<String, String>,
    /// Tools that succeeded.
    pub(super) completed: Arc<BTreeSet<String>>,
    /// Tools that have returned a result to the agent.
    pub(super) answered: BTreeSet<String>,
    /// Tools that the agent has called since the user's last message.
    referenced: BTreeSet<String>,
    /// Recent calls, newest last.
    pub(super) recent: Arc<Vec<RecentCall>>,
}

impl Calls {
    /// Updates which tools are running and have completed.
    pub(super) fn apply(&mut self, draft: &Draft) {
        match draft {
            Draft::Said(message) if message.role == Role::User && message.caller_id.is_none() => {
                self.referenced.clear();
            }
            Draft::Rejected(rejected) => {
                self.referenced.insert(rejected.call.tool.clone());
            }
            // The model did not make a speculative call.
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

    /// Records that a tool succeeded.
    pub(super) fn complete(&mut self, tool: &str) {
        if !self.completed.contains(tool) {
            Arc::make_mut(&mut self.completed).insert(tool.to_owned());
        }
    }

    /// Adds a call that ran. If it may have changed something, earlier results become outdated.
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

    /// Tools that the agent has called since the user's last message.
    pub(crate) fn referenced(&self) -> &BTreeSet<String> {
        &self.referenced
    }

    /// Forgets which tools completed, and their results.
    pub(super) fn forget(&mut self) {
        self.completed = Arc::default();
        self.answered.clear();
        self.forget_recent();
    }

    /// Forgets the results of recent calls.
    pub(crate) fn forget_recent(&mut self) {
        self.recent = Arc::default();
    }
}
