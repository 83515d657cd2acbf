use counterfoil_model::{
    BackgroundRun, Confinement, Digest, ExactValue, Origin, PermitBasis, Role, SideEffect, Status,
    ToolErrorCategory,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::circumstances::{Phase, Requested, TraceContext, TrustLevel};

/// One event of the ledger.
///
/// Its digest is over its canonical JSON without `digest`: the members `at`, `draft`, `previous`,
/// `seq`, `session`, `session_seq`, `version`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// The version of the event format, which is also that of its canonical form: 2; 1 in older
    /// ledgers.
    pub version: u32,
    /// Its place in the ledger, from 0, which is also its leaf in the tree.
    pub seq: u64,
    /// The session.
    pub session: String,
    /// Its place in the session, from 1, without gaps.
    pub session_seq: u64,
    /// When it was written: milliseconds since the Unix epoch, by a clock that may jump.
    pub at: i64,
    /// What happened.
    pub draft: Draft,
    /// The digest of the event before it; for the first one, the digest of the ledger's name.
    pub previous: Digest,
    /// SHA-256 of its canonical bytes.
    pub digest: Digest,
}

/// Content to write to the ledger. The ledger adds its version, the sequence numbers, the previous
/// digest and the digest of the whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Draft {
    /// A session began, or continued with other tools.
    Began {
        /// The digest of the agent's tools as JSON, which are in the result store.
        tools: Digest,
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The parent session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
        /// Milliseconds since the Unix epoch.
        at: i64,
    },
    /// The intent of an execution, before any effect.
    Opened(Opened),
    /// How it ended.
    Closed(Closed),
    /// A call that was not executed: refused by admission or denied by a gate.
    Rejected(Rejected),
    /// A message of the session.
    Said(Said),
    /// An answer of the agent was checked against the receipts.
    Judged {
        /// The digest of the (redacted) answer, which is in the result store.
        answer: Digest,
        /// The time used for the judgement, in milliseconds since the Unix epoch.
        at: i64,
        /// The maximum age of executions, in seconds; 0 is the whole session.
        window_secs: u64,
        /// The findings: code, verdict, span, message.
        findings: Value,
    },
    /// The agent was shown something other than the recorded result.
    Shown {
        /// The execution.
        execution_id: String,
        /// Digest of what was shown.
        digest: Digest,
        /// The filters that changed it.
        filters: Vec<String>,
        /// The size of the recorded result in bytes; 0 if unknown.
        #[serde(default, skip_serializing_if = "is_zero")]
        recorded_bytes: u64,
        /// The size in bytes of what the agent saw.
        #[serde(default, skip_serializing_if = "is_zero")]
        shown_bytes: u64,
    },
    /// A person approved a call before it was made.
    Approved(Approved),
    /// A person declined a call: it is not asked about again, and earlier approvals of it are void.
    Declined(Declined),
    /// The session discarded what it had learned: completed tools, repetitions, cached results.
    Cleared,
    /// The session ended.
    Ended,
}

impl Draft {
    /// The name of the kind of event.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Began { .. } => "began",
            Self::Opened(_) => "opened",
            Self::Closed(_) => "closed",
            Self::Rejected(_) => "rejected",
            Self::Said(_) => "said",
            Self::Judged { .. } => "judged",
            Self::Shown { .. } => "shown",
            Self::Approved(_) => APPROVED,
            Self::Declined(_) => DECLINED,
            Self::Cleared => "cleared",
            Self::Ended => "ended",
        }
    }

    /// Whether a kind of event has this name.
    pub(super) fn is_known(name: &str) -> bool {
        KINDS.contains(&name)
    }

    /// The execution id that the event adds to the ledger.
    pub(super) fn opens(&self) -> Option<&str> {
        match self {
            Self::Opened(opened) => Some(&opened.execution_id),
            Self::Rejected(rejected) => Some(&rejected.call.execution_id),
            _ => None,
        }
    }

    /// The id of an earlier execution that the event is about.
    pub(super) fn follows(&self) -> Option<&str> {
        match self {
            Self::Closed(closed) => Some(&closed.execution_id),
            Self::Shown { execution_id, .. } => Some(execution_id),
            _ => None,
        }
    }

    /// The digest of the call that a person decides on.
    pub(super) fn decides(&self) -> Option<Digest> {
        match self {
            Self::Approved(approved) => Some(approved.arguments_digest),
            Self::Declined(declined) => Some(declined.arguments_digest),
            _ => None,
        }
    }

    /// The place in the session of the approval that it uses up.
    pub(super) fn uses(&self) -> Option<u64> {
        match self {
            Self::Opened(Opened { permit: PermitBasis::Approval { uses, .. }, .. }) => *uses,
            _ => None,
        }
    }

    /// The digest of content that must be in the result store.
    pub(super) fn needs(&self) -> Option<Digest> {
        match self {
            Self::Closed(closed) => Some(closed.recorded_digest),
            Self::Said(said) => Some(said.text),
            Self::Judged { answer, .. } => Some(*answer),
            _ => None,
        }
    }

    /// Whether it is a first attempt; quotas count these.
    pub(super) fn is_first_attempt(&self) -> bool {
        matches!(self, Self::Opened(opened) if opened.links.is_first_attempt())
    }
}

/// The intent of an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Its id.
    pub execution_id: String,
    /// The tool that runs.
    pub tool: String,
    /// Where that tool comes from.
    pub origin: Origin,
    /// The name as the model wrote it, if it was repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted_tool: Option<String>,
    /// The model's id of the call; empty if it gave none.
    pub call_id: String,
    /// The sub-agent that called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_id: Option<String>,
    /// The phase of the agent's cycle.
    pub phase: Phase,
    /// Who asked for it.
    pub requested: Requested,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Digest of the argument bytes as the model wrote them.
    pub emitted_digest: Digest,
    /// Digest of `{tool, arguments}` as they run, in the canonical form of the event.
    pub arguments_digest: Digest,
    /// The arguments as they run, redacted.
    #[serde(deserialize_with = "without_text")]
    pub arguments: ExactValue,
    /// What permitted it.
    pub permit: PermitBasis,
    /// How far the turn was trusted.
    pub trust: TrustLevel,
    /// Milliseconds since the Unix epoch.
    pub started_at: i64,
    /// The trace that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// Other executions that it depends on.
    #[serde(default, skip_serializing_if = "Links::is_empty")]
    pub links: Links,
    /// Codes of doubts about the call that did not stop it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The arguments as the model wrote them, redacted, if another model rewrote them into the form
    /// in which they run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted_arguments: Option<String>,
    /// The rules that decided on the call, each after its gate, if `permit` does not name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Whether the model sees the execution id with the result, so that it can cite it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub id_shown: bool,
}

/// Reads arguments without their source text: serde buffers the event to find its kind, which
/// rounds numbers. `body` reads the numbers again when an event is read.
fn without_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ExactValue, D::Error> {
    Value::deserialize(deserializer).map(ExactValue::from)
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// The execution.
    pub execution_id: String,
    /// The status.
    pub status: Status,
    /// Why it failed; set if and only if it did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<ToolErrorCategory>,
    /// The exit code, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the tool cut its output, so that the agent was not given all of it.
    pub truncated: bool,
    /// Whether the recorded result is whole although `truncated` is set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept_whole: bool,
    /// The number of attempts.
    pub attempts: u32,
    /// Milliseconds since the Unix epoch.
    pub ended_at: i64,
    /// The duration in microseconds, by a monotonic clock.
    pub duration_us: u64,
    /// The digest of the result as the tool returned it.
    pub raw_digest: Digest,
    /// The digest of the recorded result (after redaction), which is in the result store.
    pub recorded_digest: Digest,
    /// Its side effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_effects: Vec<SideEffect>,
    /// How it was confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// The command in the background that it started, looked at or stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundRun>,
}

impl Closed {
    /// Whether it only started a command, which was still running in the background.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        let run = self.background.as_ref();
        run.is_some_and(|run| run.started_by == self.execution_id && run.status == Status::Open)
    }

    /// Whether the recorded result is incomplete.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.truncated && !self.kept_whole
    }

    /// The status, in words that follow "the call".
    #[must_use]
    pub fn status_word(&self) -> &'static str {
        match self.status {
            Status::Open => "has not ended",
            Status::Completed if self.goes_on() => "is still running in the background",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Denied => "was denied",
            Status::Refused => "was refused",
            Status::Cancelled => "was given up",
            Status::Timeout => "took too long",
            Status::RolledBack => "was undone",
        }
    }
}

/// A call that was not executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejected {
    /// The call as far as it is known. `permit` has no meaning here.
    pub call: Opened,
    /// `refused` or `denied`.
    pub status: Status,
    /// Why.
    pub category: ToolErrorCategory,
    /// Codes of the issues or reasons, in their order.
    pub codes: Vec<String>,
    /// The answer given to the model, redacted.
    pub answer: String,
}

impl Rejected {
    /// Whether the call was denied only because a person has to approve it first.
    #[must_use]
    pub fn waits_for_approval(&self) -> bool {
        waits(self.status, Some(self.category), &self.codes)
    }

    /// Whether the call was denied only because a person had declined it.
    #[must_use]
    pub fn was_declined(&self) -> bool {
        is_only(self.status, &self.codes, APPROVAL_DECLINED)
    }
}

/// The code of a denial that lasts until a person approves.
pub const APPROVAL_REQUIRED: &str = "approval_required";

/// The code of a denial because a person declined the call.
pub const APPROVAL_DECLINED: &str = "approval_declined";

/// Whether a call was denied only because a person has to approve it first.
pub(super) fn waits(status: Status, category: Option<ToolErrorCategory>, codes: &[String]) -> bool {
    let asks = category == Some(ToolErrorCategory::ConfirmationRequired)
        && !codes.iter().any(|code| code == APPROVAL_DECLINED);
    status == Status::Denied && asks || is_only(status, codes, APPROVAL_REQUIRED)
}

/// Whether a call was denied for this reason only.
pub(super) fn is_only(status: Status, codes: &[String], wanted: &str) -> bool {
    status == Status::Denied && !codes.is_empty() && codes.iter().all(|code| code == wanted)
}

/// A message of the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Who said it.
    pub role: Role,
    /// The sub-agent that sent or received it; `None` for the main agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_id: Option<String>,
    /// The digest of the (redacted) text, which is in the result store.
    pub text: Digest,
    /// Milliseconds since the Unix epoch.
    pub at: i64,
}

/// A person's prior approval of a call: of this tool with these arguments in this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    /// Digest of `{tool, arguments}`.
    pub arguments_digest: Digest,
    /// The tool.
    pub tool: String,
    /// The person.
    pub by: String,
    /// The reason, if they gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many calls it covers.
    pub lasts: Lasts,
    /// When it expires, in milliseconds since the Unix epoch. `None`: when the session ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

impl Approved {
    /// Whether it covers this call at this time, not counting earlier uses.
    pub(super) fn holds_for(&self, digest: Digest, now: i64) -> bool {
        self.arguments_digest == digest && self.until.is_none_or(|until| now < until)
    }
}

/// How many calls an approval covers. A call with other arguments is never covered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasts {
    /// One call.
    #[default]
    Once,
    /// Every identical call of the session.
    Session,
}

/// The name of this kind of event.
pub(super) const APPROVED: &str = "approved";

/// The names of all kinds.
const KINDS: [&str; 11] = [
    "began", "opened", "closed", "rejected", "said", "judged", "shown", APPROVED, DECLINED,
    "cleared", "ended",
];

/// A person declined a call: this tool with these arguments in this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declined {
    /// Digest of `{tool, arguments}`.
    pub arguments_digest: Digest,
    /// The tool.
    pub tool: String,
    /// The person.
    pub by: String,
    /// The reason, if they gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The name of this kind of event.
pub(super) const DECLINED: &str = "declined";

/// Other executions that an execution depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// The execution whose result was reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_from: Option<String>,
    /// The failed execution that this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<String>,
    /// The execution that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback_of: Option<String>,
    /// Whether it ran before it was known to be wanted. It supports no claim: the call that took
    /// its result has a receipt of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub speculative: bool,
}

impl Links {
    /// Whether a quota counts the call: it is neither a retry nor speculative.
    pub(super) fn is_first_attempt(&self) -> bool {
        self.retry_of.is_none() && !self.speculative
    }

    /// Whether it depends on no other execution.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
