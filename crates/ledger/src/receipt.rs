use counterfoil_model::{
    BackgroundRun, Confinement, Digest, ExactValue, Origin, PermitBasis, SideEffect, Status,
    ToolErrorCategory,
};
use serde::{Deserialize, Serialize};

use super::event::{APPROVAL_DECLINED, Draft, Event, Links, Opened, is_only, waits};
use crate::circumstances::{Phase, Requested, TraceContext, TrustLevel};

/// A record of an execution that the model cannot write: the sum of its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The version of its first event.
    pub version: u32,
    /// Its id.
    pub execution_id: String,
    /// The session.
    pub session_id: String,
    /// The place in the session of the event that opened it, from 1.
    pub seq: u64,
    /// The tool.
    pub tool: String,
    /// Where that tool comes from.
    pub origin: Origin,
    /// The name as the model wrote it, if it was repaired.
    pub emitted_tool: Option<String>,
    /// The model's id of the call; empty if it gave none.
    pub call_id: String,
    /// The sub-agent that called.
    pub caller_id: Option<String>,
    /// The phase of the agent's cycle.
    pub phase: Phase,
    /// Who asked for it.
    pub requested: Requested,
    /// The model.
    pub model: Option<String>,
    /// Digest of the argument bytes as the model wrote them.
    pub emitted_digest: Digest,
    /// Digest of `{tool, arguments}` as they ran.
    pub arguments_digest: Digest,
    /// The arguments, redacted.
    pub arguments: ExactValue,
    /// What permitted it; `None` if it was refused or denied.
    pub permit: Option<PermitBasis>,
    /// How far the turn was trusted.
    pub trust: TrustLevel,
    /// Milliseconds since the Unix epoch.
    pub started_at: i64,
    /// Milliseconds since the Unix epoch; `None` while it is open.
    pub ended_at: Option<i64>,
    /// The duration in microseconds, by a monotonic clock; `None` while it is open.
    pub duration_us: Option<u64>,
    /// How it ended.
    pub status: Status,
    /// Why it failed.
    pub category: Option<ToolErrorCategory>,
    /// Codes of doubts about the call that did not stop it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The arguments as the model wrote them, redacted, if another model rewrote them into the form
    /// in which they ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emitted_arguments: Option<String>,
    /// Codes of the issues or reasons why it was refused or denied.
    pub codes: Vec<String>,
    /// The answer given to the model when it was refused or denied, redacted.
    pub answer: Option<String>,
    /// The exit code, if there is one.
    pub exit_code: Option<i32>,
    /// Whether the tool cut its output, so that the agent was not given all of it.
    pub truncated: bool,
    /// Whether the recorded result is whole although `truncated` is set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept_whole: bool,
    /// The number of attempts.
    pub attempts: u32,
    /// The digest of the result as the tool returned it.
    pub raw_digest: Option<Digest>,
    /// The digest of the recorded result, which is its key in the result store.
    pub recorded_digest: Option<Digest>,
    /// The digest of what the agent saw, if it differs from what was recorded.
    pub shown_digest: Option<Digest>,
    /// The filters that changed what the agent saw.
    pub filters: Vec<String>,
    /// Its side effects.
    pub side_effects: Vec<SideEffect>,
    /// How it was confined.
    pub confinement: Option<Confinement>,
    /// The command in the background that it started, looked at or stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundRun>,
    /// The trace that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// Other executions that it depends on.
    pub links: Links,
    /// The digest of the event before its first one.
    pub previous: Digest,
    /// The digest of its last event.
    pub digest: Digest,
}

impl Receipt {
    /// Sums the events of one execution, beginning with its opening. `None` if the opening is
    /// missing.
    #[must_use]
    pub fn from_events(events: &[Event]) -> Option<Self> {
        let (first, later) = events.split_first()?;
        let mut receipt = match &first.draft {
            Draft::Opened(opened) => Self {
                permit: Some(opened.permit.clone()),
                ..Self::begun(first, opened, Status::Open)
            },
            Draft::Rejected(rejected) => Self {
                ended_at: Some(rejected.call.started_at),
                duration_us: Some(0),
                category: Some(rejected.category),
                codes: rejected.codes.clone(),
                answer: Some(rejected.answer.clone()),
                ..Self::begun(first, &rejected.call, rejected.status)
            },
            _ => return None,
        };
        later.iter().for_each(|event| receipt.add(event));
        Some(receipt)
    }

    /// Whether the call was denied only because a person has to approve it first.
    #[must_use]
    pub fn waits_for_approval(&self) -> bool {
        waits(self.status, self.category, &self.codes)
    }

    /// Whether it was denied only because a person had declined it.
    #[must_use]
    pub fn was_declined(&self) -> bool {
        is_only(self.status, &self.codes, APPROVAL_DECLINED)
    }

    /// The reason why the call did not run, taken from the answer to its agent.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        let answer = self.answer.as_deref()?;
        let line = |mark: &str| answer.lines().find_map(|line| line.strip_prefix(mark));
        Some(line("message: ").or_else(|| line("- ")).unwrap_or(answer))
    }

    fn begun(event: &Event, call: &Opened, status: Status) -> Self {
        let call = call.clone();
        Self {
            version: event.version,
            execution_id: call.execution_id,
            session_id: event.session.clone(),
            seq: event.session_seq,
            tool: call.tool,
            origin: call.origin,
            emitted_tool: call.emitted_tool,
            call_id: call.call_id,
            caller_id: call.caller_id,
            phase: call.phase,
            requested: call.requested,
            model: call.model,
            emitted_digest: call.emitted_digest,
            arguments_digest: call.arguments_digest,
            arguments: call.arguments,
            permit: None,
            trust: call.trust,
            started_at: call.started_at,
            ended_at: None,
            duration_us: None,
            status,
            category: None,
            warnings: call.warnings,
            emitted_arguments: call.emitted_arguments,
            codes: Vec::new(),
            answer: None,
            exit_code: None,
            truncated: false,
            kept_whole: false,
            attempts: 0,
            raw_digest: None,
            recorded_digest: None,
            shown_digest: None,
            filters: Vec::new(),
            side_effects: Vec::new(),
            confinement: None,
            background: None,
            trace: call.trace,
            links: call.links,
            previous: event.previous,
            digest: event.digest,
        }
    }

    fn add(&mut self, event: &Event) {
        self.digest = event.digest;
        match event.draft.clone() {
            Draft::Closed(closed) => {
                self.status = closed.status;
                self.category = closed.category;
                self.exit_code = closed.exit_code;
                self.truncated = closed.truncated;
                self.kept_whole = closed.kept_whole;
                self.attempts = closed.attempts;
                self.ended_at = Some(closed.ended_at);
                self.duration_us = Some(closed.duration_us);
                self.raw_digest = Some(closed.raw_digest);
                self.recorded_digest = Some(closed.recorded_digest);
                self.side_effects = closed.side_effects;
                self.confinement = closed.confinement;
                self.background = closed.background;
            }
            Draft::Shown { digest, filters, .. } => {
                self.shown_digest = Some(digest);
                self.filters = filters;
            }
            Draft::Began { .. }
            | Draft::Opened(_)
            | Draft::Rejected(_)
            | Draft::Said(_)
            | Draft::Judged { .. }
            | Draft::Approved(_)
            | Draft::Declined(_)
            | Draft::Cleared
            | Draft::Ended => {}
        }
    }
}
