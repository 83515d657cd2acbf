use std::sync::Arc;

use counterfoil_ledger::{Links, Requested, TrustLevel};
use counterfoil_model::{Status, ToolCall, take_hidden_out};
use counterfoil_tools::{CacheKey, CachedResult, Scene, is_cacheable};
use futures_util::future::{AbortHandle, Abortable};

use super::engine::{Ahead, Outcome, Running};
use super::{Guess, SpeculationCounts};
use crate::admitted::Admitted;
use crate::executor::ErasedToolExecutor as _;
use crate::gate::{Clearance, Decision, Judged};
use crate::guard::Guard;
use crate::session::{Session, Surroundings};

/// The outcome of looking for a speculative execution of a call.
pub(crate) enum RanAhead {
    /// There was none, or it had no usable result.
    Nothing,
    Result(CachedResult),
    /// The call was cancelled while it waited for the speculative execution.
    Cancelled,
}

impl Session {
    /// Starts this call speculatively, before it is known to be needed, if nothing prevents it: its
    /// tool only reads and may run speculatively, no content from untrusted sources is involved, no
    /// gate denies or asks, and no person or model would be asked. Its receipt is marked
    /// `speculative` and supports no claim. [`Session::call`] with the same arguments uses its
    /// result and gets a receipt of its own.
    ///
    /// Returns at once. Does nothing outside a Tokio runtime.
    pub fn speculate(&self, call: ToolCall, around: &Surroundings, guess: Guess) {
        let guard = self.guard();
        let engine = self.speculation();
        if !engine.guesses(guess) || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        let (call, only_thought) = take_hidden_out(call);
        if only_thought {
            return;
        }
        let tools = guard.toolset();
        let Ok(admitted) = guard.admit(self, &tools, call, around.requested) else { return };
        let key = key_of(&admitted);
        let now = guard.clock().monotonic();
        let caller = around.caller.clone();
        if !engine.has_room(&key, caller.as_deref(), now) {
            return;
        }
        let held = self.hold(guard, around);
        let wall = guard.clock().wall();
        let scene = self.scene(&held, around, guard.workspace(), wall);
        let Some(cleared) = guard.may_run_ahead(&admitted, &scene) else { return };
        let generation = self.cache().generation();
        let (session, around) = (self.clone(), around.clone());
        let running = tokio::spawn(async move {
            let guard = session.guard();
            let scene = session.scene(&held, &around, guard.workspace(), wall);
            guard.run_ahead(&session, &admitted, &cleared, &scene).await
        });
        let running = Running(running);
        self.speculation().begin(Ahead { key, caller, generation, since: now, running });
    }

    /// Stops the speculative calls of this caller at the end of its turn.
    pub fn end_speculation(&self, caller: Option<&str>) {
        let guard = self.guard();
        self.speculation().stop(caller, guard.clock().monotonic());
    }

    /// Statistics about this session's speculative calls.
    #[must_use]
    pub fn speculation_counts(&self) -> SpeculationCounts {
        self.speculation().counts()
    }
}

impl Guard {
    /// The clearance of a call that may run speculatively.
    fn may_run_ahead(&self, admitted: &Arc<Admitted>, scene: &Scene<'_>) -> Option<Clearance> {
        let tool = &admitted.tool().name;
        let harmless = self.executor().is_tool_speculatable(tool)
            && !self.writes(admitted)
            && !self.runs_commands(tool)
            && admitted.report().issues.is_empty()
            && scene.trust != TrustLevel::Untrusted
            && scene.tainted_by.is_none()
            && self.executor().requires_confirmation(admitted, scene).is_none()
            && self.consulting(admitted, scene).is_none();
        // The gates judge first, so that no approval is used up.
        if !harmless || !matches!(self.gates().judge(admitted, scene), Judged::Allowed { .. }) {
            return None;
        }
        match self.gates().decide(admitted, scene, self.approvals()) {
            Decision::Cleared(cleared) => Some(cleared),
            Decision::Denied(_) | Decision::NeedsApproval(_) => None,
        }
    }

    async fn run_ahead(
        &self,
        session: &Session,
        admitted: &Arc<Admitted>,
        cleared: &Clearance,
        scene: &Scene<'_>,
    ) -> Outcome {
        let links = Links { speculative: true, ..Links::default() };
        let recording =
            self.open(session, admitted, cleared.permitted(), links, scene).await.ok()?.ok()?;
        let ended = self.execute(session, &recording, cleared, scene).await;
        let closed = self.record(session, recording, ended, Default::default()).await.ok()?;
        closed.as_result().filter(|_| closed.recorded.closed.status == Status::Completed)
    }

    /// Waits for the speculative execution of this call, if there is one.
    pub(crate) async fn ran_ahead(
        &self,
        session: &Session,
        admitted: &Admitted,
        caller: Option<&str>,
    ) -> RanAhead {
        let (engine, cache) = (session.speculation(), session.cache());
        let key = key_of(admitted);
        let (generation, now) = (cache.generation(), self.clock().monotonic());
        let Some(running) = engine.take(&key, caller, generation, now) else {
            return RanAhead::Nothing;
        };
        // Cancelling the call cancels the wait.
        let (handle, registration) = AbortHandle::new_pair();
        let waiting = format!("ahead of {}", admitted.call().id);
        session.running().begin_cancellable(&waiting, &admitted.call().id, handle);
        let outcome = Abortable::new(running.outcome(), registration).await;
        session.running().end_cancellable(&waiting);
        let Ok(outcome) = outcome else { return RanAhead::Cancelled };
        // A write in the meantime may have changed what was read.
        let result = outcome.filter(|_| cache.generation() == generation);
        let Some(result) = result else { return RanAhead::Nothing };
        if is_cacheable(admitted.tool()) {
            cache.put(key, result.clone(), generation, now);
        }
        RanAhead::Result(result)
    }

    /// Records a call that ran, and starts what usually follows it.
    pub(crate) fn guess_next(&self, session: &Session, admitted: &Admitted, around: &Surroundings) {
        let engine = session.speculation();
        if !engine.guesses(Guess::Pattern) {
            return;
        }
        // Guesses are made from plain JSON values, which cannot hold such a number.
        if admitted.exact_arguments().long_number().is_some() {
            return;
        }
        let followed = engine.follows(&admitted.tool().name, admitted.arguments());
        let Some((tool, arguments)) = followed else { return };
        let call = ToolCall::new("", tool, arguments.to_string());
        let around = Surroundings {
            caller: around.caller.clone(),
            phase: around.phase,
            requested: Requested::ByModel,
            ..Surroundings::default()
        };
        session.speculate(call, &around, Guess::Pattern);
    }
}

fn key_of(admitted: &Admitted) -> CacheKey {
    CacheKey { tool: admitted.tool().name.clone(), arguments: admitted.digest() }
}
