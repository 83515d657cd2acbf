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

/// A place in a distributed trace: the `traceparent` of W3C Trace Context. The receipt has it, so
/// that both can be found from each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceContext(String);

/// A text is no `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a `traceparent` is four fields in lower-case hexadecimal: version, trace, parent, flags")]
pub struct TraceContextError;

impl TraceContext {
    /// As the header and the member of `_meta` have it:
    /// `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
    ///
    /// # Errors
    /// When the text is none, or names no trace.
    pub fn parse(traceparent: &str) -> Result<Self, TraceContextError> {
        let fields: Vec<&str> = traceparent.split('-').collect();
        let [version, trace, parent, flags] = fields.as_slice() else {
            return Err(TraceContextError);
        };
        let hex = |field: &str, digits: usize| {
            field.len() == digits
                && field.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let named = |field: &str| field.bytes().any(|byte| byte != b'0');
        let whole = hex(version, 2) && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
        match whole && *version != "ff" && named(trace) && named(parent) {
            true => Ok(Self(traceparent.to_owned())),
            false => Err(TraceContextError),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the trace: 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        self.0.split('-').nth(1).unwrap_or_default()
    }
}

impl TryFrom<String> for TraceContext {
    type Error = TraceContextError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<TraceContext> for String {
    fn from(context: TraceContext) -> Self {
        context.0
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_trace_is_one_or_none() {
        let one = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(
            TraceContext::parse(one).unwrap().trace_id(),
            "0af7651916cd43dd8448eb211c80319c"
        );
        for none in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            assert_eq!(TraceContext::parse(none), Err(TraceContextError), "{none}");
        }
    }
}
