use std::collections::VecDeque;
use std::time::Duration;

use counterfoil_ledger::Opened;
use futures_util::future::AbortHandle;

/// The maximum number of executions that are kept.
const RECENT: usize = 100;

/// The executions of a session in this process.
#[derive(Default)]
pub(crate) struct Running {
    /// When the latest executions began, on the monotonic clock.
    begun: VecDeque<(String, Duration)>,
    /// Executions that can be cancelled: the id of the receipt, the id of the call, and the handle.
    cancellable: Vec<(String, String, AbortHandle)>,
    /// The latest executions that this process opened and a host performs.
    handed_over: VecDeque<Opened>,
}

impl Running {
    /// Records when an execution began.
    pub(crate) fn begin(&mut self, execution_id: &str, monotonic: Duration) {
        push(&mut self.begun, (execution_id.to_owned(), monotonic));
    }

    /// When an execution began, if it is a recent one of this process.
    pub(crate) fn begun(&self, execution_id: &str) -> Option<Duration> {
        let found = self.begun.iter().rev().find(|(id, _)| id == execution_id);
        found.map(|(_, monotonic)| *monotonic)
    }

    pub(crate) fn begin_cancellable(&mut self, execution: &str, call: &str, by: AbortHandle) {
        self.cancellable.push((execution.to_owned(), call.to_owned(), by));
    }

    pub(crate) fn end_cancellable(&mut self, execution_id: &str) {
        self.cancellable.retain(|(id, ..)| id != execution_id);
    }

    /// The handles of all calls with this id, which is the call's or the receipt's.
    pub(crate) fn cancellable(&self, id: &str) -> Vec<AbortHandle> {
        let named = |(execution_id, call_id, _): &&(String, String, AbortHandle)| {
            !id.is_empty() && (execution_id == id || call_id == id)
        };
        self.cancellable.iter().filter(named).map(|(.., by)| by.clone()).collect()
    }

    /// Adds a call that a host is executing.
    pub(crate) fn hand_over(&mut self, opened: Opened) {
        push(&mut self.handed_over, opened);
    }

    /// Takes a call that a host has executed, if it is a recent one that this process opened.
    pub(crate) fn handed_over(&mut self, call_id: &str) -> Option<Opened> {
        let at = self.handed_over.iter().rposition(|opened| opened.call_id == call_id)?;
        self.handed_over.remove(at)
    }
}

fn push<T>(latest: &mut VecDeque<T>, one: T) {
    latest.push_back(one);
    if latest.len() > RECENT {
        latest.pop_front();
    }
}
