use counterfoil_model::{
    Confinement, Digest, ExactValue, Origin, PermitBasis, Role, SideEffect, Status,
    ToolErrorCategory,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::circumstances::{Phase, Requested, TraceContext, TrustLevel};

/// One event as it stands in the ledger.
///
/// What is hashed is its canonical JSON without `digest`: the members `at`, `draft`, `previous`,
/// `seq`, `session`, `session_seq`, `version`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// Of the form of events, which is the canonical form that they are in: 2; 1 in older ledgers.
    pub version: u32,
    /// Its place in the ledger, from 0: also its leaf in the tree.
    pub seq: u64,
    /// The session.
    pub session: String,
    /// Its place in the session, from 1, without gaps.
    pub session_seq: u64,
    /// When it was written: milliseconds since the Unix epoch, by a clock that may jump.
    pub at: i64,
    /// What happened.
    pub draft: Draft,
    /// Digest of the event before it; of the ledger's name for the first one.
    pub previous: Digest,
    /// SHA-256 of its canonical bytes.
    pub digest: Digest,
}

/// What is to be written into the ledger. The ledger adds its version, the session's sequence
/// number, the previous digest and the digest of the whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Draft {
    /// A session began, or went on with other tools.
    Began {
        /// Digest of the tools the agent has, as JSON; it stands in the result store.
        tools: Digest,
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The session that it is a part of.
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
    /// Something said in the session.
    Said(Said),
    /// An answer of the agent was held against the receipts.
    Judged {
        /// Digest of the answer's (redacted) text, which stands in the result store.
        answer: Digest,
        /// Milliseconds since the Unix epoch, as used for the judgement.
        at: i64,
        /// How old an execution might be, in seconds; 0 is the whole session.
        window_secs: u64,
        /// What was found: code, verdict, span, message.
        findings: Value,
    },
    /// What the agent saw of a result differs from what was recorded.
    Shown {
        /// The execution.
        execution_id: String,
        /// Digest of what was shown.
        digest: Digest,
        /// The filters that changed it.
        filters: Vec<String>,
        /// Bytes of the recorded result; 0 where nobody counted.
        #[serde(default, skip_serializing_if = "is_zero")]
        recorded_bytes: u64,
        /// Bytes of what the agent saw.
        #[serde(default, skip_serializing_if = "is_zero")]
        shown_bytes: u64,
    },
    /// A person agreed to a call ahead of it.
    Approved(Approved),
    /// A person said no to a call: it is not asked about again, and what they agreed to before
    /// holds no longer.
    Declined(Declined),
    /// The session forgot what it had learned: completed tools, repetitions, cached results.
    Cleared,
    /// The session ended.
    Ended,
}

impl Draft {
    /// The name of what happened.
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

    /// Whether there is a kind of this name.
    pub(super) fn is_known(name: &str) -> bool {
        KINDS.contains(&name)
    }

    /// The execution id that it brings into the ledger.
    pub(super) fn opens(&self) -> Option<&str> {
        match self {
            Self::Opened(opened) => Some(&opened.execution_id),
            Self::Rejected(rejected) => Some(&rejected.call.execution_id),
            _ => None,
        }
    }

    /// The execution that it says more about.
    pub(super) fn follows(&self) -> Option<&str> {
        match self {
            Self::Closed(closed) => Some(&closed.execution_id),
            Self::Shown { execution_id, .. } => Some(execution_id),
            _ => None,
        }
    }

    /// The call on which a person decides in it.
    pub(super) fn decides(&self) -> Option<Digest> {
        match self {
            Self::Approved(approved) => Some(approved.arguments_digest),
            Self::Declined(declined) => Some(declined.arguments_digest),
            _ => None,
        }
    }

    /// The approval of its session that it uses up.
    pub(super) fn uses(&self) -> Option<u64> {
        match self {
            Self::Opened(Opened { permit: PermitBasis::Approval { uses, .. }, .. }) => *uses,
            _ => None,
        }
    }

    /// What must stand in the result store beside it.
    pub(super) fn needs(&self) -> Option<Digest> {
        match self {
            Self::Closed(closed) => Some(closed.recorded_digest),
            Self::Said(said) => Some(said.text),
            Self::Judged { answer, .. } => Some(*answer),
            _ => None,
        }
    }

    /// Whether it is a first attempt: what quotas count.
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
    /// The name as the model wrote it, where it was repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted_tool: Option<String>,
    /// The model's id of the call; empty when it gave none.
    pub call_id: String,
    /// The sub-agent that called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_id: Option<String>,
    /// When in the agent's cycle.
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
    /// Other executions that it stands on.
    #[serde(default, skip_serializing_if = "Links::is_empty")]
    pub links: Links,
    /// Codes of what was doubtful about it, and did not keep it from running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The arguments as the model wrote them, redacted, where another model gave them the form in
    /// which they run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted_arguments: Option<String>,
}

/// Arguments of which serde kept no text, because it looked for the kind of the event first: where an
/// event is read, `body` reads the numbers again.
fn without_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ExactValue, D::Error> {
    Value::deserialize(deserializer).map(ExactValue::from)
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// The execution.
    pub execution_id: String,
    /// How.
    pub status: Status,
    /// Why it failed; set exactly when it did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<ToolErrorCategory>,
    /// The exit code, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The tool cut its output: what the agent was given is not all of it.
    pub truncated: bool,
    /// The recorded result is whole where `truncated` says that the output was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept_whole: bool,
    /// How many attempts were made.
    pub attempts: u32,
    /// Milliseconds since the Unix epoch.
    pub ended_at: i64,
    /// How long it took, in microseconds, by a clock that never goes back.
    pub duration_us: u64,
    /// Digest of the result as the tool gave it.
    pub raw_digest: Digest,
    /// Digest of the recorded result (after redaction), which stands in the result store.
    pub recorded_digest: Digest,
    /// What it did to the world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_effects: Vec<SideEffect>,
    /// How it was confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
}

impl Closed {
    /// Whether the recorded result is not all that there was.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.truncated && !self.kept_whole
    }

    /// How it ended, in words that follow "the call".
    #[must_use]
    pub fn status_word(&self) -> &'static str {
        match self.status {
            Status::Open => "has not ended",
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
    /// The call, with what is known about it. `permit` says nothing here.
    pub call: Opened,
    /// `refused` or `denied`.
    pub status: Status,
    /// Why.
    pub category: ToolErrorCategory,
    /// Codes of the issues or reasons, in their order.
    pub codes: Vec<String>,
    /// What the model was told; redacted.
    pub answer: String,
}

impl Rejected {
    /// Whether the call was denied only because a person has to agree to it first.
    #[must_use]
    pub fn waits_for_approval(&self) -> bool {
        waits(self.status, Some(self.category), &self.codes)
    }

    /// Whether it was denied only because a person said no to it before.
    #[must_use]
    pub fn was_declined(&self) -> bool {
        is_only(self.status, &self.codes, APPROVAL_DECLINED)
    }
}

/// The code of a denial that lasts until a person agrees.
pub const APPROVAL_REQUIRED: &str = "approval_required";

/// The code of a denial because a person said no.
pub const APPROVAL_DECLINED: &str = "approval_declined";

/// Whether a call was denied only because a person has to agree to it first.
pub(super) fn waits(status: Status, category: Option<ToolErrorCategory>, codes: &[String]) -> bool {
    let asks = category == Some(ToolErrorCategory::ConfirmationRequired)
        && !codes.iter().any(|code| code == APPROVAL_DECLINED);
    status == Status::Denied && asks || is_only(status, codes, APPROVAL_REQUIRED)
}

/// Whether a call was denied for this and nothing else.
pub(super) fn is_only(status: Status, codes: &[String], wanted: &str) -> bool {
    status == Status::Denied && !codes.is_empty() && codes.iter().all(|code| code == wanted)
}

/// Something said in the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// By whom.
    pub role: Role,
    /// The sub-agent that said it, or to which it was said; `None` for the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_id: Option<String>,
    /// Digest of the (redacted) text, which stands in the result store.
    pub text: Digest,
    /// Milliseconds since the Unix epoch.
    pub at: i64,
}

/// A person agreed to a call ahead of it: to this tool with these arguments in this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    /// Digest of `{tool, arguments}`.
    pub arguments_digest: Digest,
    /// The tool.
    pub tool: String,
    /// Who.
    pub by: String,
    /// Why, where they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For how many calls.
    pub lasts: Lasts,
    /// Until when: milliseconds since the Unix epoch. `None`: as long as the session goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

impl Approved {
    /// Whether it holds for this call at this time.
    pub(super) fn holds_for(&self, digest: Digest, now: i64) -> bool {
        self.arguments_digest == digest && self.until.is_none_or(|until| now < until)
    }
}

/// For how many calls an approval holds. Other arguments are another call, whatever it says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasts {
    /// One.
    #[default]
    Once,
    /// All of the session that are the same.
    Session,
}

/// The name of an event that says so.
pub(super) const APPROVED: &str = "approved";

/// The names of all kinds.
const KINDS: [&str; 11] = [
    "began", "opened", "closed", "rejected", "said", "judged", "shown", APPROVED, DECLINED,
    "cleared", "ended",
];

/// A person said no to a call: to this tool with these arguments in this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declined {
    /// Digest of `{tool, arguments}`.
    pub arguments_digest: Digest,
    /// The tool.
    pub tool: String,
    /// Who.
    pub by: String,
    /// Why, where they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The name of an event that says so.
pub(super) const DECLINED: &str = "declined";

/// Other executions that one stands on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// The result was taken from this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_from: Option<String>,
    /// The same call again, after this one failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<String>,
    /// It undoes this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback_of: Option<String>,
    /// It ran before it was known to be wanted. It supports nothing: the call that took its result
    /// has its own receipt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub speculative: bool,
}

impl Links {
    /// Whether a quota counts the call: it is made, and not made again.
    pub(super) fn is_first_attempt(&self) -> bool {
        self.retry_of.is_none() && !self.speculative
    }

    /// Whether it stands on nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
