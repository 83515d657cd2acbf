use counterfoil_model::Status;
use counterfoil_tools::{
    CacheKey, CachedResult, ToolOutput, ToolResultCache, is_cacheable, may_write,
};

use super::close::ClosedCall;
use super::execute::Ended;
use crate::admitted::Admitted;
use crate::guard::Guard;
use crate::session::{Session, Surroundings};
use crate::speculation::RanAhead;

/// What the cache of the session has to do with a call.
pub(super) enum Lookup<'s> {
    /// The call may write: whatever is cached is dropped when this is.
    Writes(#[expect(dead_code, reason = "what counts is its end")] Writing<'s>),
    /// It neither writes nor may be cached.
    Nothing,
    /// Its result may be kept.
    Missed { key: CacheKey, generation: u64 },
    /// Its result is there.
    Hit(CachedResult),
    /// It was cancelled before it began: what ran ahead of it was waited for.
    Cancelled,
}

/// Something may be written as long as this lives, also by a call that is given up.
pub(super) struct Writing<'s>(&'s ToolResultCache);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.invalidate();
    }
}

impl Lookup<'_> {
    /// The execution that the result is taken from.
    pub(super) fn cached_from(&self) -> Option<String> {
        match self {
            Self::Hit(result) => Some(result.execution_id.clone()),
            Self::Writes(_) | Self::Nothing | Self::Missed { .. } | Self::Cancelled => None,
        }
    }

    /// The result, as if the tool had given it.
    pub(super) fn ended(&self) -> Option<Ended> {
        let CachedResult { text, structured, .. } = match self {
            Self::Hit(result) => result,
            Self::Cancelled => return Some(Ended::cancelled()),
            Self::Writes(_) | Self::Nothing | Self::Missed { .. } => return None,
        };
        let output = ToolOutput {
            text: text.clone(),
            structured: structured.clone(),
            ..ToolOutput::default()
        };
        Some(Ended { output, status: Status::Completed, category: None, attempts: 0 })
    }
}

impl Guard {
    /// Whether this very call ran ahead, or the session has its result already.
    pub(super) async fn look_up<'s>(
        &self,
        session: &'s Session,
        admitted: &Admitted,
        around: &Surroundings,
    ) -> Lookup<'s> {
        match self.ran_ahead(session, admitted, around.caller.as_deref()).await {
            RanAhead::Result(result) => Lookup::Hit(result),
            RanAhead::Cancelled => Lookup::Cancelled,
            RanAhead::Nothing => self.look_in_cache(session, admitted, around),
        }
    }

    fn look_in_cache<'s>(
        &self,
        session: &'s Session,
        admitted: &Admitted,
        around: &Surroundings,
    ) -> Lookup<'s> {
        let (cache, tool) = (session.cache(), admitted.tool());
        if self.writes(admitted) {
            return Lookup::Writes(Writing(cache));
        }
        // Whoever repeats a call wants it done again.
        if !is_cacheable(tool) || self.runs_commands(&tool.name) || around.retry_of.is_some() {
            return Lookup::Nothing;
        }
        let key = CacheKey { tool: tool.name.clone(), arguments: admitted.digest() };
        let generation = cache.generation();
        match cache.get(&key, self.clock().monotonic()) {
            Some(result) => Lookup::Hit(result),
            None => Lookup::Missed { key, generation },
        }
    }

    /// Keeps the result for the next call like this one.
    pub(super) fn keep(&self, session: &Session, lookup: Lookup<'_>, call: &ClosedCall) {
        let Lookup::Missed { key, generation } = lookup else { return };
        let Some(result) = call.as_result() else { return };
        session.cache().put(key, result, generation, self.clock().monotonic());
    }

    /// Whether the call may change what others read.
    pub(crate) fn writes(&self, admitted: &Admitted) -> bool {
        may_write(admitted.tool()) && !self.command_only_reads(admitted)
    }

    /// A shell command of which every part is known to only read.
    fn command_only_reads(&self, admitted: &Admitted) -> bool {
        let policy = self.settings().shell.load();
        let command = policy.blocklist.command_in(admitted.into()).and_then(Result::ok);
        command.is_some_and(|(command, _)| self.policy().settings.trust.only_reads(&command))
    }
}
