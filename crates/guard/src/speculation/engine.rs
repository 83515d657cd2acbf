use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_tools::{CacheKey, CachedResult};
use serde::Serialize;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::pattern::Patterns;
use super::{Guess, SpeculationSettings};

/// The speculative calls of one session, and the patterns in which its calls follow each other.
#[derive(Debug)]
pub struct SpeculationEngine {
    settings: SpeculationSettings,
    state: Mutex<State>,
}

/// Statistics about speculative calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SpeculationCounts {
    /// Calls that were started.
    pub begun: u64,
    /// Calls whose result was used.
    pub used: u64,
    /// Calls that were not needed, or needed too late.
    pub wasted: u64,
}

#[derive(Debug, Default)]
struct State {
    ahead: Vec<Ahead>,
    patterns: Patterns,
    counts: SpeculationCounts,
    wasted_in_a_row: u32,
    paused_until: Duration,
}

/// A speculative call that is running or has ended.
#[derive(Debug)]
pub(super) struct Ahead {
    pub(super) key: CacheKey,
    pub(super) caller: Option<String>,
    /// The generation of the cache that it reads.
    pub(super) generation: u64,
    pub(super) since: Duration,
    pub(super) running: Running,
}

/// The result of a speculative call; `None` if it has no usable result.
pub(super) type Outcome = Option<CachedResult>;

/// Aborts the task when dropped.
#[derive(Debug)]
pub(super) struct Running(pub(super) JoinHandle<Outcome>);

impl Running {
    /// Waits for the result.
    pub(super) async fn outcome(mut self) -> Outcome {
        (&mut self.0).await.ok().flatten()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl SpeculationEngine {
    pub(crate) fn new(settings: SpeculationSettings) -> Self {
        Self { settings, state: Mutex::default() }
    }

    /// Statistics about speculative calls so far.
    #[must_use]
    pub fn counts(&self) -> SpeculationCounts {
        self.state().counts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether guesses of this kind are enabled.
    pub(super) fn guesses(&self, guess: Guess) -> bool {
        self.settings.mode.allows(guess)
    }

    /// Whether this call may be started now.
    pub(super) fn has_room(&self, key: &CacheKey, caller: Option<&str>, now: Duration) -> bool {
        let mut state = self.state();
        state.drop_old(&self.settings, now);
        let known = |ahead: &Ahead| ahead.key == *key && ahead.caller.as_deref() == caller;
        now >= state.paused_until
            && state.ahead.len() < self.settings.max_in_flight
            && !state.ahead.iter().any(known)
    }

    pub(super) fn begin(&self, ahead: Ahead) {
        let mut state = self.state();
        state.counts.begun += 1;
        state.ahead.push(ahead);
    }

    /// Takes the speculative execution of this call, if nothing was written since it started.
    pub(super) fn take(
        &self,
        key: &CacheKey,
        caller: Option<&str>,
        generation: u64,
        now: Duration,
    ) -> Option<Running> {
        let mut state = self.state();
        state.drop_old(&self.settings, now);
        let wanted = |ahead: &Ahead| ahead.key == *key && ahead.caller.as_deref() == caller;
        let at = state.ahead.iter().position(wanted)?;
        let ahead = state.ahead.swap_remove(at);
        if ahead.generation == generation {
            state.counts.used += 1;
            state.wasted_in_a_row = 0;
            Some(ahead.running)
        } else {
            state.waste(1, &self.settings, now);
            None
        }
    }

    /// Stops the speculative calls of this caller.
    pub(super) fn stop(&self, caller: Option<&str>, now: Duration) {
        let mut state = self.state();
        let before = state.ahead.len();
        state.ahead.retain(|ahead| ahead.caller.as_deref() != caller);
        let wasted = before - state.ahead.len();
        state.waste(wasted, &self.settings, now);
    }

    /// Records a call, and guesses the next one: a tool and its arguments.
    pub(super) fn follows(&self, tool: &str, arguments: &Value) -> Option<(String, Value)> {
        let mut state = self.state();
        state.patterns.saw(tool, arguments);
        state.patterns.next(tool, arguments)
    }
}

impl State {
    fn drop_old(&mut self, settings: &SpeculationSettings, now: Duration) {
        let before = self.ahead.len();
        self.ahead.retain(|ahead| now.saturating_sub(ahead.since) < settings.ttl);
        let wasted = before - self.ahead.len();
        self.waste(wasted, settings, now);
    }

    /// Counts unused calls. After too many in a row, speculation pauses for a while.
    fn waste(&mut self, wasted: usize, settings: &SpeculationSettings, now: Duration) {
        self.counts.wasted += u64::try_from(wasted).unwrap_or(u64::MAX);
        self.wasted_in_a_row += u32::try_from(wasted).unwrap_or(u32::MAX);
        if self.wasted_in_a_row >= settings.max_wasted {
            self.wasted_in_a_row = 0;
            self.paused_until = now.saturating_add(settings.pause);
        }
    }
}
