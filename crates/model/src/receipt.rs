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
    /// Denied by a gate; it never ran.
    Denied,
    /// Refused by validation; it never ran.
    Refused,
    /// Abandoned before the end.
    Cancelled,
    /// Took too long.
    Timeout,
    /// Ran, and its effects were rolled back.
    RolledBack,
}

impl Status {
    /// The status that a word in any known receipt dialect means.
    ///
    /// `success/failed`, `success/failure/partial/pending/timeout`, and our own names. Partial
    /// success counts as failure. `None` for an unknown word.
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

    /// The serialised name in receipts.
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

    /// Whether the execution succeeded.
    #[must_use]
    pub fn succeeded(self) -> bool {
        matches!(self, Self::Completed)
    }

    /// Whether the tool started to run.
    #[must_use]
    pub fn ran(self) -> bool {
        !matches!(self, Self::Denied | Self::Refused)
    }
}

/// What permitted an execution, for its receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum PermitBasis {
    /// The gates.
    Policy {
        /// The rules that allowed it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
    },
    /// A person.
    Approval {
        /// The person.
        who: String,
        /// The reason, if they gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The place in the session of the prior approval that this call uses up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uses: Option<u64>,
    },
    /// A host that executes tools itself and asked no gate.
    Host,
    /// A client that executes tools out of our sight and reported this one: weaker than all others.
    Reported,
    /// It was not permitted.
    Nothing,
}

/// A side effect of an execution.
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
    /// What the kernel could not enforce, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_held: Vec<String>,
}

/// A command in the background that an execution started, looked at or stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundRun {
    /// The execution that started it.
    pub started_by: String,
    /// How it had ended by the end of the execution: `open` if it was still running.
    pub status: Status,
}

/// A receipt that was part of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReceipt {
    /// Its id. Ids of other dialects are kept unchanged.
    pub id: String,
    /// The tool or action that ran.
    pub tool: String,
    /// The call it belongs to, if known.
    pub call_id: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Milliseconds since the Unix epoch, if recorded.
    pub started: Option<i64>,
    /// Milliseconds since the Unix epoch, if recorded.
    pub ended: Option<i64>,
    /// The recorded result, if the log has it.
    pub result: Option<Value>,
    /// Whether the model saw the id with the result, even if the recorded result does not have it.
    pub id_shown: bool,
}

impl RecordedReceipt {
    /// The execution id, if it has our format.
    #[must_use]
    pub fn execution_id(&self) -> Option<ExecutionId<'_>> {
        ExecutionId::parse(&self.id)
    }
}
