use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use counterfoil_ledger::{Phase, Requested, TraceContext, TrustLevel};
use counterfoil_model::Digest;

/// The context in which one call is judged and executed. Passed along with the call; never stored
/// in a shared object.
#[derive(Debug, Clone)]
pub struct Scene<'s> {
    /// The session that the call belongs to.
    pub session: &'s str,
    /// The phase of the agent's cycle.
    pub phase: Phase,
    /// The trust of the least trusted source active in this turn.
    pub trust: TrustLevel,
    /// The tool whose untrusted result lowered that trust; `None` if none did.
    pub tainted_by: Option<&'s str>,
    /// The sub-agent that makes the call; `None` for the main agent.
    pub caller: Option<&'s str>,
    /// The model that wrote it, if known.
    pub model: Option<&'s str>,
    /// Who asked for it.
    pub requested: Requested,
    /// The project's root, to which commands and files are confined.
    pub workspace: &'s Path,
    /// Variables passed on by the host, for policies to check and commands to use.
    pub environment: &'s BTreeMap<String, String>,
    /// The number of first attempts in this session before this one.
    pub calls_made: u64,
    /// Tools that have succeeded in this session.
    pub completed: &'s BTreeSet<String>,
    /// Every tool that could be offered in this turn, regardless of dependencies.
    pub tools: &'s BTreeSet<String>,
    /// The tools among them that the user mentioned in this turn.
    pub mentioned: &'s BTreeSet<String>,
    /// Recent calls of this session, newest last. For the utility gate; empty if it is off.
    pub recent: &'s [RecentCall],
    /// Where the content that led to the call came from (`shell`, `file`, `web`, `mcp`, `memory`,
    /// `user`), if known.
    pub claim_source: Option<&'s str>,
    /// The trace that it belongs to, as stated by the caller, for executors that pass it on.
    pub trace: Option<&'s TraceContext>,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

/// A recent call of this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentCall {
    /// Its execution.
    pub execution_id: String,
    /// The tool.
    pub tool: String,
    /// The digest of tool and arguments.
    pub digest: Digest,
    /// The words in its arguments.
    pub words: BTreeSet<String>,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// The length of its result in characters.
    pub result_chars: usize,
    /// Whether something may have changed since.
    pub outdated: bool,
}
