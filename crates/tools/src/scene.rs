use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use counterfoil_ledger::{Phase, Requested, TraceContext, TrustLevel};
use counterfoil_model::Digest;

/// The surroundings in which one call is judged and executed. Travels with the call: nothing of
/// it is ever set on a shared object.
#[derive(Debug, Clone)]
pub struct Scene<'s> {
    /// The session that the call belongs to.
    pub session: &'s str,
    /// When in the agent's cycle the call is made.
    pub phase: Phase,
    /// The least trusted source that is active in this turn.
    pub trust: TrustLevel,
    /// The tool whose result, from strangers, lowered that trust; `None` where none did.
    pub tainted_by: Option<&'s str>,
    /// The sub-agent that makes the call; `None` for the main one.
    pub caller: Option<&'s str>,
    /// The model that wrote it, where known.
    pub model: Option<&'s str>,
    /// Who asked for it.
    pub requested: Requested,
    /// The project's root: what commands and files are confined to.
    pub workspace: &'s Path,
    /// Variables that the host passes on: what policies may look at, and commands may see.
    pub environment: &'s BTreeMap<String, String>,
    /// First attempts that this session made before this one.
    pub calls_made: u64,
    /// Tools that completed successfully in this session.
    pub completed: &'s BTreeSet<String>,
    /// Every tool that could be offered in this turn, whatever it depends on.
    pub tools: &'s BTreeSet<String>,
    /// Those of them that the user named in this turn.
    pub mentioned: &'s BTreeSet<String>,
    /// Calls that ran in this session of late, the newest last: kept for the utility gate, and
    /// empty where that is off.
    pub recent: &'s [RecentCall],
    /// Where the content that led to the call came from (`shell`, `file`, `web`, `mcp`, `memory`,
    /// `user`), where it could be found.
    pub claim_source: Option<&'s str>,
    /// The trace that it belongs to, as whoever makes it said: for executors that pass it on.
    pub trace: Option<&'s TraceContext>,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

/// A call that ran in this session of late.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentCall {
    /// Its execution.
    pub execution_id: String,
    /// The tool.
    pub tool: String,
    /// Digest of tool and arguments.
    pub digest: Digest,
    /// The words in its arguments.
    pub words: BTreeSet<String>,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// How long its result was, in characters.
    pub result_chars: usize,
    /// Something may have changed since.
    pub outdated: bool,
}
