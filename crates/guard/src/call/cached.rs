use counterfoil_model::{Status, Tool};
use counterfoil_tools::{
    CacheKey, CachedResult, ToolOutput, ToolResultCache, is_cacheable, may_write,
};
use serde_json::Value;

use super::close::ClosedCall;
use super::execute::Ended;
use crate::admitted::Admitted;
use crate::guard::Guard;
use crate::session::{Session, Surroundings};
use crate::speculation::RanAhead;

/// How the session's result cache applies to a call.
pub(super) enum Lookup<'s> {
    /// The call may write: all cached results are dropped when this value is dropped.
    Writes(#[expect(dead_code, reason = "what counts is its end")] Writing<'s>),
    /// The call neither writes nor can be cached.
    Nothing,
    /// The result of the call may be cached.
    Missed { key: CacheKey, generation: u64 },
    /// The result was found in the cache.
    Hit(CachedResult),
    /// The call was cancelled while it waited for its speculative execution.
    Cancelled,
}

/// Something may be written while this value lives, even by a call that is given up.
pub(super) struct Writing<'s>(&'s ToolResultCache);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.invalidate();
    }
}

impl Lookup<'_> {
    /// The execution that produced the cached result.
    pub(super) fn cached_from(&self) -> Option<String> {
        match self {
            Self::Hit(result) => Some(result.execution_id.clone()),
            Self::Writes(_) | Self::Nothing | Self::Missed { .. } | Self::Cancelled => None,
        }
    }

    /// The cached result, as if the tool had returned it.
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
    /// Looks for the result of this call: from a speculative execution of the same call, else in
    /// the session's cache.
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
        // A retry is meant to run again.
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

    /// Caches the result for the next identical call.
    pub(super) fn keep(&self, session: &Session, lookup: Lookup<'_>, call: &ClosedCall) {
        let Lookup::Missed { key, generation } = lookup else { return };
        let Some(result) = call.as_result() else { return };
        session.cache().put(key, result, generation, self.clock().monotonic());
    }

    /// Whether the call may change what other calls read.
    pub(crate) fn writes(&self, admitted: &Admitted) -> bool {
        self.writes_with(admitted.tool(), admitted.arguments())
    }

    /// Whether a call of this tool with these arguments may change what other calls read.
    pub(crate) fn writes_with(&self, tool: &Tool, arguments: &Value) -> bool {
        may_write(tool) && !self.command_only_reads(&tool.name, arguments)
    }

    /// Whether this is a shell command whose parts are all known to only read.
    fn command_only_reads(&self, tool: &str, arguments: &Value) -> bool {
        let policy = self.settings().shell.load();
        let command = policy.blocklist.command_at(tool, arguments);
        command.is_some_and(|command| self.policy().settings.trust.only_reads(&command))
    }
}
