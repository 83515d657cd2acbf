use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_tools::{CacheKey, CachedResult};
use serde::Serialize;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::pattern::Patterns;
use super::{Guess, SpeculationSettings};

/// The calls of one session that run ahead, and what is known of how its calls follow each other.
#[derive(Debug)]
pub struct SpeculationEngine {
    settings: SpeculationSettings,
    state: Mutex<State>,
}

/// How calls that ran ahead went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SpeculationCounts {
    /// Calls that were begun.
    pub begun: u64,
    /// Those that were wanted.
    pub used: u64,
    /// Those that nobody wanted, or wanted too late.
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

/// A call that runs ahead, or has run.
#[derive(Debug)]
pub(super) struct Ahead {
    pub(super) key: CacheKey,
    pub(super) caller: Option<String>,
    /// Which state of the world it reads.
    pub(super) generation: u64,
    pub(super) since: Duration,
    pub(super) running: Running,
}

/// What a call that ran ahead came to; `None` where that is nothing that could be given.
pub(super) type Outcome = Option<CachedResult>;

/// Is stopped when it is dropped.
#[derive(Debug)]
pub(super) struct Running(pub(super) JoinHandle<Outcome>);

impl Running {
    /// Waits for it.
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

    /// How calls that ran ahead went so far.
    #[must_use]
    pub fn counts(&self) -> SpeculationCounts {
        self.state().counts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything is guessed this way at all.
    pub(super) fn guesses(&self, guess: Guess) -> bool {
        self.settings.mode.allows(guess)
    }

    /// Whether this call may be begun now.
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

    /// The call that ran ahead of this one, where what it read is still so.
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

    /// Stops what still runs ahead for this caller.
    pub(super) fn stop(&self, caller: Option<&str>, now: Duration) {
        let mut state = self.state();
        let before = state.ahead.len();
        state.ahead.retain(|ahead| ahead.caller.as_deref() != caller);
        let wasted = before - state.ahead.len();
        state.waste(wasted, &self.settings, now);
    }

    /// Takes note of a call, and guesses what comes next: a tool and its arguments.
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

    /// The breaker: whoever guesses wrong again and again is quiet for a while.
    fn waste(&mut self, wasted: usize, settings: &SpeculationSettings, now: Duration) {
        self.counts.wasted += u64::try_from(wasted).unwrap_or(u64::MAX);
        self.wasted_in_a_row += u32::try_from(wasted).unwrap_or(u32::MAX);
        if self.wasted_in_a_row >= settings.max_wasted {
            self.wasted_in_a_row = 0;
            self.paused_until = now.saturating_add(settings.pause);
        }
    }
}
