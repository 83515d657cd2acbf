use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::execution_id::ExecutionId;

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Recorded before the effect; not closed yet.
    Open,
    /// Ended and succeeded.
    Completed,
    /// Ended and failed.
    Failed,
    /// A gate said no: it never ran.
    Denied,
    /// Validation said no: it never ran.
    Refused,
    /// Given up before the end.
    Cancelled,
    /// Took too long.
    Timeout,
    /// Ran, and its effects were undone.
    RolledBack,
}

impl Status {
    /// The status behind a word of any known receipt dialect.
    ///
    /// `success/failed`, `success/failure/partial/pending/timeout`, and our own names. A partial
    /// success is not a success. `None` for a word of no dialect.
    #[must_use]
    pub fn from_dialect(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        Some(match word.as_str() {
            "success" | "succeeded" | "successful" | "completed" | "complete" | "ok" | "done"
            | "passed" => Self::Completed,
            "failed" | "failure" | "fail" | "error" | "errored" | "partial" | "missing"
            | "skipped" | "incomplete" => Self::Failed,
            "open" | "pending" | "running" | "in_progress" | "started" | "queued" | "scheduled"
            | "executing" | "blocked_on_user" => Self::Open,
            "denied" | "blocked" | "rejected" | "declined" | "rejected_by_user" => Self::Denied,
            "refused" | "invalid" => Self::Refused,
            "cancelled" | "canceled" | "aborted" | "interrupted" => Self::Cancelled,
            "timeout" | "timed_out" | "timedout" => Self::Timeout,
            "rolled_back" | "rollback" => Self::RolledBack,
            _ => return None,
        })
    }

    /// The name in receipts, as it is serialised.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
            Self::RolledBack => "rolled_back",
        }
    }

    /// Whether the execution did what it was asked.
    #[must_use]
    pub fn succeeded(self) -> bool {
        matches!(self, Self::Completed)
    }

    /// Whether the tool began to run at all.
    #[must_use]
    pub fn ran(self) -> bool {
        !matches!(self, Self::Denied | Self::Refused)
    }
}

/// What permitted an execution, as its receipt has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum PermitBasis {
    /// The gates; the rules that matched.
    Policy {
        /// Rules that allowed it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
    },
    /// A person.
    Approval {
        /// Who.
        who: String,
        /// Why, where they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The place in the session of the approval that was given ahead and is used up by this
        /// call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uses: Option<u64>,
    },
    /// A host that executes tools itself: nobody here was asked.
    Host,
    /// A client told of it, which executes tools out of our sight: weaker than all others.
    Reported,
    /// It was not permitted.
    Nothing,
}

/// Something that an execution did to the world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideEffect {
    /// Wrote, created or deleted this path.
    Wrote(PathBuf),
    /// Reached this host.
    Reached(String),
}

/// How an execution was confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The profile: `read-only`, `workspace`, `network`, `off`.
    pub profile: String,
    /// What the kernel could not hold to, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_held: Vec<String>,
}

/// A receipt as it came with a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReceipt {
    /// Its id. Ids of other dialects are kept as they are.
    pub id: String,
    /// The tool or action that ran.
    pub tool: String,
    /// The call it belongs to, where known.
    pub call_id: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Milliseconds since the Unix epoch, where recorded.
    pub started: Option<i64>,
    /// Milliseconds since the Unix epoch, where recorded.
    pub ended: Option<i64>,
    /// The recorded result, where the log carries it.
    pub result: Option<Value>,
}

impl RecordedReceipt {
    /// The execution id, when it is one of ours.
    #[must_use]
    pub fn execution_id(&self) -> Option<ExecutionId<'_>> {
        ExecutionId::parse(&self.id)
    }
}
