use std::sync::Arc;

use counterfoil_ledger::{Links, Requested, TrustLevel};
use counterfoil_model::{Status, ToolCall};
use counterfoil_redact::take_hidden_out;
use counterfoil_tools::{CacheKey, CachedResult, Scene, is_cacheable};
use futures_util::future::{AbortHandle, Abortable};

use super::engine::{Ahead, Outcome, Running};
use super::{Guess, SpeculationCounts};
use crate::admitted::Admitted;
use crate::executor::ErasedToolExecutor as _;
use crate::gate::{Clearance, Decision, Judged};
use crate::guard::Guard;
use crate::session::{Session, Surroundings};

/// What became of a call that ran ahead of the one that is made now.
pub(crate) enum RanAhead {
    /// None did, or it came to nothing.
    Nothing,
    Result(CachedResult),
    /// Somebody cancelled the call while it was waited for.
    Cancelled,
}

impl Session {
    /// Begins this call before it is known that it is wanted, where nothing speaks against it: its
    /// tool only reads and may run ahead, no stranger is in play, no gate denies or asks, and no
    /// person or model would be asked. Its receipt is marked `speculative` and supports nothing.
    /// [`Session::call`] with the same arguments takes its result, and has its own receipt.
    ///
    /// Returns at once. Does nothing outside a runtime.
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

    /// Ends what still runs ahead for this caller: its turn is over.
    pub fn end_speculation(&self, caller: Option<&str>) {
        let guard = self.guard();
        self.speculation().stop(caller, guard.clock().monotonic());
    }

    /// How calls of this session that ran ahead went.
    #[must_use]
    pub fn speculation_counts(&self) -> SpeculationCounts {
        self.speculation().counts()
    }
}

impl Guard {
    /// The permission, where nobody has to be asked.
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
        // Asked first, so that no approval is used up.
        if !harmless || !matches!(self.gates().judge(admitted, scene), Judged::Allowed { .. }) {
            return None;
        }
        match self.gates().decide(admitted, scene, self.approvals()) {
            Decision::Cleared(cleared) => Some(cleared),
            Decision::Denied(_) | Decision::Asked(_) => None,
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
            self.open(session, admitted, cleared.basis(), links, scene).await.ok()?.ok()?;
        let ended = self.execute(session, &recording, cleared, scene).await;
        let closed = self.record(session, recording, ended, Default::default()).await.ok()?;
        closed.as_result().filter(|_| closed.recorded.closed.status == Status::Completed)
    }

    /// What ran ahead of this call, waited for.
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
        // Whoever cancels the call cancels this.
        let (handle, registration) = AbortHandle::new_pair();
        let waiting = format!("ahead of {}", admitted.call().id);
        session.running().begin_cancellable(&waiting, &admitted.call().id, handle);
        let outcome = Abortable::new(running.outcome(), registration).await;
        session.running().end_cancellable(&waiting);
        let Ok(outcome) = outcome else { return RanAhead::Cancelled };
        // What was written meanwhile may have changed what it read.
        let result = outcome.filter(|_| cache.generation() == generation);
        let Some(result) = result else { return RanAhead::Nothing };
        if is_cacheable(admitted.tool()) {
            cache.put(key, result.clone(), generation, now);
        }
        RanAhead::Result(result)
    }

    /// Takes note of a call that ran, and begins what usually follows it.
    pub(crate) fn guess_next(&self, session: &Session, admitted: &Admitted, around: &Surroundings) {
        let engine = session.speculation();
        if !engine.guesses(Guess::Pattern) {
            return;
        }
        // A guess is made of values that hold their numbers.
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
