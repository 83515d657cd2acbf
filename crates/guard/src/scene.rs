use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::RecentCall;

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
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

/// When in the agent's cycle a call is made. Said by whoever makes it, never inferred.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// While a plan is made, before the model is asked.
    Planner,
    /// The model asked for it.
    #[default]
    Executor,
    /// A check after an execution.
    Verifier,
    /// An internal operation that the agent began itself.
    Autonomous,
}

impl Phase {
    /// The name in receipts and audit.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Verifier => "verifier",
            Self::Autonomous => "autonomous",
        }
    }
}

/// How far the sources of a turn are trusted; ordered, the least first.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TrustLevel {
    /// Content from strangers is in play.
    Untrusted,
    /// Nothing speaks against it.
    #[default]
    Provisional,
    /// Written by the operator.
    Trusted,
}

impl TrustLevel {
    /// The name in receipts and audit.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Provisional => "provisional",
            Self::Trusted => "trusted",
        }
    }
}

/// Who asked for a call. Only a surface can say `ByUser`, for a call that the user typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requested {
    /// The model.
    #[default]
    ByModel,
    /// The user, literally.
    ByUser,
}
